// Compares the budgets of keys and of their account, over every span, with a model: random calls at
// random times over the ends of spans, each quoted before, and rebuilds of Redis in between. Then
// shows that the comparison finds faults which are put into the scripts.

import { test } from "bun:test";
import fc from "fast-check";
import { SCRIPT_LIBRARY, type ScriptLibrary } from "../../../actors/scripts/script-library.ts";
import type { StandingSpan } from "../../../src/core/access/budgets.ts";
import { DAY_MS, HOUR_MS } from "../../../src/core/durations.ts";
import { ofCents, toDecimal } from "../../../src/core/money/money.ts";
import { TestClock } from "../../support/product/actor-process.ts";
import { shared } from "../../support/shared.ts";
import { createTestKey } from "../../support/stores/accounts.ts";
import { ask, openAccount, openWorld } from "../../support/stores/world.ts";
import {
  admitQuoted,
  compare,
  endAt,
  type Mutant,
  type OpenCall,
  playLists,
  testMutants,
} from "./compared.ts";

const RUNS = Number(process.env.MODEL_RUNS ?? 12);
const SEED = Number(process.env.MODEL_SEED ?? 20_310_328);
/** Its lists of commands meet every fault below; not every list crosses the end of a week. */
const SEED_OF_FAULTS = 20_310_328;
const COMMANDS = 70;
/** A Friday: weeks end on the Monday after, and months a day later. */
const BEGIN = "2031-03-28T12:00:00.000Z";
/** Monday, 5 January 1970. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

const KEYS = ["a", "b"] as const;
type KeyName = (typeof KEYS)[number];
type Owner = KeyName | "account";

/** In cents. */
const CAPS: Readonly<Record<Owner, Readonly<Partial<Record<StandingSpan, number>>>>> = {
  a: { "5h": 260, day: 420 },
  b: { week: 800, total: 900 },
  account: { week: 1_300, total: 1_600 },
};

type Command =
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "call"; readonly cents: number; readonly key: KeyName }
  | { readonly kind: "end"; readonly which: number; readonly quarters: number }
  | { readonly kind: "rebuild" };

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      ms: fc.integer({ min: 0, max: 30 * HOUR_MS }),
    }),
  },
  {
    weight: 9,
    arbitrary: fc.record({
      kind: fc.constant("call" as const),
      cents: fc.integer({ min: 1, max: 200 }),
      key: fc.constantFrom(...KEYS),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("end" as const),
      which: fc.nat(9),
      quarters: fc.integer({ min: 0, max: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "rebuild" as const }) },
);

interface Counted {
  /** The hold, or the charge, in cents. */
  cents: number;
  readonly key: KeyName;
  /** The span of each kind that the call belongs to, by a number of its own. */
  readonly spans: Readonly<Record<StandingSpan, number>>;
}

/** Keeps every call, without sums, so that no sum can be wrong. */
class Model {
  readonly #calls: Counted[] = [];
  /** When the five hours of the first key began: the only budget of such a span. */
  #fiveHours = Number.NEGATIVE_INFINITY;

  /** The code of a refusal, or the admitted call. */
  admit(nowMs: number, { cents, key }: { readonly cents: number; readonly key: KeyName }) {
    const goesOn = nowMs < this.#fiveHours + 5 * HOUR_MS;
    const spans = {
      "5h": goesOn ? this.#fiveHours : nowMs,
      day: Math.floor(nowMs / DAY_MS),
      week: Math.floor((nowMs - FIRST_MONDAY_MS) / (7 * DAY_MS)),
      total: 0,
    };
    for (const owner of [key, "account"] as const) {
      for (const [span, cap] of Object.entries(CAPS[owner]) as [StandingSpan, number][]) {
        const sum = this.#calls
          .filter((call) => owner === "account" || call.key === owner)
          .filter((call) => call.spans[span] === spans[span])
          .reduce((total, call) => total + call.cents, cents);
        if (sum <= cap) continue;
        return owner === "account" ? "account_budget_exceeded" : "key_budget_exceeded";
      }
    }
    if (key === "a") this.#fiveHours = spans["5h"];
    const counted: Counted = { cents, key, spans };
    this.#calls.push(counted);
    return counted;
  }

  /** Five hours in which nothing was charged are not known to Postgres. */
  rebuilt(): void {
    const isKnown = this.#calls.some(
      ({ key, spans, cents }) => key === "a" && spans["5h"] === this.#fiveHours && cents > 0,
    );
    if (!isKnown) this.#fiveHours = Number.NEGATIVE_INFINITY;
  }
}

