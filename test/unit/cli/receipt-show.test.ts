// Tests that the command line shows the receipts and statements of the servers, and signs none
// that could not be verified.

import { expect, test } from "bun:test";
import { monthText } from "../../../src/core/money/months.ts";
import { verifyReceipt } from "../../../src/core/receipts/receipt-jws.ts";
import { receiptKeyOf, receiptSecretsOf } from "../../../src/core/receipts/receipt-keys.ts";
import { verifyStatement } from "../../../src/core/receipts/statement-jws.ts";
import { adoptReceiptKeys } from "../../../src/store/usage/receipts.ts";
import { cliOf, jsonOf } from "../../support/product/run-cli.ts";
import { shared } from "../../support/shared.ts";
import {
  DONE,
  hold,
  openAccount,
  openWorld,
  usd,
  WORLD_PEPPER,
} from "../../support/stores/world.ts";

const world = await shared(openWorld());
const cli = await cliOf(world);
const [secret] = receiptSecretsOf(null, [WORLD_PEPPER]);
const { publicJwk } = receiptKeyOf(secret);
await adoptReceiptKeys(world.database, [publicJwk.x]);

async function chargedCall() {
  const account = await openAccount(world, { paid: "20" });
  const open = await hold(account, usd("1"));
  await open.settle(usd("0.25"), DONE);
  await world.flush();
  return { account: account.row.id, request: open.id };
}

test("a receipt is shown with the same bytes each time, and its signature is valid", async () => {
  const { account, request } = await chargedCall();
  const shown = jsonOf(await cli("receipt", "show", account, request, "--json"));
  expect(shown).toMatchObject({ request_id: request, number: 1, corrects: null });
  const { sub, receipt } = await verifyReceipt(shown.jws, [publicJwk]);
  expect([sub, receipt.cost_usd, receipt.hold_usd]).toEqual([account, "0.25", "1"]);
  const { out } = await cli("receipt", "show", account, request);
  expect(out).toBe(`receipt no. 1 of ${request}\n${shown.jws}\n`);
});

test("a request of another account, or of nobody, has none", async () => {
  const [one, other] = [await chargedCall(), await chargedCall()];
  const { code, err } = await cli("receipt", "show", one.account, other.request);
  expect(code).toBe(1);
  expect(err).toContain(other.request);
});

test("with another secret than that of the servers nothing is signed", async () => {
  const { account, request } = await chargedCall();
  const foreign = await cliOf(world, { RECEIPT_SECRET: "a secret of somebody else entirely" });
  const { code, err } = await foreign("receipt", "show", account, request);
  expect([code, err]).toEqual([1, expect.stringContaining("RECEIPT_SECRET is not that of the")]);
  const { sql } = world.database;
  expect(
    await sql`SELECT FROM receipts r JOIN accounts a ON a.number = r.account
    WHERE a.id = ${account}`,
  ).toHaveLength(0);
});

test("the statement of a month adds up to its calls, and its signature is valid", async () => {
  const account = await openAccount(world, { paid: "20", free: "0" });
  const { id } = account;
  await (await hold(account, usd("1"))).settle(usd("0.25"), DONE);
  await (await hold(account, usd("1"))).settle(usd("0.5"), DONE);
  const month = monthText(Date.now());
  const words = ["statement", "show", id, "--month", month] as const;
  const shown = jsonOf(await cli(...words, "--json"));
  const { sub, statement } = await verifyStatement(shown.jws, [publicJwk]);
  expect([sub, statement]).toEqual([id, shown.statement]);
  expect(statement).toMatchObject({
    month,
    is_over: false,
    opening: { paid_usd: "0" },
    closing: { paid_usd: "19.25", owed_usd: "0" },
    calls: { charged: 2, cost_usd: "0.75" },
    charges: [{ service: "chat", model: "m", cost_usd: "0.75" }],
  });
  const { out } = await cli(...words);
  const lines = out.trimEnd().split("\n");
  expect(lines.slice(0, 2)).toEqual([`statement of ${id}`, `month ${month}, which has not ended`]);
  expect(out).toMatch(/^ {2}opening +\$0 +\$0$/m);
  expect(out).toMatch(/^ {2}charge +2 +-\$0\.75 +\$0$/m);
  expect(out).toMatch(/^ {2}closing +\$19\.25 +\$0\n2 calls were charged \$0\.75\n/m);
  expect(out).toContain("\n  chat  m  $0.75\n");
  const printed = await verifyStatement(lines.at(-1) ?? "", [publicJwk]);
  expect(printed.statement).toEqual(statement);
  expect((await cli("statement", "show", id, "--month", "2026-01")).out).toContain(
    "month 2026-01\n",
  );
});

test("a statement of a future month, of no account, or by another secret is refused", async () => {
  const { id } = await openAccount(world);
  const foreign = await cliOf(world, { RECEIPT_SECRET: "a secret of somebody else entirely" });
  const month = monthText(Date.now());
  for (const [asked, words, code, message] of [
    [cli, [id], 2, "needs --month MONTH"],
    [cli, [id, "--month", "9999-12"], 2, "--month 9999-12 has not begun"],
    [cli, [id, "--month", "november"], 2, "--month must be a month such as 2026-11"],
    [cli, ["acct_0000000000000000000000", "--month", month], 1, "There is no account"],
    [foreign, [id, "--month", month], 1, "RECEIPT_SECRET is not that of the servers"],
  ] as const) {
    const refused = await asked("statement", "show", ...words);
    expect([refused.code, refused.err]).toEqual([code, expect.stringContaining(message)]);
  }
});
