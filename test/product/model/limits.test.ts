// Compares limits per minute and per day with a model: random calls at random times, whose holds
// are returned whole, in part or late, across seconds, minutes and midnights. Then shows that the
// comparison finds faults which are put into the scripts.

import { test } from "bun:test";
import fc from "fast-check";
import type { Hold, Limit } from "../../../actors/account.ts";
import type { AccountActor } from "../../../actors/account-actor.ts";
import { DAY_MS } from "../../../src/core/durations.ts";
import { TestClock } from "../../support/product/actor-process.ts";
import { shared } from "../../support/shared.ts";
import { accountIn, ask, DONE, openAccount, openWorld, usd } from "../../support/stores/world.ts";
import { compare, type Mutant, playLists, testMutants } from "./compared.ts";
import { ModelWindow } from "./model-window.ts";

const RUNS = Number(process.env.MODEL_RUNS ?? 60);
const SEED_OF_FAULTS = 20_310_315;
const COMMANDS = 60;
const MINUTE = { name: "messages", kind: "minute", max: 7, code: "mail_rate_limit" } as const;
const DAY = { name: "recipients", kind: "day", max: 40, code: "mail_daily_limit" } as const;
const RATE = { code: "rate_limit_exceeded" } as const;
const TOKENS_DAY = { ...RATE, name: "tokens_day", kind: "tokens_day", max: 300 } as const;
const TOKENS = { ...RATE, name: "tokens", kind: "tokens", max: 110 } as const;

interface CallStep {
  readonly kind: "call";
  readonly recipients: number;
  readonly tokens: number;
}

type Command =
  | { readonly kind: "wait"; readonly ms: number }
  | CallStep
  | {
      readonly kind: "end";
      readonly which: number;
      readonly accepted: number;
      readonly taken: number;
    };

const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({
    kind: fc.constant("wait" as const),
    ms: fc.oneof(fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 0, max: 90_000 })),
  }),
  fc.record({
    kind: fc.constant("call" as const),
    recipients: fc.integer({ min: 1, max: 15 }),
    tokens: fc.integer({ min: 1, max: 70 }),
  }),
  fc.record({
    kind: fc.constant("end" as const),
    which: fc.nat(9),
    accepted: fc.integer({ min: 0, max: 15 }),
    taken: fc.integer({ min: 0, max: 70 }),
  }),
);

interface Counted {
  readonly atMs: number;
  readonly day: number;
  recipients: number;
  tokens: number;
}

/** Keeps every call, without sums, so that no sum can be wrong. */
class Model {
  readonly calls: Counted[] = [];
  readonly messages = new ModelWindow();
  readonly tokens = new ModelWindow();

  verdict(nowMs: number, { recipients, tokens }: Omit<CallStep, "kind">): string {
    const day = Math.floor(nowMs / DAY_MS);
    const ofDay = this.calls.filter((call) => call.day === day);
    const sum = (of: "recipients" | "tokens") => ofDay.reduce((total, call) => total + call[of], 0);
    if (this.messages.total(nowMs) + 1 > MINUTE.max) return MINUTE.code;
    if (sum("recipients") + recipients > DAY.max) return DAY.code;
    if (sum("tokens") + tokens > TOKENS_DAY.max) return TOKENS_DAY.code;
    if (this.tokens.total(nowMs) + tokens > TOKENS.max) return TOKENS.code;
    return "admitted";
  }

  count(nowMs: number, { recipients, tokens }: Omit<CallStep, "kind">): Counted {
    const counted = { atMs: nowMs, day: Math.floor(nowMs / DAY_MS), recipients, tokens };
    this.calls.push(counted);
    this.messages.count(nowMs);
    this.tokens.count(nowMs, tokens);
    return counted;
  }

  /** Ends a call that used less than was counted; without any recipient it was no message. */
  end(call: Counted, used: { readonly recipients: number; readonly tokens: number }): void {
    if (used.recipients === 0) this.messages.giveBack(call.atMs, 1);
    this.tokens.giveBack(call.atMs, call.tokens - used.tokens);
    Object.assign(call, used);
  }
}

