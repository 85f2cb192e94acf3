// Tests that a run which is asked for again and again is read a bounded part of the time.

import { beforeEach, expect, test } from "bun:test";
import { KeptRunSums, RUN_SUMS_KEPT_MAX } from "../../../../src/store/usage/kept-run-sums.ts";
import type { SummedRun } from "../../../../src/store/usage/run-sums.ts";
import { shared } from "../../../support/shared.ts";
import { openedDatabase, openTestDatabase } from "../../../support/stores/test-database.ts";

const { database } = await shared(openTestDatabase());
const FIRST = "2031-02-01T00:00:00Z";
await database.sql`SELECT ensure_request_log_partition('2031-02-01'::date)`;

let account = 0;
let ms = 0;
beforeEach(() => {
  account += 1;
  ms = 0;
});

const run = (id = "nightly"): SummedRun => ({ account, id, createdAt: new Date(FIRST) });

async function log(id = "nightly") {
  await database.sql`
    INSERT INTO request_log (at, account, key, request, cost, latency_ms, prompt_tokens,
      cached_tokens, completion_tokens, requests, status, endpoint, service, model, held, run)
    VALUES (${FIRST}::text::timestamptz, ${account}, 1, gen_random_uuid(), 1000, 5, 1, 0, 1, 1,
      200, '/v1/chat/completions', 'models', 'fast', 2000, ${id})`;
}

/** The calls of a run by a reading that takes so long by the clock of the test. */
async function callsOf(kept: KeptRunSums, { id = "nightly", takesMs = 0 } = {}): Promise<number> {
  const reading = kept.of(run(id));
  ms += takesMs;
  const { services } = await reading;
  return Number(services[0]?.calls ?? 0);
}

test("a reading counts for twenty times as long as it took, and then no longer", async () => {
  const kept = new KeptRunSums(database, () => ms);
  await log();
  expect(await callsOf(kept, { takesMs: 100 })).toBe(1);
  await log();
  expect(await callsOf(kept)).toBe(1);
  ms += 1_999;
  expect(await callsOf(kept)).toBe(1);
  ms += 1;
  expect(await callsOf(kept)).toBe(2);
});

test("a reading that took long counts for a minute at most", async () => {
  const kept = new KeptRunSums(database, () => ms);
  await log();
  expect(await callsOf(kept, { takesMs: 30_000 })).toBe(1);
  await log();
  ms += 60_000;
  expect(await callsOf(kept)).toBe(2);
});

test("callers at the same time share one reading, and other runs have their own", async () => {
  const kept = new KeptRunSums(database, () => ms);
  await log("other");
  const [one, same] = [kept.of(run()), kept.of(run())];
  expect(same).toBe(one);
  expect((await one).services).toEqual([]);
  expect(await callsOf(kept, { id: "other", takesMs: 100 })).toBe(1);
});

test("a reading that failed is made again", async () => {
  const closed = openedDatabase("postgres://nobody@127.0.0.1:1/none");
  await closed.close();
  const kept = new KeptRunSums(closed, () => ms);
  await expect(kept.of(run())).rejects.toThrow();
  const again = kept.of(run());
  await expect(again).rejects.toThrow();
});

test("beyond the bound the run that was read longest ago is forgotten", async () => {
  const kept = new KeptRunSums(database, () => ms);
  await log();
  await callsOf(kept, { takesMs: 1_000 });
  await log();
  for (let other = 1; other < RUN_SUMS_KEPT_MAX; other += 1) {
    await callsOf(kept, { id: `other-${other}`, takesMs: 1 });
  }
  expect(await callsOf(kept)).toBe(1);
  await callsOf(kept, { id: "one more", takesMs: 1 });
  expect(await callsOf(kept)).toBe(2);
});
