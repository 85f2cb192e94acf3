// Tests that the command line shows the receipts of the servers, and signs none that nobody could
// verify.

import { expect, test } from "bun:test";
import { verifyReceipt } from "../../../src/core/receipts/receipt-jws.ts";
import { receiptKeyOf, receiptSecretsOf } from "../../../src/core/receipts/receipt-keys.ts";
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
