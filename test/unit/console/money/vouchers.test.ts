// Tests vouchers that people redeem in the console: once to an account, once to a person where the
// batch says so, by limited attempts, and once however many processes redeem a code.

import { expect, test } from "bun:test";
import { issueVouchers, type VoucherOrder } from "../../../../src/accounts/vouchers.ts";
import type { RedeemedVoucherReply } from "../../../../src/console/money/billing-schema.ts";
import { newVoucherCode } from "../../../../src/core/access/voucher-codes.ts";
import { voucherDigest } from "../../../../src/core/access/voucher-digest.ts";
import type { PlanReply } from "../../../../src/readings/offers/plan.ts";
import type { OverviewReply } from "../../../../src/readings/overview.ts";
import { redeemVoucher } from "../../../../src/store/payments/vouchers.ts";
import { ConsoleWorld } from "../../../support/api/console-world.ts";
import { jsonOf, startCli } from "../../../support/product/run-cli.ts";
import { random } from "../../../support/random.ts";
import { shared } from "../../../support/shared.ts";
import { voucherOrder } from "../../../support/stores/vouchers.ts";
import { openAccount, openWorld, usd } from "../../../support/stores/world.ts";

const ATTEMPTS_MAX = 20;
const FREE = { kind: "free", amount: usd("3"), days: 30 } as const;

const world = await shared(ConsoleWorld.start());
let batches = 0;

async function codesOf(
  count: number,
  more: Partial<VoucherOrder> = {},
): Promise<readonly string[]> {
  batches += 1;
  const order = voucherOrder(`console-${batches}`, { count, usesMax: 10, ...more });
  const { accounts } = world.api.parts.stores;
  return await issueVouchers({ accounts }, order, async () => {});
}

async function redeem(account: { readonly id: string }, code: string, who = "billing" as const) {
  const path = `/accounts/${account.id}/vouchers/redeem`;
  return await world.post<RedeemedVoucherReply>(who, path, { code });
}

test("a person redeems a code once for an account, and the activity has their name", async () => {
  const account = await world.account({ free: "0" });
  const [code = ""] = await codesOf(1);
  const first = await redeem(account, ` ${code.toUpperCase()} `);
  expect(first.body).toEqual({
    amount_usd: "3",
    free_until: null,
    plan: null,
    plan_until: null,
    is_repeated: false,
    applied: true,
  });
  expect((await redeem(account, code)).body).toMatchObject({ is_repeated: true });
  const { sql } = world.api.parts.stores.database;
  const lines = await sql`SELECT actor FROM activity
    WHERE account = ${account.row.number} AND action = 'voucher_redeemed'`;
  expect(lines.map(({ actor }) => actor)).toEqual(["billing@example.com"]);
  const operations = await sql`SELECT actor, reason FROM operations
    WHERE account = ${account.row.number} AND kind = 'adjustment'`;
  expect([...operations]).toEqual([{ actor: "billing", reason: `voucher console-${batches}` }]);
});

test("a batch that is once per person gives a second account of the person nothing", async () => {
  const [mine, other] = [await world.account({ free: "0" }), await world.account({ free: "0" })];
  const [one = "", two = ""] = await codesOf(2, { oncePerPerson: true });
  expect((await redeem(mine, one)).status).toBe(200);
  const again = await redeem(other, two);
  expect([again.status, again.code]).toEqual([409, "voucher_person"]);
  // Another batch counts by itself, and the refused code can still be redeemed by another person.
  const [three = ""] = await codesOf(1, { oncePerPerson: true });
  expect((await redeem(other, three)).status).toBe(200);
});

test("an account gets one code of such a batch, also if its people enter one each", async () => {
  const account = await world.account({ free: "0" });
  const [one = "", two = ""] = await codesOf(2, { oncePerPerson: true });
  expect((await redeem(account, one)).status).toBe(200);
  // Another person, with an inbox, a network and a device of their own.
  const marks = ["inbox", "network", "device"] as const;
  const marksFor = (batch: string) => ({
    marks: marks.map((kind) => ({ kind, hash: `${kind} of a stranger for ${batch}` })),
    isDisposable: false,
  });
  const { stores } = world.api.parts;
  const terms = { account: account.row, digest: voucherDigest(two) ?? "", now: new Date() };
  const stranger = { ...terms, actor: "stranger", marksFor };
  expect(await redeemVoucher(stores.database, stranger)).toEqual({ is: "person" });
  const other = await world.account({ free: "0" });
  const elsewhere = { ...stranger, account: other.row };
  expect(await redeemVoucher(stores.database, elsewhere)).toMatchObject({ is: "redeemed" });
});

