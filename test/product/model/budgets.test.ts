// Compares budgets of spans, of runs and of end users with a model: random calls at random times,
// over the ends of spans, that are settled in part, in whole or not at all, and a run that is
// paused and resumed. Each call is quoted before. Then shows that the comparison finds faults which
// are put into the scripts.

import { expect, test } from "bun:test";
import fc from "fast-check";
import type { AccountActorsDeps } from "../../../actors/account-actors.ts";
import { changeOwnRun } from "../../../src/accounts/runs.ts";
import { EndUser } from "../../../src/core/access/end-users.ts";
import { DAY_MS, HOUR_MS } from "../../../src/core/durations.ts";
import { ofCents } from "../../../src/core/money/money.ts";
import { monthText } from "../../../src/core/money/months.ts";
import { setEndUserBudget } from "../../../src/store/accounts/end-user-budgets.ts";
import type { EndUserCount } from "../../../src/store/accounts/end-users.ts";
import { WalletRepository } from "../../../src/store/accounts/wallet-repository.ts";
import { TestClock } from "../../support/product/actor-process.ts";
import { shared } from "../../support/shared.ts";
import {
  ask,
  DONE,
  hold,
  openAccount,
  openWorld,
  WORLD_PEPPER,
} from "../../support/stores/world.ts";
import {
  admitQuoted,
  compare,
  Disagreement,
  endAt,
  type Mutant,
  type OpenCall,
  playLists,
  testMutants,
} from "./compared.ts";

const RUNS = Number(process.env.MODEL_RUNS ?? 12);
const SEED = Number(process.env.MODEL_SEED ?? 20_310_315);
/** A seed whose lists of commands meet every fault below; few lists cross the end of a span. */
const SEED_OF_FAULTS = 20_310_315;
const COMMANDS = 60;
/** In cents. */
const CAPS = { "5h": 300, day: 500, run: 400, endUser: 250, ownOfEndUser: 120 } as const;
/** The second one has a budget of its own. */
const END_USERS = ["ada", "bob"] as const;
/** A month ends in the midst of the commands. */
const BEGIN = "2031-03-31T12:00:00.000Z";
const RUN_SECONDS = 30 * 86_400;

type EndUserName = (typeof END_USERS)[number];

type Command =
  | { readonly kind: "wait"; readonly ms: number }
  | {
      readonly kind: "call";
      readonly cents: number;
      readonly isInRun: boolean;
      readonly endUser: EndUserName | null;
    }
  | { readonly kind: "end"; readonly which: number; readonly quarters: number }
  | { readonly kind: "pause"; readonly isPaused: boolean };

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      ms: fc.integer({ min: 0, max: 3 * HOUR_MS }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("call" as const),
      cents: fc.integer({ min: 1, max: 200 }),
      isInRun: fc.boolean(),
      endUser: fc.constantFrom(null, ...END_USERS),
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
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("pause" as const), isPaused: fc.boolean() }),
  },
);

type CallStep = Extract<Command, { kind: "call" }>;

interface Counted {
  /** The hold, or the charge, in cents. */
  cents: number;
  readonly fiveHours: number;
  readonly day: number;
  readonly month: string;
  readonly isInRun: boolean;
  readonly endUser: EndUserName | null;
}

/** Keeps every call, without sums, so that no sum can be wrong. */
class Model {
  readonly #calls: Counted[] = [];
  #fiveHours = Number.NEGATIVE_INFINITY;
  isPaused = false;

  /** The verdict on a call; null for one that is admitted. */
  admit(nowMs: number, { cents, isInRun, endUser }: Omit<CallStep, "kind">) {
    const goesOn = nowMs < this.#fiveHours + 5 * HOUR_MS;
    const fiveHours = goesOn ? this.#fiveHours : nowMs;
    const day = Math.floor(nowMs / DAY_MS);
    const month = monthText(nowMs);
    const sum = (counts: (call: Counted) => boolean) =>
      this.#calls.filter(counts).reduce((total, call) => total + call.cents, cents);
    if (isInRun && this.isPaused) return "run_paused";
    if (sum((call) => call.fiveHours === fiveHours) > CAPS["5h"]) return "account_budget_exceeded";
    if (sum((call) => call.day === day) > CAPS.day) return "account_budget_exceeded";
    if (isInRun && sum((call) => call.isInRun) > CAPS.run) return "run_budget_exceeded";
    const cap = endUser === "bob" ? CAPS.ownOfEndUser : CAPS.endUser;
    if (endUser !== null && sum((call) => call.endUser === endUser && call.month === month) > cap) {
      return "end_user_budget_exceeded";
    }
    this.#fiveHours = fiveHours;
    const counted = { cents, fiveHours, day, month, isInRun, endUser };
    this.#calls.push(counted);
    return counted;
  }
}

const clock = new TestClock(BEGIN);
const world = await shared(openWorld(clock.options));

/** The parts of the process that the test brings. */
type Parts = Partial<Pick<AccountActorsDeps, "library" | "repository">>;