const clock = new TestClock("2031-03-15T23:57:00.000Z");
const world = await shared(openWorld(clock.options));
const account = await openAccount(world, { createdAt: clock.daysAgo(0) });
await world.store.decide(account.row.id, () => ({ contract: "enterprise" }), { now: new Date() });
await account.actor.configure();

interface Played {
  readonly actor: AccountActor;
  /** Numbers the counts, which are new in each run. */
  readonly run: number;
}

async function play(commands: readonly Command[], { actor, run }: Played): Promise<void> {
  const model = new Model();
  const open: { hold: Hold; counted: Counted }[] = [];
  clock.set("2031-03-15T23:57:00.000Z");
  clock.ms += run * 10 * DAY_MS;
  const named = (limit: Omit<Limit, "weight">, weight: number): Limit => ({
    ...limit,
    name: `${limit.name}-${run}`,
    weight,
  });
  for (const step of commands) {
    if (step.kind === "wait") clock.ms += step.ms;
    if (step.kind === "call") {
      const { recipients, tokens } = step;
      const limits = [
        named(MINUTE, 1),
        named(DAY, recipients),
        named(TOKENS_DAY, tokens),
        named(TOKENS, tokens),
      ];
      const asked = ask(account.keyId, usd("0"), { limits: () => limits });
      const answer = await actor.admit(asked);
      compare(answer, model.verdict(clock.ms, step));
      if (answer.verdict === "admitted") {
        open.push({ hold: answer.hold, counted: model.count(clock.ms, step) });
      }
    }
    if (step.kind === "end" && open.length > 0) {
      const [ended] = open.splice(step.which % open.length, 1);
      if (ended === undefined) continue;
      const { hold, counted } = ended;
      const accepted = Math.min(step.accepted, counted.recipients);
      const taken = accepted === 0 ? 0 : Math.min(step.taken, counted.tokens);
      const back = { [`recipients-${run}`]: counted.recipients - accepted };
      if (accepted === 0) await hold.release(DONE);
      else await hold.settle(usd("0"), { ...DONE, promptTokens: taken, completionTokens: 0 }, back);
      model.end(counted, { recipients: accepted, tokens: taken });
    }
  }
  for (const { hold } of open) await hold.release(DONE);
}

const lists = fc.array(command, { minLength: COMMANDS, maxLength: COMMANDS });
let run = 0;

test("limits per minute and per day admit the model's calls, whatever is returned", async () => {
  const seed = process.env.MODEL_SEED === undefined ? {} : { seed: Number(process.env.MODEL_SEED) };
  await fc.assert(
    fc.asyncProperty(lists, async (steps) => play(steps, { actor: account.actor, run: run++ })),
    { numRuns: RUNS, ...seed },
  );
});

const FAULTS: readonly Mutant[] = [
  {
    breaks: "the rest of a call's share of a day can be used again",
    good: "write_day(key, day, max(0, used - back))",
    bad: "write_day(key, day, used)",
  },
  {
    breaks: "the rest of a call's share of a day is of that day alone",
    good: "if day == floor(admitted / DAY_MS) then",
    bad: "if day ~= floor(admitted / DAY_MS) - 1 then",
  },
  {
    breaks: "tokens count with their number",
    good: "count_in_window(limit.window, limit.weight)",
    bad: "count_in_window(limit.window, 1)",
  },
  {
    breaks: "the count of a day ends at midnight",
    good: "limit.used = day >= limit.day and used or 0",
    bad: "limit.used = used",
  },
];

testMutants(FAULTS, async (library) => {
  const { actor } = accountIn(world.process({ library }), account);
  const lists = { command, length: COMMANDS, runs: RUNS, seed: SEED_OF_FAULTS };
  await playLists(lists, async (commands) => play(commands, { actor, run: run++ }));
});
