// Compares limits per minute and per day with a model: random calls at random times, whose holds
// are returned whole, in part or late, across seconds, minutes and midnights.

import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Hold, Limit } from "../../../actors/account.ts";
import { DAY_MS } from "../../../src/core/durations.ts";
import { TestClock } from "../../support/product/actor-process.ts";
import { shared } from "../../support/shared.ts";
import { ask, DONE, openAccount, openWorld, usd } from "../../support/stores/world.ts";

const RUNS = Number(process.env.MODEL_RUNS ?? 60);
const COMMANDS = 60;
/** A request counts until the second in which it arrived is this many seconds ago. */
const SECONDS = 61;
const MINUTE = { name: "messages", kind: "minute", max: 7, code: "mail_rate_limit" } as const;
const DAY = { name: "recipients", kind: "day", max: 40, code: "mail_daily_limit" } as const;

type Command =
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "call"; readonly recipients: number }
  | { readonly kind: "end"; readonly which: number; readonly accepted: number };

const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({
    kind: fc.constant("wait" as const),
    ms: fc.oneof(fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 0, max: 90_000 })),
  }),
  fc.record({ kind: fc.constant("call" as const), recipients: fc.integer({ min: 1, max: 15 }) }),
  fc.record({
    kind: fc.constant("end" as const),
    which: fc.nat(9),
    accepted: fc.integer({ min: 0, max: 15 }),
  }),
);

interface Counted {
  readonly second: number;
  readonly day: number;
  messages: number;
  recipients: number;
}

/** Keeps every call, without sums, so that no sum can be wrong. */
class Model {
  readonly calls: Counted[] = [];

  verdict(nowMs: number, recipients: number): string {
    const second = Math.floor(nowMs / 1000);
    const day = Math.floor(nowMs / DAY_MS);
    const sum = (of: "messages" | "recipients", counts: (call: Counted) => boolean) =>
      this.calls.filter(counts).reduce((total, call) => total + call[of], 0);
    const minute = sum("messages", (call) => call.second > second - SECONDS);
    if (minute + 1 > MINUTE.max) return MINUTE.code;
    const today = sum("recipients", (call) => call.day === day);
    if (today + recipients > DAY.max) return DAY.code;
    this.calls.push({ second, day, messages: 1, recipients });
    return "admitted";
  }
}

const clock = new TestClock("2031-03-15T23:57:00.000Z");
const world = await shared(openWorld(clock.options));
const account = await openAccount(world, { createdAt: clock.daysAgo(0) });
await world.store.decide(account.row.id, () => ({ contract: "enterprise" }), { now: new Date() });
await account.actor.configure();

async function play(commands: readonly Command[], run: number): Promise<void> {
  const model = new Model();
  const open: { hold: Hold; counted: Counted }[] = [];
  clock.set("2031-03-15T23:57:00.000Z");
  clock.ms += run * 10 * DAY_MS;
  const named = (limit: typeof MINUTE | typeof DAY, weight: number): Limit => ({
    ...limit,
    name: `${limit.name}-${run}`,
    weight,
  });
  for (const step of commands) {
    if (step.kind === "wait") clock.ms += step.ms;
    if (step.kind === "call") {
      const limits = [named(MINUTE, 1), named(DAY, step.recipients)];
      const asked = ask(account.keyId, usd("0"), { limits: () => limits });
      const answer = await account.actor.admit(asked);
      const told: string = answer.verdict === "refused" ? answer.error.code : answer.verdict;
      expect(told).toBe(model.verdict(clock.ms, step.recipients));
      const counted = model.calls.at(-1);
      if (answer.verdict === "admitted" && counted) open.push({ hold: answer.hold, counted });
    }
    if (step.kind === "end" && open.length > 0) {
      const [ended] = open.splice(step.which % open.length, 1);
      if (ended === undefined) continue;
      const { hold, counted } = ended;
      const accepted = Math.min(step.accepted, counted.recipients);
      if (accepted === 0) await hold.release(DONE);
      else
        await hold.settle(usd("0"), DONE, { [`recipients-${run}`]: counted.recipients - accepted });
      counted.recipients = accepted;
      if (accepted === 0) counted.messages = 0;
    }
  }
  for (const { hold } of open) await hold.release(DONE);
}

test("limits per minute and per day admit the model's calls, whatever is returned", async () => {
  let run = 0;
  const commands = fc.array(command, { minLength: COMMANDS, maxLength: COMMANDS });
  const seed = process.env.MODEL_SEED === undefined ? {} : { seed: Number(process.env.MODEL_SEED) };
  await fc.assert(
    fc.asyncProperty(commands, async (steps) => play(steps, run++)),
    { numRuns: RUNS, ...seed },
  );
});