async function play(commands: readonly Command[], parts: Parts): Promise<void> {
  clock.set(BEGIN);
  const { row, keyId } = await openAccount(world, {
    createdAt: clock.daysAgo(100),
    contract: "enterprise",
    paid: "5000",
    budgets: { "5h": "3", day: "5" },
  });
  const named = (id: EndUserName) =>
    new EndUser(id, { accountId: row.id, secrets: [WORLD_PEPPER] });
  for (const [endUser, cents] of [
    [null, CAPS.endUser],
    [named("bob"), CAPS.ownOfEndUser],
  ] as const) {
    const terms = { endUser, key: null, span: "month", amount: ofCents(cents) } as const;
    await setEndUserBudget(world.database, row.number, terms);
  }
  const accounts = world.process(parts);
  const actor = accounts.of(row.id, row.bucket);
  const run = { id: "model", step: null, max: ofCents(CAPS.run), seconds: RUN_SECONDS };
  // The run begins before the first command, so that it can be paused.
  await (await hold({ actor, keyId }, ofCents(1), { run })).release(DONE);
  const model = new Model();
  const first = model.admit(clock.ms, { cents: 1, isInRun: true, endUser: null });
  if (typeof first !== "string") first.cents = 0;
  const open: OpenCall[] = [];
  for (const step of commands) {
    if (step.kind === "wait") clock.ms += step.ms;
    if (step.kind === "pause") {
      const deps = { database: world.database, actors: accounts, onDelayed };
      const change = { isPaused: step.isPaused };
      await changeOwnRun(deps, row, { run: "model", change });
      model.isPaused = step.isPaused;
    }
    if (step.kind === "call") {
      const naming = {
        ...(step.isInRun && { run }),
        ...(step.endUser !== null && { endUser: named(step.endUser) }),
      };
      const answer = await admitQuoted(actor, ask(keyId, ofCents(step.cents), naming));
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
  }
  for (const one of open) await endAt(one, 0);
}

function onDelayed(_: string, error: unknown): void {
  throw error;
}

async function playAll(parts: Parts = {}, seed = SEED_OF_FAULTS): Promise<void> {
  const lists = { command, length: COMMANDS, runs: RUNS, seed };
  await playLists(lists, (commands) => play(commands, parts));
}

test("budgets of spans, runs and end users admit the model's calls, in the end", async () => {
  await playAll({}, SEED);
});

const MUTANTS: readonly Mutant[] = [
  {
    breaks: "five hours end after five hours",
    good: "now < last + SPAN_MS[FIVE_HOURS]",
    bad: "now < last + 2 * SPAN_MS[FIVE_HOURS]",
  },
  {
    breaks: "a day begins at midnight",
    good: "now - (now - since) % SPAN_MS[span]",
    bad: "now - 43200000",
  },
  {
    breaks: "what a call did not cost goes back to its budgets",
    good: "add_to_span(named.record, named.start, charged, -total)",
    bad: "add_to_span(named.record, named.start, total, -total)",
  },
  {
    breaks: "a run counts a hold once",
    good: "named.record.held = named.record.held + bound",
    bad: "named.record.held = named.record.held + bound * (named.owner == 3 and 2 or 1)",
  },
  {
    breaks: "a month begins on its first day",
    good: "return max(last, month_start(now))",
    bad: "return max(last, now - now % 2592000000)",
  },
  {
    breaks: "an end user counts a hold once",
    good: "named.record.held = named.record.held + bound",
    bad: "named.record.held = named.record.held + bound * (named.owner == 4 and 2 or 1)",
  },
  {
    breaks: "holds count in budgets",
    good: "named.record, named.room = b, named.cap - b.spent - b.held",
    bad: "named.record, named.room = b, named.cap - b.spent",
  },
  {
    breaks: "a quote is refused as its call is",
    good: "if attempt == 6 then",
    bad: "if attempt == 6 then code = nil",
  },
  {
    breaks: "a quote names the limit that refuses next",
    good: "if least and least.room < room then kind, name = 3, least.name end",
    bad: "if least and least.room < 0 then kind, name = 3, least.name end",
  },
  {
    breaks: "a quote holds nothing",
    good: "if attempt == 6 then",
    bad: `if attempt == 6 then
      if budgets and not code and not begins_run(budgets) then
        hold_in_budgets(KEYS[#KEYS], bucket.epoch, budgets, bound)
      end`,
  },
];

testMutants(MUTANTS, (library) => playAll({ library }));

test("a process that ignores a pause is caught", async () => {
  const repository = new WalletRepository(world.database);
  const { runs } = repository;
  const read = async (...asked: Parameters<typeof runs.read>) => {
    const run = await runs.read(...asked);
    return run === null ? null : { ...run, isPaused: false };
  };
  Object.defineProperty(repository, "runs", { value: { ...runs, read } });
  await expect(playAll({ repository })).rejects.toBeInstanceOf(Disagreement);
});

test("a process that ignores the own budget of an end user is caught", async () => {
  const repository = new WalletRepository(world.database);
  const { endUsers } = repository;
  const amount = ofCents(CAPS.endUser);
  const ignoring = (counts: readonly EndUserCount[]): readonly EndUserCount[] =>
    counts.map((one) => ({ ...one, budget: { ...one.budget, amount } }));
  const read = async (...asked: Parameters<typeof endUsers.read>) =>
    ignoring(await endUsers.read(...asked));
  const begin: typeof endUsers.begin = async (...asked) =>
    (await endUsers.begin(...asked)).map(ignoring);
  Object.defineProperty(repository, "endUsers", { value: { ...endUsers, read, begin } });
  await expect(playAll({ repository })).rejects.toBeInstanceOf(Disagreement);
});
