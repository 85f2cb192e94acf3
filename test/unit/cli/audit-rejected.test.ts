// Tests rejected entries of a bucket that was rebuilt since: their numbers in the ledger are
// reused.

import { expect, test } from "bun:test";
import { operationIn } from "../../../actors/records/records.ts";
import { type EntryPlace, RejectedEntries } from "../../../src/store/ledger/rejected-entries.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import {
  auditOne,
  damageLedger,
  flushWithout,
  found,
  rebuiltWithoutGift,
} from "../../support/stores/audit-lab.ts";
import { DONE, hold, openAccountAlone, openWorld, usd } from "../../support/stores/world.ts";

const world = await shared(openWorld());

async function spend(account: TestAccount, cost = "0.01"): Promise<void> {
  await (await hold(account, usd("0.5"))).settle(usd(cost), DONE);
}

/** An account whose last charge Postgres refused. */
async function withRefusedCharge(): Promise<TestAccount> {
  const account = await openAccountAlone(world);
  await spend(account);
  await spend(account, "0.25");
  await flushWithout(world, "free_delta = -250000000");
  expect((await auditOne(world, account)).rejected).toHaveLength(1);
  return account;
}

/** An account whose last charge Postgres refused, in a bucket that was then rebuilt. */
async function rebuiltWithout(): Promise<TestAccount> {
  const account = await withRefusedCharge();
  await world.accounts.rebuild([{ bucket: account.row.bucket }]);
  await account.actor.state();
  return account;
}

test("an entry that a rebuild left out is no hole in the ledger, before and after", async () => {
  const account = await rebuiltWithout();
  expect(await found(world, account)).toBe("");
  await spend(account);
  await spend(account);
  const { difference, rejected } = await auditOne(world, account);
  expect([difference, rejected.length]).toEqual([null, 1]);
});

const rejected = () => new RejectedEntries(world.database);
const setAside = (place: EntryPlace, reason: string) =>
  rejected().setAside(place, reason, operationIn);

async function placeOfOnly({ row }: TestAccount) {
  const open = (await rejected().openRejections()).filter(({ account }) => account === row.id);
  const [first] = open;
  if (first === undefined || open.length > 1) throw new Error(`${open.length} entries are open`);
  return first;
}

test("an entry that a rebuild left out can be set aside: no audit names it any more", async () => {
  const account = await rebuiltWithout();
  const before = await rejected().countOpen();
  const place = await placeOfOnly(account);
  expect(await setAside(place, "the customer was told")).toBe("not counted");
  expect(await rejected().countOpen()).toBe(before - 1);
  await spend(account);
  expect(await auditOne(world, account)).toMatchObject({ difference: null, rejected: [] });
  expect(await rejected().contentOf(place)).toBeNull();
  await expect(setAside(place, "again")).rejects.toMatchObject({ code: "not_found" });
  const [row] = await world.database.sql`
    SELECT set_aside_reason AS reason FROM rejected_entries WHERE account = ${account.row.id}`;
  expect(row?.reason).toBe("the customer was told");
});

test("a hole that was set aside is still no difference", async () => {
  const account = await withRefusedCharge();
  await spend(account);
  await world.flush();
  await world.accounts.rebuild([{ bucket: account.row.bucket }]);
  await account.actor.state();
  const place = await placeOfOnly(account);
  expect(await setAside(place, "the ledger goes on after it")).toBe("counted");
  await spend(account);
  expect(await auditOne(world, account)).toMatchObject({ difference: null, rejected: [] });
});

test("an operation whose entry is set aside is applied by the rebuild", async () => {
  const account = await rebuiltWithoutGift(world, { paid: "10" });
  expect((await account.actor.view(account.keyId)).paid).toBe(usd("13"));
  expect(await setAside(await placeOfOnly(account), "written anew")).toBe("counted");
  await world.flush();
  expect(await auditOne(world, account)).toMatchObject({ difference: null, rejected: [] });
});

test("of two rejected entries with one number only the later one is in a balance", async () => {
  const account = await rebuiltWithout();
  await spend(account, "0.25");
  await flushWithout(world, "free_delta = -250000000");
  await spend(account);
  await world.flush();
  const open = (await rejected().openRejections()).filter((one) => one.account === account.row.id);
  const [older, newer] = open.toSorted((a, b) => a.epoch - b.epoch);
  if (older === undefined || newer === undefined)
    throw new Error("Two entries were to be rejected");
  expect([newer.seq, newer.epoch > older.epoch]).toEqual([older.seq, true]);
  await world.accounts.rebuild([{ bucket: account.row.bucket }]);
  expect(await setAside(older, "left out")).toBe("not counted");
  expect(await setAside(newer, "carried")).toBe("counted");
});

test("an entry that may be in a balance cannot be set aside", async () => {
  const account = await withRefusedCharge();
  const refused = setAside(await placeOfOnly(account), "to be rid of it");
  await expect(refused).rejects.toMatchObject({ code: "wrong_state" });
  expect((await auditOne(world, account)).rejected).toHaveLength(1);
});

test("a charge with the number of a rejected entry is compared with its log row", async () => {
  const account = await rebuiltWithout();
  await spend(account, "0.02");
  await world.flush();
  await damageLedger(
    world,
    account,
    (number) => `DELETE FROM request_log WHERE account = ${number} AND cost = 20000000`,
  );
  expect(await found(world, account)).toContain("the request log's cost of req_");
});

test("a charge that was refused hides no credit that is not applied", async () => {
  const account = await openAccountAlone(world);
  await spend(account, "0.25");
  await spend(account);
  await flushWithout(world, "free_delta = -250000000");
  expect(await found(world, account)).toBe("");
  const terms = { kind: "adjustment", amount: usd("3"), reason: "gift", reference: null } as const;
  await world.store.adjust(account.row, terms);
  await world.database.sql`UPDATE operations SET created_at = created_at - interval '1 hour'
    WHERE account = ${account.row.number} AND kind = 'adjustment'`;
  expect(await found(world, account)).toMatch(/expected applied, found not applied after 36\d\d s/);
});
