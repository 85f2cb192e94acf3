// Tests the monthly secret of IP hashes: one for all processes, destroyed when its hashes are.

import { beforeEach, expect, test } from "bun:test";
import { DAY_MS } from "../../../../src/core/durations.ts";
import { IpHashSecrets } from "../../../../src/store/servers/ip-hash-secrets.ts";
import { LogUpkeep } from "../../../../src/store/usage/log-upkeep.ts";
import { expireIpHashes } from "../../../../workers/ip-hash-expiry.ts";
import { silent } from "../../../support/fakes/silent-log.ts";
import { random } from "../../../support/random.ts";
import { databaseOfEachTest } from "../../../support/stores/test-database.ts";

const NOVEMBER = Date.UTC(2026, 10, 30, 23, 59);
const DECEMBER = Date.UTC(2026, 11, 1);

const own = databaseOfEachTest();
let nowMs: number;
beforeEach(() => {
  nowMs = NOVEMBER;
});

const processOf = (pepper = "the pepper") =>
  new IpHashSecrets({ ...own, pepper, random, now: () => nowMs, log: silent });

async function months(): Promise<string[]> {
  const rows = await own.database.sql`SELECT month FROM ip_hash_secrets ORDER BY month`;
  return rows.map(({ month }) => String(month));
}

test("all processes have the same secret, and a new one each month", async () => {
  const processes = Array.from({ length: 8 }, () => processOf());
  await Promise.all(processes.map((one) => one.load()));
  const secrets = () => [...new Set(processes.map((one) => one.current()))];
  const [november, ...others] = secrets();
  expect(others).toEqual([]);
  // The next month's secret is known early, even without Postgres.
  nowMs = DECEMBER;
  const [december, ...more] = secrets();
  expect(more).toEqual([]);
  expect(december).not.toBe(november);
});

test("the data in Postgres hashes nothing without IP_HASH_SECRET", async () => {
  const [one, other] = [processOf(), processOf("another pepper")];
  await Promise.all([one.load(), other.load()]);
  expect(one.current()).not.toBe(other.current());
  const rows = await own.database.sql`SELECT secret FROM ip_hash_secrets`;
  expect(rows.map(({ secret }) => String(secret))).not.toContain(one.current());
});

test("a process that cannot reach Postgres for months hashes on with the last secret", async () => {
  const one = processOf();
  await one.load();
  nowMs = DECEMBER;
  const last = one.current();
  nowMs = DECEMBER + 100 * DAY_MS;
  expect(one.current()).toBe(last);
});

test("the secret of a month is destroyed when its last hash is 90 days old", async () => {
  await processOf().load();
  const upkeep = new LogUpkeep(own.database);
  const expireAt = (ms: number) => expireIpHashes({ upkeep, now: () => ms });
  await expireAt(DECEMBER + 90 * DAY_MS - 1);
  expect(await months()).toEqual(["2026-11", "2026-12"]);
  await expireAt(DECEMBER + 90 * DAY_MS);
  expect(await months()).toEqual(["2026-12"]);
});
