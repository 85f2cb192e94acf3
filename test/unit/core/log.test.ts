import { expect, test } from "bun:test";
import { CAUSES_MAX, SeldomLog } from "../../../src/core/log.ts";
import { FakeClock } from "../../support/fakes/fake-clock.ts";

function openLog() {
  const clock = new FakeClock();
  const lines: unknown[][] = [];
  const line = (level: string) => (fields: object, message: string) => {
    lines.push([level, message, fields]);
  };
  const log = new SeldomLog(
    { info: line("info"), warn: line("warn"), error: line("error") },
    clock,
  );
  /** The lines written since the last look. */
  return { clock, log, written: () => lines.splice(0) };
}

test("a cause is logged at once, then once a second with the number of omitted lines", () => {
  const { clock, log, written } = openLog();
  const fail = (requestId: string) => log.error({ requestId, err: new Error("away") }, "It failed");
  fail("req_1");
  expect(written()).toMatchObject([["error", "It failed", { requestId: "req_1" }]]);
  for (let request = 2; request <= 1_001; request += 1) fail(`req_${request}`);
  clock.advance(999);
  expect(written()).toEqual([]);
  clock.advance(1);
  const err = expect.objectContaining({ message: "away" });
  const latest = { requestId: "req_1001", err, omitted: 999 };
  expect(written()).toEqual([["error", "It failed", latest]]);
  fail("req_1002");
  clock.advance(1_000);
  expect(written()).toEqual([["error", "It failed", { requestId: "req_1002", err }]]);
  clock.advance(1_000);
  expect([written(), clock.pending]).toEqual([[], 0]);
  fail("req_1003");
  expect(written()).toHaveLength(1);
});

test("lines that differ in more than their request are logged at once", () => {
  const { log, written } = openLog();
  const away = new Error("Redis is away", { cause: new Error("Failed to connect") });
  const other = new Error("Redis is away", { cause: new Error("Out of memory") });
  const coded = Object.assign(new Error("Redis is away"), { code: "ENOENT" });
  for (const err of [away, other, coded, "a text"]) {
    log.warn({ requestId: "req_1", err }, "It failed");
    log.error({ requestId: "req_1", err }, "It failed");
    log.error({ requestId: "req_1", err }, "It failed in another way");
    log.error({ requestId: "req_1", err, accountId: "acct_1" }, "It failed");
    log.error({ requestId: "req_1", err, accountId: "acct_2" }, "It failed");
  }
  expect(written()).toHaveLength(20);
  for (const event of ["evt_1", "evt_2"]) log.warn({ job: { event } }, "It failed");
  for (const code of [1, 2]) log.warn({ err: new AggregateError([code], "all") }, "It failed");
  log.warn({ err: Object.create(null) }, "It failed");
  expect(written()).toHaveLength(5);
  for (const times of [1, 2, 3]) log.info({ times }, "It began");
  expect(written()).toHaveLength(3);
});

test("endless causes take one line a second of each message, and hide no other", () => {
  const { clock, log, written } = openLog();
  for (let cause = 0; cause < CAUSES_MAX; cause += 1) log.warn({ cause }, "It failed");
  expect(written()).toHaveLength(CAUSES_MAX);
  for (let cause = 0; cause < 1_000; cause += 1) log.warn({ cause: -1 - cause }, "It failed");
  for (const accountId of ["a", "b", "c"]) log.warn({ accountId }, "It failed in another way");
  expect(written()).toEqual([
    ["warn", "It failed", { cause: -1 }],
    ["warn", "It failed in another way", { accountId: "a" }],
    ["warn", "It failed in another way", { accountId: "b" }],
    ["warn", "It failed in another way", { accountId: "c" }],
  ]);
  clock.advance(1_000);
  expect(written()).toEqual([["warn", "It failed", { cause: -1_000, omitted: 998 }]]);
});

test("an error that is its own cause is logged", () => {
  const { log, written } = openLog();
  const err = new Error("round");
  err.cause = err;
  log.error({ err }, "It failed");
  expect(written()).toHaveLength(1);
});
