// Shows that the model test catches faults. For each invariant there is a script with one fault
// that breaks it; a short run must find it, and the real scripts must pass the same run.
//
// `mutant-runs.json` names a list of commands that found each fault before. That list runs first
// and alone, in a tenth of the time. If it no longer finds the fault, because the commands or the
// scripts have changed, all lists run. MODEL_MUTANTS=write runs all and writes the file.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { atEnd, shared } from "../../support/shared.ts";
import { openWorld } from "../../support/stores/world.ts";
import { randomRuns } from "./commands.ts";
import type { Fault } from "./compared.ts";
import { type Failure, ModelRun } from "./model-run.ts";
import foundBy from "./mutant-runs.json" with { type: "json" };
import { type ModelMutant, MUTANTS } from "./mutants.ts";

const SEED = 20_310_315;
const RUNS = 32;
const COMMANDS = 100;
const FILE = join(import.meta.dir, "mutant-runs.json");

const isWriting = process.env.MODEL_MUTANTS === "write";
const known = new Map<string, number>(Object.entries(foundBy));
const found = new Map<string, number>();

atEnd(async () => {
  if (isWriting) await Bun.write(FILE, `${JSON.stringify(Object.fromEntries(found), null, 2)}\n`);
});
const world = await shared(openWorld());

/** Runs lists on an empty Redis, so that nothing is left of an earlier fault. */
async function failureOf(
  faults: readonly Fault[],
  runs: ReturnType<typeof randomRuns>,
): Promise<Failure | null> {
  await world.redis.flushall();
  return await new ModelRun(world, faults).run(runs);
}

async function find(mutant: ModelMutant): Promise<Failure | null> {
  const runs = randomRuns(SEED, mutant.runs ?? RUNS, COMMANDS);
  const first = runs[known.get(mutant.breaks) ?? runs.length];
  const failure = first === undefined || isWriting ? null : await failureOf([mutant], [first]);
  return failure ?? (await failureOf([mutant], runs));
}

test("the real scripts pass the run that every mutant must fail", async () => {
  expect(await failureOf([], randomRuns(SEED, RUNS, COMMANDS))).toBeNull();
});

for (const mutant of MUTANTS) {
  test(`a script that breaks this is caught: ${mutant.breaks}`, async () => {
    const failure = await find(mutant);
    expect(failure?.error).toBeInstanceOf(Error);
    if (failure !== null) found.set(mutant.breaks, failure.index);
  });
}