test("free credit of a batch is for a person once, and shown with its end", async () => {
  const [mine, other] = [await world.account({ free: "0" }), await world.account({ free: "0" })];
  const [one = "", two = ""] = await codesOf(2, { gift: FREE });
  const { body } = await redeem(mine, one);
  expect(body).toMatchObject({ amount_usd: "3", free_until: expect.stringMatching(/Z$/) });
  const path = `/accounts/${mine.id}/overview`;
  const { body: overview } = await world.get<OverviewReply>("billing", path);
  expect(overview.balance).toMatchObject({
    free_usd: "3",
    free_expires_at: body.free_until,
    free_lots: [{ amount_usd: "3", ends_at: body.free_until }],
  });
  const again = await redeem(other, two);
  expect([again.status, again.code]).toEqual([409, "voucher_person"]);
});

test("a plan of a batch is for a person once, and its page says when it ends", async () => {
  const terms = { surface: "application", free: "0" } as const;
  const [mine, other] = [await world.account(terms), await world.account(terms)];
  const [one = "", two = ""] = await codesOf(2, { gift: { kind: "plan", plan: "pro", months: 3 } });
  const { body } = await redeem(mine, one);
  expect(body).toMatchObject({ amount_usd: null, plan: "pro", is_repeated: false });
  const { body: shown } = await world.get<PlanReply>("viewer", `/accounts/${mine.id}/plan`);
  expect(shown).toMatchObject({
    plan: "pro",
    price_usd: "0",
    paid_until: body.plan_until,
    next_plan: "free",
    is_due: false,
  });
  expect((await redeem(mine, one)).body).toEqual({ ...body, is_repeated: true });
  const again = await redeem(other, two);
  expect([again.status, again.code]).toEqual([409, "voucher_person"]);
  const gateway = await redeem(await world.account({ free: "0" }), two);
  expect([gateway.status, gateway.code]).toEqual([409, "voucher_plan"]);
});

test("unknown and malformed codes are refused, and too many attempts for a while", async () => {
  const account = await world.account({ free: "0" });
  const unknown = await redeem(account, newVoucherCode(random));
  expect([unknown.status, unknown.code, unknown.message]).toEqual([
    404,
    "voucher_unknown",
    "There is no such voucher",
  ]);
  const empty = await redeem(account, "");
  expect([empty.status, empty.message]).toEqual([400, expect.stringContaining("code")]);
  const [code = ""] = await codesOf(1);
  let last = unknown;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) last = await redeem(account, "no");
  expect([last.status, last.code]).toEqual([429, "too_many_attempts"]);
  expect((await redeem(account, code)).code).toBe("too_many_attempts");
});

test.each([
  ["bonus credit", { kind: "bonus", amount: usd("3") }],
  ["free credit", FREE],
] as const)("of processes that redeem the last use of %s at once, one gets it", async (_, gift) => {
  await using stores = await openWorld();
  const accounts = await Promise.all(Array.from({ length: 3 }, () => openAccount(stores)));
  const order = voucherOrder("race", { gift });
  const [code = ""] = await issueVouchers({ accounts: stores.store }, order, async () => {});
  const processes = await Promise.all(
    accounts.map(({ row }) => startCli(stores, ["voucher", "redeem", row.id, code, "--json"])),
  );
  const outcomes = await Promise.all(
    processes.map(async (child) => ({
      code: await child.exited,
      out: await new Response(child.stdout).text(),
      err: await new Response(child.stderr).text(),
    })),
  );
  const done = outcomes.filter((one) => one.code === 0);
  expect(done.map((one) => jsonOf(one).amount_usd)).toEqual([3]);
  const refused = outcomes.filter((one) => one.code !== 0);
  const words = expect.stringContaining("as often as it can be");
  expect(refused.map(({ err }) => err)).toEqual([words, words]);
  const [sum] = await stores.database.sql`SELECT count(*)::int AS n FROM voucher_redemptions`;
  expect(sum?.n).toBe(1);
});
