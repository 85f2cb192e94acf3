// Runs the published overspend test on Farebox itself, as docs/overspend.md shows its result: two
// API processes, 200 parallel calls in each trial.

import { expect, test } from "bun:test";
import { OWN_TRIALS, runOwnTrials } from "../../../scripts/overspend/own-run.ts";
import { faultsOf } from "../../../scripts/overspend/trial.ts";
import { usd } from "../../../src/core/money/money.ts";

test("each trial gets exactly the dollar that is there, and each answer is charged", async () => {
  const results = await runOwnTrials(200, () => {});
  expect(results.map(({ name }) => name)).toEqual(OWN_TRIALS.map(({ name }) => name));
  for (const result of results) {
    expect([result.name, faultsOf(result)]).toEqual([result.name, []]);
    expect([result.name, result.answeredWorth, result.spent]).toEqual([
      result.name,
      usd("1"),
      usd("1"),
    ]);
  }
  expect(results.map(({ wasKilled }) => wasKilled)).toContain(true);
});
