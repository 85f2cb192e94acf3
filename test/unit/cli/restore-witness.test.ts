// Tests data that only Redis has after Postgres lost some time: no command may destroy it without
// naming it.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { bucketKeys } from "../../../actors/records/keys.ts";
import { Ledger } from "../../../src/store/ledger/ledger.ts";
import { flushForAudit } from "../../../workers/log-flush.ts";
import { cliOf, jsonOf } from "../../support/product/run-cli.ts";
import { shared, sharedFolder } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { createTestDatabase } from "../../support/stores/services.ts";
import { DONE, hold, openAccountAlone, openWorld, usd } from "../../support/stores/world.ts";

const folders = sharedFolder("witness");
const world = await shared(openWorld());
const cli = await cliOf(world);

async function gift({ row, actor }: TestAccount): Promise<void> {
  const terms = { kind: "adjustment", amount: usd("3"), reason: "gift", reference: null } as const;
  await world.store.adjust(row, terms);
  await actor.applyOperations();
}

async function openUsed(): Promise<TestAccount> {
  const account = await openAccountAlone(world, { paid: "10" });
  await (await hold(account, usd("0.02"))).settle(usd("0.01"), DONE);
  await world.flush();
  return account;
}

/** The epoch of the bucket in Redis, and the ids of its journal. */
async function witnessOf({ row }: TestAccount) {
  const { bucket, events } = bucketKeys(row.bucket);
  const entries = await world.redis.xrange(events, "-", "+");
  return { record: await world.redis.get(bucket), ids: entries.map(([id]) => id) };
}

test("no command rebuilds a bucket whose epoch Postgres lost", async () => {
  const account = await openUsed();
  await world.accounts.rebuild([{ bucket: account.row.bucket }]);
  await gift(account);
  const witness = await witnessOf(account);
  // As a Postgres restored to the time before the rebuild and the gift would have it.
  const { sql } = world.database;
  await sql`
    UPDATE journal_cursors SET epoch = epoch - 1, entry = 3 WHERE bucket = ${account.row.bucket}`;
  await sql`DELETE FROM operations USING accounts a
    WHERE a.number = account AND a.id = ${account.row.id} AND kind = 'adjustment'`;
  await flushForAudit(world.accounts.scripts, new Ledger(world.database));
  await cli("backup", join(folders, "behind"));
  expect(await witnessOf(account)).toEqual(witness);
  const { lost } = jsonOf(await cli("restore", "--dry-run", "--json"));
  expect(lost.wallets_ahead).toMatchObject([
    { account: account.row.id, lost: [{ kind: "adjustment", amount_usd: "3" }] },
  ]);
  expect(jsonOf(await cli("restore", "--yes", "--json"))).toMatchObject({ ok: true });
});

test("a backup names the buckets that wait and are not in it", async () => {
  const account = await openUsed();
  await gift(account);
  const { sql } = world.database;
  await sql`DELETE FROM operations USING accounts a
    WHERE a.number = account AND a.id = ${account.row.id} AND kind = 'adjustment'`;
  const { code, err } = await cli("backup", join(folders, "waiting"));
  expect(code).toBe(0);
  expect(err).toContain(`Bucket ${account.row.bucket} could not be moved to Postgres first`);
  expect(jsonOf(await cli("restore", "--yes", "--json"))).toMatchObject({ ok: true });
});

test("a restore into a new database names the records that only Redis has", async () => {
  const [account, quiet] = [await openUsed(), await openUsed()];
  const folder = join(folders, "whole");
  expect((await cli("backup", folder)).code).toBe(0);
  await gift(account);
  const newcomer = await openUsed();
  const witness = await witnessOf(account);

  await using spare = await createTestDatabase();
  const elsewhere = await cliOf(world, { DATABASE_URL: spare.url });
  const { lost } = jsonOf(await elsewhere("restore", folder, "--dry-run", "--json"));
  const given = { kind: "adjustment", amount_usd: "3" };
  expect(lost.wallets_ahead).toHaveLength(2);
  expect(lost.wallets_ahead).toContainEqual(
    expect.objectContaining({
      account: account.row.id,
      operations: 1,
      paid_usd: "13",
      lost: [expect.objectContaining(given)],
    }),
  );
  expect(lost.wallets_ahead).toContainEqual(
    expect.objectContaining({ account: newcomer.row.id, operations: null }),
  );
  expect(await witnessOf(account)).toEqual(witness);
  const done = jsonOf(await elsewhere("restore", folder, "--yes", "--json"));
  expect(done).toMatchObject({ ok: true, problems: [], lost });
  const { balance } = jsonOf(await elsewhere("account", "show", quiet.row.id, "--json"));
  expect(balance).toMatchObject({ paid_usd: 10, free_usd: 4.99 });
});

test("a restore that cannot reach the queue's Redis leaves the money Redis unchanged", async () => {
  const account = await openUsed();
  const witness = await witnessOf(account);
  const away = await cliOf(world, { QUEUE_REDIS_URL: "redis://127.0.0.1:1" });
  const { code } = await away("restore", "--yes");
  expect(code).toBe(1);
  expect(await witnessOf(account)).toEqual(witness);
});
