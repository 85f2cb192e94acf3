// Tests that the sums of a run cost as much as its own calls, however many others the log has.

import { beforeAll, expect, test } from "bun:test";
import { readRunSums, sumsOfRun } from "../../../../src/store/usage/run-sums.ts";
import { shared } from "../../../support/shared.ts";
import { planOf } from "../../../support/stores/plans.ts";
import { openTestDatabase } from "../../../support/stores/test-database.ts";

const { database } = await shared(openTestDatabase());
const ACCOUNT = 7;
const CALLS = 40_000;
/** Every so many calls of the account are of one run. */
const RUNS = 400;
const MONTHS = ["2031-02-01", "2031-03-01"] as const;

const run = (createdAt: string) => ({
  account: ACCOUNT,
  id: "run-8",
  createdAt: new Date(createdAt),
});

beforeAll(async () => {
  const { sql } = database;
  for (const month of MONTHS) {
    await sql`SELECT ensure_request_log_partition(${month}::text::date)`;
    await sql`
      INSERT INTO request_log (at, account, key, request, cost, latency_ms, prompt_tokens,
        cached_tokens, completion_tokens, requests, status, endpoint, service, model, held, run,
        step)
      SELECT ${`${month}T00:00:00Z`}::text::timestamptz + n * interval '1 minute',
        ${ACCOUNT} + n % 2, 1, gen_random_uuid(),
        1000, 5, 1, 0, 1, 1, 200, '/v1/chat/completions', 'models', 'fast', 2000,
        CASE WHEN n % 4 < 2 THEN 'run-' || n % ${RUNS} / 4 END, 'plan'
      FROM generate_series(1, ${CALLS}) n`;
  }
  await sql`VACUUM ANALYZE request_log`;
});

test("the calls of a run are read by their index, and no others", async () => {
  const begun = run("2031-02-01T00:00:00Z");
  const plan = await planOf(database, sumsOfRun(database.sql, begun));
  expect(plan.filter((node) => node["Node Type"] === "Seq Scan")).toEqual([]);
  const used = plan.flatMap((node) => node["Index Name"] ?? []);
  expect(used.filter((name) => name.includes("account_run"))).toHaveLength(MONTHS.length);
  const { services } = await readRunSums(database, begun);
  const calls = Number(services[0]?.calls);
  expect(calls).toBe((MONTHS.length * CALLS) / RUNS);
  expect(Math.max(...plan.map((node) => node["Actual Rows"]))).toBeLessThanOrEqual(calls);
});

test("months before the run are not read", async () => {
  const plan = await planOf(database, sumsOfRun(database.sql, run("2031-03-05T00:00:00Z")));
  const read = plan.flatMap((node) => node["Relation Name"] ?? []);
  expect(new Set(read)).toEqual(new Set(["request_log_203103"]));
});
