// Tests top-ups through the whole product: the API takes the events, workers process them, and any
// of them may be killed. PAYMENT_KILLS is the number of kills of the three processes.

import { expect, setDefaultTimeout, test } from "bun:test";
import { eventually } from "../../support/eventually.ts";
import { type PaidProduct, startPaidProduct } from "../../support/product/paid-product.ts";
import { cliProcess, jsonOf } from "../../support/product/run-cli.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { usd } from "../../support/stores/world.ts";

const KILLS = Number(process.env.PAYMENT_KILLS ?? 8);
setDefaultTimeout(300_000 + KILLS * 10_000);

const OK_CARD = "4242424242424242";
const WITHIN_MS = 60_000;

/** A command of the tool that must succeed. */
async function farebox({ product, env }: PaidProduct, ...args: readonly string[]) {
  return jsonOf(await cliProcess([...args, "--json"], { env: { ...product.env, ...env } }));
}

async function paidBalance({ product }: PaidProduct, { id, bucket }: TestAccount): Promise<bigint> {
  return (await product.operator.actors.of(id, bucket).state()).wallet.paid;
}

async function payOn(url: string): Promise<void> {
  await fetch(url, { method: "POST", body: new URLSearchParams({ card: OK_CARD }) });
}

test("a link is paid, credited, charged again, refunded and disputed", async () => {
  await using started = await startPaidProduct({ workers: 2, apis: 1 });
  const { product, sandbox } = started;
  const account = await product.account();
  const balance = (amount: string) =>
    eventually(
      `the balance is $${amount}`,
      async () => (await paidBalance(started, account)) === usd(amount),
      WITHIN_MS,
    );
  const link = await farebox(started, "topup", "link", account.id, "--usd", "20", "--save-card");
  await payOn(link.url);
  await balance("20");
  const [card] = (await farebox(started, "topup", "cards", account.id)).cards;
  expect(card).toMatchObject({ brand: "visa", last_four: "4242" });
  await farebox(started, "topup", "charge", account.id, "--usd", "10", "--card", card.id);
  await balance("30");
  await farebox(started, "topup", "refund", link.id, "--usd", "5", "--id", "R1");
  await farebox(started, "topup", "refund", link.id, "--usd", "5", "--id", "R1");
  await balance("25");
  const [charged] = (await farebox(started, "topup", "list", account.id)).top_ups;
  const { intent } = { ...(await intentOf(started, charged.id)) };
  const dispute = sandbox.actions.dispute(intent, "needs_response");
  await balance("15");
  sandbox.actions.moveDispute(dispute.id, "won");
  await balance("25");
  expect((await product.audit()).difference).toBeNull();
  expect(await farebox(started, "audit", "--payments")).toMatchObject({ ok: true, payments: 2 });
});

async function intentOf(
  { product }: PaidProduct,
  id: string,
): Promise<{ readonly intent: string }> {
  const [row] = await product.operator.database.sql`SELECT intent FROM top_ups WHERE id = ${id}`;
  return { intent: String(row?.intent) };
}

test("kill -9 of workers and API while events arrive loses and doubles nothing", async () => {
  await using started = await startPaidProduct({ workers: 2, apis: 1 });
  const { product } = started;
  const accounts = await Promise.all(Array.from({ length: KILLS }, () => product.account()));
  for (const [round, account] of accounts.entries()) {
    const link = await farebox(started, "topup", "link", account.id, "--usd", "20");
    await payOn(link.url);
    const program = product.programs[round % product.programs.length];
    await program?.kill9();
    await program?.start();
  }
  for (const account of accounts) {
    await eventually(
      "every payment is credited",
      async () => (await paidBalance(started, account)) === usd("20"),
      WITHIN_MS,
    );
  }
  const { sql } = product.operator.database;
  const rows = await sql`SELECT count(*)::int AS n FROM payments WHERE provider = 'sandbox'`;
  expect(rows[0]?.n).toBe(accounts.length);
  expect((await product.audit()).difference).toBeNull();
});

test("an automatic top-up is charged while calls run, once", async () => {
  await using started = await startPaidProduct({ workers: 2, apis: 1 });
  const { product, sandbox } = started;
  const account = await product.account();
  const link = await farebox(started, "topup", "link", account.id, "--usd", "20", "--save-card");
  await payOn(link.url);
  await eventually(
    "the link is credited",
    async () => (await paidBalance(started, account)) === usd("20"),
    WITHIN_MS,
  );
  const auto = ["--usd", "30", "--below", "25", "--month", "90", "--consent"];
  await farebox(started, "topup", "auto", account.id, ...auto);
  const call = () =>
    fetch(`${product.api(0).url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${account.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "ok", messages: [{ role: "user", content: "Hello" }] }),
    });
  const answers = await Promise.all(Array.from({ length: 4 }, call));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  await eventually(
    "the automatic top-up is credited",
    async () => (await paidBalance(started, account)) > usd("45"),
    WITHIN_MS,
  );
  const intents = sandbox.actions.store.list("payment_intent");
  expect(intents.map(({ amount, status }) => [amount, status])).toEqual([
    [3_000, "succeeded"],
    [2_000, "succeeded"],
  ]);
});
