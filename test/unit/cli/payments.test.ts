import { describe, expect, test } from "bun:test";
import { cliOf, jsonOf } from "../../support/product/run-cli.ts";
import { shared } from "../../support/shared.ts";
import { found } from "../../support/stores/audit-lab.ts";
import { balances, DONE, hold, openAccount, openWorld, usd } from "../../support/stores/world.ts";

const world = await shared(openWorld());
const cli = await cliOf(world);

/** The JSON answer of a command that must succeed. */
async function run(...words: readonly string[]) {
  return jsonOf(await cli(...words, "--json"));
}

async function show(id: string) {
  return await run("account", "show", id);
}

test("each command with the same --id changes nothing twice and answers the first", async () => {
  const { row } = await openAccount(world);
  const record = ["payment", "record", row.id, "--usd", "20", "--bonus", "2", "--id", "in 1"];
  const recorded = await run(...record);
  expect(recorded).toMatchObject({ account: row.id, amount_usd: 20, bonus_usd: 2, applied: true });
  expect(await run(...record)).toEqual(recorded);

  const refund = ["payment", "refund", recorded.id, "--id", "re 1", "--usd"];
  const refunded = await run(...refund, "5");
  expect(refunded).toEqual({
    id: recorded.id,
    operation: 4,
    refunded_usd: 5,
    credit_removed_usd: 5.5,
    applied: true,
  });
  await run("payment", "refund", recorded.id, "--usd", "1");
  expect(await run(...refund, "5")).toEqual(refunded);

  const adjust = ["account", "adjust", row.id, "--reason", "goodwill", "--id", "ad 1", "--usd"];
  const adjusted = await run(...adjust, "-3.5");
  expect(adjusted).toMatchObject({
    id: row.id,
    operation: 6,
    amount_usd: -3.5,
    reason: "goodwill",
  });
  expect(await run(...adjust, "-3.5")).toEqual(adjusted);
  const forgive = ["account", "forgive", row.id, "--reason", "x", "--id", "fo 1", "--usd"];
  const forgiven = await run(...forgive, "1");
  expect(await run(...forgive, "1")).toEqual(forgiven);

  const texts = [await cli(...refund, "5"), await cli(...refund, "5")].map(({ out }) => out);
  expect(texts[0]).toBe(`Payment ${recorded.id}: $5 refunded, $5.5 of credit removed.\n`);
  expect(texts[1]).toBe(texts[0] ?? "");
  expect((await show(row.id)).balance.paid_usd).toBe(11.9);
});

test("an --id of another change is refused", async () => {
  const [one, two] = [await openAccount(world), await openAccount(world)];
  const { id } = await run("payment", "record", one.row.id, "--usd", "5", "--id", "taken");
  const other = await cli("payment", "record", two.row.id, "--usd", "5", "--id", "taken");
  expect([other.code, other.err]).toEqual([1, expect.stringContaining(`payment ${id} of account`)]);
  await run("account", "adjust", one.row.id, "--usd", "1", "--reason", "x", "--id", "mine");
  const mixed = await cli("payment", "refund", id, "--id", "mine", "--json");
  expect(mixed.code).toBe(1);
  expect(JSON.parse(mixed.out).error.code).toBe("reference_reused");
  expect((await show(two.row.id)).balance.paid_usd).toBe(0);
});

test("the id of a payment may be that of an adjustment too, and each is booked once", async () => {
  const account = await openAccount(world);
  const { id } = account.row;
  const more = ["--reason", "a discount", "--id", "invoice 1"];
  for (const _ of ["booked", "repeated"]) {
    await run("payment", "record", id, "--usd", "5", "--id", "invoice 1");
    await run("account", "adjust", id, "--usd", "2", ...more);
  }
  expect((await show(id)).balance.paid_usd).toBe(7);
  expect((await cli("account", "forgive", id, "--usd", "1", ...more)).code).toBe(1);
  expect(await found(world, account)).toBe("");
});

