// Tests in a real browser what a customer does with a voucher, by its link and by hand, and where a
// company finds its invoice.

import { describe, expect, test } from "bun:test";
import { newVoucherCode, voucherDigest } from "../../../src/core/access/voucher-codes.ts";
import { createVouchers } from "../../../src/store/payments/vouchers.ts";
import { sharedStage } from "../../support/product/browser-stage.ts";
import { random } from "../../support/random.ts";
import { usd } from "../../support/stores/world.ts";

const { canRun, running, ...stage } = await sharedStage({ STRIPE_INVOICES: "true" });
const { visitor: ada, account } = await stage.person("ada@example.com");

async function voucher(batch: string): Promise<string> {
  const code = newVoucherCode(random);
  await createVouchers(running.product.operator.database, {
    batch,
    digests: [voucherDigest(code) ?? ""],
    amount: usd("5"),
    usesMax: 1,
    tiers: null,
    oncePerPerson: true,
    endsAt: null,
    createdAt: new Date(),
  });
  return code;
}

describe.skipIf(!canRun)("a voucher", () => {
  test("of a link opens the reader's own account, and counts only after the button", async () => {
    const code = await voucher("by-link");
    await ada.page.goto(`${running.url}/dashboard/billing?voucher=${code}`);
    const dialog = ada.page.getByRole("dialog");
    expect(await dialog.getByLabel("Code of the voucher").inputValue()).toBe(code);
    expect(ada.page.url()).toContain(account);
    const { sql } = running.product.operator.database;
    const used = async () =>
      (await sql`SELECT used FROM vouchers WHERE batch = 'by-link'`)[0]?.used;
    expect(await used()).toBe(0);
    await ada.inspect("voucher");
    await dialog.getByRole("button", { name: "Redeem" }).click();
    await ada.sees("$5.00 was added to your balance.");
    expect(await used()).toBe(1);
    // The dialog closes after the figures of the page were read again.
    await ada.page.waitForURL((url) => !url.searchParams.has("voucher"));
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("that is typed wrong says so, and stays open", async () => {
    await ada.go(`${account}/billing`);
    await ada.button("Redeem a voucher").click();
    const dialog = ada.page.getByRole("dialog");
    await dialog.getByLabel("Code of the voucher").fill("no such code");
    await dialog.getByRole("button", { name: "Redeem" }).click();
    await ada.sees("There is no such voucher");
    ada.complaints.splice(0);
  });
});

describe.skipIf(!canRun)("a payment", () => {
  test("of a page has an invoice, which the billing page links", async () => {
    await ada.go(`${account}/billing?add=credit`);
    await ada.page.getByRole("textbox", { name: "Amount of credit in USD" }).fill("25");
    await ada.button("To the payment page").click();
    await ada.page.locator('input[value="4242424242424242"]').check();
    await ada.button(/^Pay /).click();
    await ada.page.waitForURL(/\/billing\?top_up=/);
    await ada.sees("$25.00 was added to your balance.");
    await ada.button(/^Invoice: pay_/).click();
    const invoice = ada.page.getByRole("dialog").getByRole("link", { name: /^Invoice SANDBOX-/ });
    await invoice.waitFor();
    await ada.inspect("invoice");
    const href = (await invoice.getAttribute("href")) ?? "";
    expect(await (await fetch(href)).text()).toContain("SANDBOX-0001");
    expect(ada.complaints.splice(0)).toEqual([]);
  });
});
