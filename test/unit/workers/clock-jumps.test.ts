// Tests jobs that delete data that cannot be restored, or notify of ends, when Redis's clock is
// months ahead for a moment.

import { expect, test } from "bun:test";
import { DAY_MS } from "../../../src/core/durations.ts";
import { monthText } from "../../../src/core/money/months.ts";
import type { ServerConfig } from "../../../src/settings/config.ts";
import { LogUpkeep } from "../../../src/store/usage/log-upkeep.ts";
import { queueJobs } from "../../../workers/jobs.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { TestClock } from "../../support/product/actor-process.ts";
import { random } from "../../support/random.ts";
import { shared } from "../../support/shared.ts";
import { endUserLab } from "../../support/stores/end-user-lab.ts";
import { DONE, hold, openAccount, openWorld, usd } from "../../support/stores/world.ts";

const world = await shared(openWorld());
const { accounts, database } = world;
const { sql } = database;
const jobs = queueJobs({
  accounts,
  database,
  log: silent,
  now: Date.now,
  sleep: Bun.sleep,
  config: { logKeepMonths: 2, journalKeepMs: 60_000, runKeepDays: 90 } as ServerConfig,
  after: () => () => {},
});

async function runAhead(...names: readonly (keyof typeof jobs)[]): Promise<void> {
  for (const name of names) {
    accounts.clock.observe(Date.now() + 400 * DAY_MS);
    await jobs[name].run();
  }
}

test("no month of the log, secret of IP hashes, session or run goes before its time", async () => {
  const nowMs = Date.now();
  const month = monthText(nowMs);
  const secret = Buffer.from(random(32)).toString("hex");
  await new LogUpkeep(database).ensurePartitions(new Date(nowMs), 0);
  await sql`INSERT INTO ip_hash_secrets (month, secret) VALUES (${month}, ${secret})
    ON CONFLICT DO NOTHING`;
  await sql`INSERT INTO people (id, email, name) VALUES ('person_1', 'ada@example.org', '')`;
  await sql`INSERT INTO sessions (id, token, person, expires_at)
    VALUES ('session_1', 'token', 'person_1', now() + interval '1 day')`;
  const { row, keyId } = await openAccount(world);
  await sql`INSERT INTO runs (account, id, key, amount, ends_at, forgotten_at)
    SELECT ${row.number}, 'nightly', number, 1, now(), now() FROM keys WHERE id = ${keyId}`;
  await runAhead("log-retention", "ip-hash-expiry", "ended-sessions", "run-retention");
  const [kept] = await sql`
    SELECT to_regclass(${`request_log_${month.replace("-", "")}`}) IS NOT NULL AS log,
      EXISTS (SELECT FROM ip_hash_secrets WHERE month = ${month}) AS secret,
      EXISTS (SELECT FROM sessions) AS session, EXISTS (SELECT FROM runs) AS run`;
  expect(kept).toEqual({ log: true, secret: true, session: true, run: true });
});

test("no run ends, and no count of an end user is forgotten, before its time", async () => {
  const lab = endUserLab(world, new TestClock(new Date().toISOString()));
  const mine = await lab.account();
  await lab.set(mine, "month", "3");
  const run = { id: "nightly", step: null, max: usd("2"), seconds: 3_600 };
  const endUser = lab.named(mine, "ada");
  await (await hold(mine, usd("1"), { run, endUser })).settle(usd("1"), DONE);
  await world.flush();
  await runAhead("ended-runs", "end-users");
  expect(await lab.kept(mine)).toBe(2);
  const [row] = await sql`SELECT forgotten_at FROM runs WHERE account = ${mine.row.number}`;
  expect(row?.forgotten_at).toBeNull();
});
