// Tests vouchers: each use of a code counts once, however many processes redeem it, and a code that
// is unknown, over or not for the account gives nothing.

import { expect, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { grantFree } from "../../../src/accounts/administration.ts";
import { issueVouchers, redeem, type VoucherOrder } from "../../../src/accounts/vouchers.ts";
import { newVoucherCode } from "../../../src/core/access/voucher-codes.ts";
import { voucherDigest } from "../../../src/core/access/voucher-digest.ts";
import { DAY_MS } from "../../../src/core/durations.ts";
import { FREE_LOTS_MAX } from "../../../src/core/money/free-lots.ts";
import { redeemVoucher } from "../../../src/store/payments/vouchers.ts";
import { cliOf, jsonOf } from "../../support/product/run-cli.ts";
import { random } from "../../support/random.ts";
import { shared, sharedFolder } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { voucherOrder } from "../../support/stores/vouchers.ts";
import {
  administrationOf,
  DONE,
  hold,
  openAccount,
  openWorld,
  pay,
  usd,
} from "../../support/stores/world.ts";

const world = await shared(openWorld());
const folder = sharedFolder("vouchers");
const cli = await cliOf(world);

const deps = () => administrationOf(world);

const bonus = (amount: string) => ({ kind: "bonus", amount: usd(amount) }) as const;
const free = (days: number, amount = "3") => ({ kind: "free", amount: usd(amount), days }) as const;

let batches = 0;

async function codesOf(more: Partial<VoucherOrder> = {}): Promise<readonly string[]> {
  batches += 1;
  return await issueVouchers(deps(), voucherOrder(`batch-${batches}`, more), async () => {});
}

async function codeOf(more: Partial<VoucherOrder> = {}): Promise<string> {
  return (await codesOf(more))[0] ?? "";
}

async function paidOf({ actor, keyId }: TestAccount): Promise<bigint> {
  await actor.applyOperations();
  return (await actor.view(keyId)).paid;
}

test("a code gives its credit once to an account, and a repeat gives nothing more", async () => {
  const account = await openAccount(world);
  const code = await codeOf({ usesMax: 5 });
  const typed = ` ${code.toUpperCase().replaceAll("-", " ")} `;
  expect(await redeem(deps(), account.row.id, { code })).toMatchObject({ isRepeated: false });
  expect(await redeem(deps(), account.row.id, { code: typed })).toMatchObject({ isRepeated: true });
  expect(await paidOf(account)).toBe(usd("3"));
});

test("of many accounts that redeem one code at once, as many get it as it has uses", async () => {
  const accounts = await Promise.all(Array.from({ length: 8 }, () => openAccount(world)));
  const code = await codeOf({ usesMax: 3 });
  const tries = accounts.flatMap((account) => [account, account]);
  const results = await Promise.allSettled(
    tries.map(({ row }) => redeem(deps(), row.id, { code })),
  );
  const first = results.filter((one) => one.status === "fulfilled" && !one.value.isRepeated);
  expect(first).toHaveLength(3);
  const balances = await Promise.all(accounts.map(paidOf));
  expect(balances.reduce((all, one) => all + one, 0n)).toBe(usd("9"));
  expect(balances.every((one) => one === 0n || one === usd("3"))).toBe(true);
});

test("a redemption whose process dies before Redis has it is applied later, once", async () => {
  const account = await openAccount(world);
  const code = await codeOf();
  // The state that a process killed between Postgres and Redis leaves.
  const terms = { account: account.row, digest: voucherDigest(code) ?? "", now: new Date() };
  const stored = await redeemVoucher(world.database, {
    ...terms,
    actor: "operator",
    marksFor: null,
  });
  expect(stored).toMatchObject({ is: "redeemed" });
  expect(await redeem(deps(), account.row.id, { code })).toMatchObject({ isRepeated: true });
  expect(await paidOf(account)).toBe(usd("3"));
});

test("a code that is over, unknown or not for the account gives nothing", async () => {
  const account = await openAccount(world);
  const other = await openAccount(world);
  const ended = await codeOf({ endsAt: new Date(Date.now() - 1) });
  const used = await codeOf();
  await redeem(deps(), other.row.id, { code: used });
  const starter = await codeOf({ tiers: ["starter"] });
  const wrong: readonly (readonly [code: string, words: string])[] = [
    [ended, "The voucher has ended"],
    [used, "was redeemed as often as it can be"],
    [starter, "not for the tier of this account"],
    [newVoucherCode(random), "There is no such voucher"],
    ["", "There is no such voucher"],
    ["%", "There is no such voucher"],
  ];
  for (const [code, words] of wrong) {
    await expect(redeem(deps(), account.row.id, { code })).rejects.toThrow(words);
  }
  expect(await paidOf(account)).toBe(0n);
  await pay(world, account, usd("10"));
  expect(await redeem(deps(), account.row.id, { code: starter })).toMatchObject({
    isRepeated: false,
  });
});

test("credit of a voucher is no payment: the tier stays", async () => {
  const account = await openAccount(world);
  await redeem(deps(), account.row.id, { code: await codeOf({ gift: bonus("100") }) });
  const starter = await codeOf({ tiers: ["starter"] });
  await expect(redeem(deps(), account.row.id, { code: starter })).rejects.toThrow(
    "not for the tier",
  );
});

test("a code has 120 random bits, and its digest is found from the typed code", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 15, maxLength: 15 }), (bytes) => {
      const code = newVoucherCode(() => bytes);
      expect(code).toMatch(/^([a-z2-7]{4}-){5}[a-z2-7]{4}$/);
      const digest = voucherDigest(code);
      expect(digest).toMatch(/^[0-9a-f]{64}$/);
      const typed = code.toUpperCase().replaceAll("O", "0").replaceAll("L", "1");
      expect(voucherDigest(typed.replaceAll("B", "8").replaceAll("-", ""))).toBe(digest);
    }),
  );
});