const clock = new TestClock(BEGIN);
const world = await shared(openWorld(clock.options));

/** The budgets of an owner, in USD. */
function budgetsOf(owner: Owner): Readonly<Partial<Record<StandingSpan, string>>> {
  const entries = Object.entries(CAPS[owner]);
  return Object.fromEntries(entries.map(([span, cents]) => [span, toDecimal(ofCents(cents))]));
}

async function play(commands: readonly Command[], library: ScriptLibrary): Promise<void> {
  clock.set(BEGIN);
  const { row, keyId } = await openAccount(world, {
    createdAt: clock.daysAgo(100),
    contract: "enterprise",
    paid: "5000",
    budgets: budgetsOf("account"),
    keyBudgets: budgetsOf("a"),
  });
  const second = await createTestKey(world.store, row, { keyBudgets: budgetsOf("b") });
  const ids = { a: keyId, b: second.id };
  const accounts = world.process({ library });
  const actor = accounts.of(row.id, row.bucket);
  const model = new Model();
  let open: OpenCall[] = [];
  for (const step of commands) {
    if (step.kind === "wait") clock.ms += step.ms;
    if (step.kind === "call") {
      const answer = await admitQuoted(actor, ask(ids[step.key], ofCents(step.cents)));
      const counted = model.admit(clock.ms, step);
      compare(answer, typeof counted === "string" ? counted : "admitted");
      if (answer.verdict === "admitted" && typeof counted !== "string") {
        open.push({ hold: answer.hold, counted });
      }
    }
    if (step.kind === "end" && open.length > 0) {
      const [ended] = open.splice(step.which % open.length, 1);
      if (ended !== undefined) await endAt(ended, step.quarters);
    }
    if (step.kind === "rebuild") {
      for (const one of open) await endAt(one, 4);
      open = [];
      await world.flush();
      await accounts.rebuild([{ bucket: row.bucket }]);
      model.rebuilt();
    }
  }
  for (const one of open) await endAt(one, 0);
}

async function playAll(library: ScriptLibrary, seed = SEED_OF_FAULTS): Promise<void> {
  const lists = { command, length: COMMANDS, runs: RUNS, seed };
  await playLists(lists, (commands) => play(commands, library));
}

test("budgets of keys and accounts admit the model's calls, also after a rebuild", async () => {
  await playAll(SCRIPT_LIBRARY, SEED);
});

const MUTANTS: readonly Mutant[] = [
  {
    breaks: "a week begins on Monday",
    good: "local since = span == WEEK and FIRST_MONDAY_MS or 0",
    bad: "local since = 0",
  },
  {
    breaks: "a week goes on over midnight",
    good: "local SPAN_MS = { 18000000, 86400000, 604800000 }",
    bad: "local SPAN_MS = { 18000000, 86400000, 86400000 }",
  },
  {
    breaks: "a budget of all time never begins again",
    good: "if span == TOTAL then return 0 end",
    bad: "if span == TOTAL then return now - now % 86400000 end",
  },
  {
    breaks: "a budget of a key counts a hold once",
    good: "named.record.held = named.record.held + bound",
    bad: "named.record.held = named.record.held + bound * (named.owner == 1 and 2 or 1)",
  },
  {
    breaks: "a rebuilt budget has its spending",
    good: "    amount(b.spent)\n    amount(b.previous_spent)\n",
    bad: "    b.spent = 0\n    amount(b.previous_spent)\n",
  },
];

testMutants(MUTANTS, playAll);