test("a refund takes the remaining amount, and a larger refund is refused by name", async () => {
  const { row } = await openAccount(world);
  const { id } = await run("payment", "record", row.id, "--usd", "20");
  await run("payment", "refund", id, "--usd", "12.5");
  const over = await cli("payment", "refund", id, "--usd", "12.5");
  expect([over.code, over.err]).toEqual([
    1,
    `The refund of payment ${id} must be at most $7.5, but is $12.5: ` +
      "of $20 $12.5 was refunded and $0 is disputed\n",
  ]);
  expect(await run("payment", "refund", id)).toMatchObject({ refunded_usd: 7.5 });
  const nothing = await cli("payment", "refund", id);
  expect([nothing.code, nothing.err]).toEqual([1, expect.stringContaining("Nothing is left")]);
  expect((await show(row.id)).tier.name).toBe("free");
});

test("a dispute suspends, and the spent part of it is owed until it is paid", async () => {
  const account = await openAccount(world, { paid: "50" });
  const { id } = account.row;
  const open = await hold(account, usd("15"));
  await open.settle(usd("15"), DONE);
  const [{ id: payment }] = (await show(id)).payments;
  const opened = await run("payment", "dispute", payment, "open");
  expect(opened).toMatchObject({ dispute: "open", disputed_usd: 50, credit_usd: -50 });
  expect(await show(id)).toMatchObject({
    state: "suspended",
    state_reason: "dispute",
    balance: { paid_usd: 0, owed_usd: 10 },
  });
  await run("payment", "record", id, "--usd", "4");
  expect(await show(id)).toMatchObject({ state: "suspended", balance: { owed_usd: 6 } });
  await run("payment", "dispute", payment, "lost");
  expect(await show(id)).toMatchObject({ state: "active", balance: { owed_usd: 6 } });
  const { out } = await cli("account", "show", id);
  expect(out).toContain("owed       $6, paid first by the next payment\n");
  expect(out).toMatch(new RegExp(`  ${payment}  \\$50  .* UTC  \\$50 dispute lost\n`));
  await run("account", "forgive", id, "--usd", "2", "--reason", "kept customer");
  await run("payment", "record", id, "--usd", "10");
  const { balance } = await show(id);
  expect(balance).toMatchObject({ paid_usd: 6, owed_usd: 0 });
  expect(await found(world, account)).toBe("");
  const won = await cli("payment", "dispute", payment, "won");
  expect(won.out).toBe(`Payment ${payment}: the dispute is won, $50 of credit restored.\n`);
  expect((await balances(account)).paid).toBe(usd("56"));
  expect(await found(world, account)).toBe("");
});

test.each(["0001-01-01", "1999-12-31T23:59:59Z", "3000-01-01"])(
  "a payment of the year in --at %s is refused: it is a slip",
  async (at) => {
    const { row } = await openAccount(world);
    const told = await cli("payment", "record", row.id, "--usd", "5", "--at", at);
    const rule = `--at must be in a year from 2000 to 2999, but is '${at}'`;
    expect([told.code, told.err]).toEqual([2, `${rule}\n`]);
  },
);

describe("payment list", () => {
  test("shows every payment with its amounts", async () => {
    const { row } = await openAccount(world);
    expect((await cli("payment", "list", row.id)).out).toBe(`payments of ${row.id}\n  none\n`);
    const at = ["--at", "2026-01-02T03:04Z"];
    const { id } = await run(
      "payment",
      "record",
      row.id,
      "--usd",
      "8",
      "--bonus",
      "1",
      "--id",
      "b",
      ...at,
    );
    await run("payment", "refund", id, "--usd", "2");
    expect(await run("payment", "list", row.id)).toEqual({
      account: row.id,
      payments: [
        {
          id,
          provider: "manual",
          provider_ref: "b",
          status: "succeeded",
          dispute: null,
          amount_usd: 8,
          bonus_usd: 1,
          refunded_usd: 2,
          disputed_usd: 0,
          purpose: "balance",
          fee_usd: 0,
          tax_usd: 0,
          receipt_url: null,
          paid_at: "2026-01-02T03:04:00.000Z",
        },
      ],
    });
    expect((await cli("payment", "list", row.id)).out).toContain(
      `  ${id}  $8  2026-01-02 03:04:00 UTC  $1 bonus, $2 refunded, id b\n`,
    );
  });
});