test("the command line makes, lists, redeems and ends a batch; no code is stored", async () => {
  const account = await openAccount(world);
  const path = join(folder, "summer.csv");
  const made = ["voucher", "create", "summer", "--usd", "2.5", "--count", "3", "--out", path];
  expect((await cli(...made)).code).toBe(0);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const [head, line = ""] = readFileSync(path, "utf8").split("\r\n");
  expect(head).toBe("code,usd,uses,link,free_days,plan,months");
  const [code = ""] = line.split(",");
  const again = await cli(...made);
  expect([again.code, again.err]).toEqual([2, expect.stringContaining("must be a new file")]);
  const renamed = await cli(...made.slice(0, -1), join(folder, "other.csv"));
  expect([renamed.code, renamed.err]).toEqual([1, expect.stringContaining("is a batch 'summer'")]);
  expect(jsonOf(await cli("voucher", "redeem", account.row.id, code, "--json"))).toMatchObject({
    amount_usd: 2.5,
    repeated: false,
    applied: true,
  });
  const { batches } = jsonOf(await cli("voucher", "list", "--json"));
  expect(batches[0]).toMatchObject({ batch: "summer", codes: 3, used: 1, usesMax: 3, usd: 2.5 });
  const stored = await world.database.sql`SELECT row_to_json(v)::text AS row FROM vouchers v`;
  expect(JSON.stringify(stored)).not.toContain(code.slice(0, 9));
  const [activity] = await world.database.sql`
    SELECT action FROM activity WHERE account = ${account.row.number} AND action LIKE 'voucher%'`;
  expect(activity?.action).toBe("voucher_redeemed");
  expect((await cli("voucher", "end", "summer")).out).toContain("Ended 3 codes of summer.");
  const other = await openAccount(world);
  const late = await cli("voucher", "redeem", other.row.id, code);
  expect([late.code, late.err]).toEqual([1, expect.stringContaining("has ended")]);
  const wrong: readonly (readonly [args: readonly string[], words: string])[] = [
    [["create", "x y", "--usd", "1", "--out", "f"], "NAME must be"],
    [["create", "x", "--usd", "0", "--out", "f"], "--usd"],
    [["create", "x", "--usd", "1", "--out", "f", "--count", "5001"], "--count must be a whole"],
    [["create", "x", "--usd", "1", "--out", "f", "--tiers", "gold"], "--tiers must be of free"],
    [["create", "x", "--usd", "1", "--out", "f", "--ends", "2020-01-01"], "--ends must be in the"],
    [["create", "x", "--usd", "1", "--out", "f", "--free-days", "0"], "--free-days must be"],
    [["create", "x", "--out", "f"], "--usd or --plan is required"],
    [["create", "x", "--usd", "1", "--months", "2", "--out", "f"], "--months is for --plan"],
    [["create", "x", "--plan", "free", "--out", "f"], "--plan must be one of starter, pro, max"],
    [["create", "x", "--plan", "pro", "--months", "37", "--out", "f"], "--months must be a whole"],
    [["create", "x", "--plan", "pro", "--usd", "1", "--out", "f"], "--usd is for credit"],
    [["create", "x", "--plan", "pro", "--tiers", "free", "--out", "f"], "--tiers is for credit"],
    [["end", "winter"], "no batch 'winter'"],
  ];
  for (const [args, words] of wrong) expect((await cli("voucher", ...args)).err).toContain(words);
});

