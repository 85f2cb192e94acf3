// The model test is worth what it catches: each invariant has a script with one fault that breaks
// it, which a short run must find; the scripts as they are must pass the same run.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { openWorld, type World } from "../support/world.ts";
import { randomRuns } from "./commands.ts";
import { type Fault, ModelRun } from "./model-run.ts";
import { MUTANTS } from "./mutants.ts";

const SEED = 20_310_315;
const RUNS = 32;
const COMMANDS = 100;

let world: World;
beforeAll(async () => {
  world = await openWorld();
}, 60_000);
afterAll(() => world[Symbol.asyncDispose]());

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
  test(`a script that breaks this is caught: ${mutant.breaks}`, async () => {
    expect(await runWith([mutant], mutant.runs)).toBeInstanceOf(Error);
  }, 120_000);
}
