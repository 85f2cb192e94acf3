// The model test is worth what it catches: each invariant has a script with one fault that breaks
// it, which a short run must find; the scripts as they are must pass the same run.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { admit } from "../../actors/admit-script.ts";
import { extend, settle, settleLate } from "../../actors/call-scripts.ts";
import { configure, credit, evict, hydrate, sweep } from "../../actors/wallet-scripts.ts";
import { openWorld, type World } from "../support/world.ts";
import { randomRuns } from "./commands.ts";
import { type Fault, ModelRun } from "./model-run.ts";

const SEED = 20_310_315;
const RUNS = 32;
const COMMANDS = 100;

let world: World;
beforeAll(async () => {
  world = await openWorld();
}, 60_000);
afterAll(() => world[Symbol.asyncDispose]());

interface Mutant extends Fault {
  readonly breaks: string;
  /** How many runs find it surely, where it takes more than usual. */
  readonly runs?: number;
}

const MUTANTS: readonly Mutant[] = [
  {
    breaks: "I1: what is charged leaves the purse",
    script: settle,
    good: "stored(w[1]) + hold.paid - charged_paid",
    bad: "stored(w[1]) + hold.paid",
  },
  {
    breaks: "I1: a credit is applied once",
    script: credit,
    good: "'credits', credit.number, ",
    bad: "",
  },
  {
    breaks: "I1: a wallet is built with its credits",
    script: hydrate,
    good: "for i = 13, first_month - 1, 4 do\n  apply_credit",
    bad: "for i = 13, 0 do\n  apply_credit",
  },
  {
    breaks: "I1: a wallet is evicted only when all of it is booked",
    script: evict,
    good: "if w[1] ~= ARGV[2] then",
    bad: "if not w[1] then",
  },
  {
    breaks: "I1: a wallet with holds is not evicted",
    script: evict,
    good: "if redis.call('EXISTS', KEYS[3]) == 1 then return { 'kept' } end",
    bad: "",
  },
  {
    breaks: "I2: no call holds more than there is",
    script: admit,
    good: "elseif bound > paid + usable_free then",
    bad: "elseif bound > paid + usable_free + 1000000000 then",
  },
  {
    breaks: "I2: a late settlement takes no more than there is",
    script: settleLate,
    good: "math.min(room - take_free, paid)",
    bad: "room - take_free",
  },
  {
    breaks: "I3: a hold resolves at most once",
    script: settle,
    good: "redis.call('HDEL', k.holds, call.id)",
    bad: "redis.call('HLEN', k.holds)",
  },
  {
    breaks: "I3: an admission sent again takes no second hold",
    script: admit,
    good: "redis.call('HSETNX', holds, request, hold_record(hold)) == 0",
    bad: "redis.call('HSET', holds, request, hold_record(hold)) == 2",
  },
  {
    breaks: "I3: a tentative admission sent again knows its hold",
    script: admit,
    good: " and redis.call('HEXISTS', holds, request) == 0",
    bad: "",
    runs: 192,
  },
  {
    breaks: "I3: a settlement sent again hears its answer",
    script: settle,
    good: "if verdict == 'done' then",
    bad: "if verdict == 'never' then",
  },
  {
    breaks: "I4: no charge is above its hold",
    script: settle,
    good: "local charged = math.min(cost, total)",
    bad: "local charged = cost",
  },
  {
    breaks: "I4: nor is what sweep and late settlement charge together",
    script: settleLate,
    good: "math.min(cost, total) - charged",
    bad: "math.min(cost, total)",
  },
  {
    breaks: "I5: every hold without its owner is resolved",
    script: sweep,
    good: "if tonumber(lease) > now_ms(ARGV[1])",
    bad: "if tonumber(lease) + 60000 > now_ms(ARGV[1])",
  },
  {
    breaks: "I5: a renewed hold lives on",
    script: extend,
    good: "'XX', expiry",
    bad: "'NX', expiry",
  },
  {
    breaks: "I7: the sweep charges what was streamed",
    script: sweep,
    good: "resolve(k, hold, hold.checkpoint,",
    bad: "resolve(k, hold, 0,",
  },
  {
    breaks: "I8: entries are numbered without a gap",
    script: settle,
    good: "charged > 0 and stored(w[6]) + 1 or nil",
    bad: "charged > 0 and stored(w[6]) + 2 or nil",
  },
  {
    breaks: "I8: each balance is the one before and the change",
    script: settle,
    good: "paid_after = paid + held_paid,",
    bad: "paid_after = paid,",
  },
  {
    breaks: "I12: free credit pays only what it may pay",
    script: admit,
    good: "eligible and not free_is_over and free or 0",
    bad: "not free_is_over and free or 0",
  },
  {
    breaks: "I12: free credit ends",
    script: admit,
    good: "now >= stored(w[5])",
    bad: "now > stored(w[5]) + 86400000",
  },
  {
    breaks: "I12: free credit that ended is not prolonged by the next",
    script: credit,
    good: "if ends > 0 and now >= ends then",
    bad: "if false then",
    runs: 96,
  },
  {
    breaks: "I12: nor by what a call gives back of it",
    script: settle,
    good: "hold.admitted < stored(w[11])",
    bad: "hold.admitted < 0",
    runs: 96,
  },
  {
    breaks: "I15: holds count toward the account's cap",
    script: admit,
    good: "cap - stored(w[9]) - stored(w[10])",
    bad: "cap - stored(w[9])",
  },
  {
    breaks: "I15: holds count toward the key's budget",
    script: admit,
    good: "budget - stored(w[11]) - stored(w[12])",
    bad: "budget - stored(w[11])",
  },
  {
    breaks: "I15: a call belongs to the month of its admission",
    script: settle,
    good: "local spent, held = 's' .. hold.month, 'h' .. hold.month",
    bad: "local spent, held = 's203103', 'h' .. hold.month",
  },
  {
    breaks: "I16: no more streams than the tier has",
    script: admit,
    good: "stored(w[8]) >= tonumber(ARGV[12])",
    bad: "stored(w[8]) > tonumber(ARGV[12])",
  },
  {
    breaks: "I16: a stream that ended gives its slot back",
    script: settle,
    good: "stored(w[5]) - tonumber(hold.stream)",
    bad: "stored(w[5])",
  },
  {
    breaks: "I17: no more requests than the window has",
    script: admit,
    good: "local full, exceeded = requests.total >= limit",
    bad: "local full, exceeded = requests.total > limit",
  },
  {
    breaks: "I17: no more requests of all keys than the plan has",
    script: admit,
    good: "full = full or exceeds(l)",
    bad: "full = full or false",
    runs: 96,
  },
  {
    breaks: "I17: what is counted stays counted for 60 s",
    script: admit,
    good: "first <= second - SLOTS",
    bad: "first <= second - 30",
  },
  {
    breaks: "I20: a revoked key is refused by the next call",
    script: configure,
    good: "if tonumber(w[2]) < tonumber(ARGV[1]) then",
    bad: "if tonumber(w[2]) > tonumber(ARGV[1]) then",
  },
];

/** A run on an empty Redis, so that nothing of an earlier fault is left. */
async function runWith(faults: readonly Fault[], runs = RUNS): Promise<unknown> {
  await world.redis.flushall();
  const failure = await new ModelRun(world, faults).run(randomRuns(SEED, runs, COMMANDS));
  return failure?.error ?? null;
}

test("the scripts as they are pass the run that every mutant must fail", async () => {
  expect(await runWith([])).toBeNull();
}, 120_000);

for (const mutant of MUTANTS) {
  test(`a script that breaks ${mutant.breaks} is caught`, async () => {
    expect(await runWith([mutant], mutant.runs)).toBeInstanceOf(Error);
  }, 120_000);
}