test("a free voucher gives a lot of its own, which ends by itself and is spent first", async () => {
  const account = await openAccount(world);
  const code = await codeOf({ gift: free(30) });
  const { until } = await redeem(deps(), account.row.id, { code });
  const days = ((until?.getTime() ?? 0) - Date.now()) / DAY_MS;
  expect(days).toBeGreaterThan(29.9);
  expect(days).toBeLessThanOrEqual(30);
  const again = await redeem(deps(), account.row.id, { code });
  expect(again).toMatchObject({ isRepeated: true, until });
  expect(await paidOf(account)).toBe(0n);
  const { balance } = jsonOf(await cli("account", "show", account.row.id, "--json"));
  expect(balance).toMatchObject({ free_usd: 8, free_expires_at: until?.toISOString() });
  expect(balance.free_lots).toMatchObject([{ usd: 3, ends_at: until?.toISOString() }, { usd: 5 }]);
  const { out } = await cli("account", "show", account.row.id);
  expect(out).toMatch(/\$8: \$3 until .*, \$5 until/);
  expect((await cli("audit", account.row.id)).out).not.toContain("finding:");
});

test("free credit of a voucher does not count as the free credit of an account", async () => {
  const account = await openAccount(world, { free: "0" });
  await redeem(deps(), account.row.id, { code: await codeOf({ gift: free(30) }) });
  expect((await grantFree(deps(), account.row.id)).applied).toBe(true);
  await expect(grantFree(deps(), account.row.id)).rejects.toThrow("has had its free credit");
});

test("a batch of free credit is for a person once, and a person is not an operator", async () => {
  const [one = "", two = ""] = await codesOf({ gift: free(30), count: 2 });
  const marks = [{ kind: "inbox", hash: "an inbox of the tests" }] as const;
  const marksFor = () => ({ marks, isDisposable: false });
  const by = { actor: "person", marksFor };
  const [mine, other] = [await openAccount(world), await openAccount(world)];
  await redeem(deps(), mine.row.id, { code: one, by });
  await expect(redeem(deps(), other.row.id, { code: two, by })).rejects.toThrow("one person once");
  await redeem(deps(), other.row.id, { code: two });
});

test("of many lots, the one above the most is refused by name, and its code stays", async () => {
  const account = await openAccount(world);
  for (let days = 1; days < FREE_LOTS_MAX; days += 1) {
    await redeem(deps(), account.row.id, { code: await codeOf({ gift: free(days) }) });
  }
  const code = await codeOf({ gift: free(40) });
  await expect(redeem(deps(), account.row.id, { code })).rejects.toThrow("with 16 ends");
  await redeem(deps(), account.row.id, { code: await codeOf() });
  expect(await redeem(deps(), (await openAccount(world)).row.id, { code })).toMatchObject({
    isRepeated: false,
  });
  expect((await cli("audit", account.row.id)).out).not.toContain("finding:");
});

test("lots that are spent do not count among the most ends of an account", async () => {
  const account = await openAccount(world, { free: "0" });
  const codeFor = (days: number) => codeOf({ gift: free(days, "0.25") });
  for (let days = 1; days <= FREE_LOTS_MAX; days += 1) {
    await redeem(deps(), account.row.id, { code: await codeFor(days) });
  }
  await world.flush();
  const code = await codeFor(40);
  await expect(redeem(deps(), account.row.id, { code })).rejects.toThrow("with 16 ends");
  const call = await hold(account, usd("4"), { freeEligible: true });
  await call.settle(usd("4"), DONE);
  await world.flush();
  await redeem(deps(), account.row.id, { code });
  await world.flush();
  // Only the lot since then counts, although the ends of the spent ones are ahead.
  await redeem(deps(), account.row.id, { code: await codeFor(20) });
  await world.flush();
  expect((await cli("audit", account.row.id)).out).not.toContain("finding:");
});

test("the command line makes a batch of free credit, and its file has the days", async () => {
  const path = join(folder, "free.csv");
  const made = ["voucher", "create", "trial", "--usd", "2", "--free-days", "14", "--out", path];
  expect((await cli(...made)).code).toBe(0);
  const [, line = ""] = readFileSync(path, "utf8").split("\r\n");
  const [code = "", , , , days] = line.split(",");
  expect(days).toBe("14");
  const { out: listed } = await cli("voucher", "list");
  expect(listed).toMatch(/trial .*\$2, free for 14 days.*once per person/);
  const account = await openAccount(world);
  const { out } = await cli("voucher", "redeem", account.row.id, code);
  expect(out).toContain("$2 of free credit that ends ");
});

test("the audit finds nothing after redemptions", async () => {
  const account = await openAccount(world);
  await redeem(deps(), account.row.id, { code: await codeOf() });
  const { code, out, err } = await cli("audit", account.row.id);
  expect([code, err]).toEqual([0, ""]);
  expect(out).not.toContain("finding:");
});

test("a batch whose uses are above two thousand million is listed", async () => {
  await codesOf({ count: 3, usesMax: 1_000_000_000 });
  const { batches: listed } = jsonOf(await cli("voucher", "list", "--json"));
  expect(listed).toContainEqual(expect.objectContaining({ codes: 3, usesMax: 3_000_000_000 }));
});
