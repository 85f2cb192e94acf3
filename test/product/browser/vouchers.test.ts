// Tests in a real browser the ways of a customer with a voucher, by its link and by hand, and where
// a company finds its invoice.

import { describe, expect, test } from "bun:test";
import type { Request } from "playwright-core";
import { texts as german } from "../../../dashboard/src/texts/de/german.ts";
import { texts as english } from "../../../dashboard/src/texts/en/english.ts";
import { texts as chinese } from "../../../dashboard/src/texts/zh-hans/chinese.ts";
import { issueVouchers } from "../../../src/accounts/vouchers.ts";
import type { Visitor } from "../../support/product/browser.ts";
import { sharedStage } from "../../support/product/browser-stage.ts";
import { voucherOrder } from "../../support/stores/vouchers.ts";
import { usd } from "../../support/stores/world.ts";

const { canRun, running, ...stage } = await sharedStage({ STRIPE_INVOICES: "true" });
const { visitor: ada, account } = await stage.person("ada@example.com");

async function voucher(batch: string, days: number | null = null): Promise<string> {
  const amount = usd("5");
  const order = voucherOrder(batch, {
    gift: days === null ? { kind: "bonus", amount } : { kind: "free", amount, days },
  });
  const { administration } = running.product.operator;
  const [code = ""] = await issueVouchers(administration, order, async () => {});
  return code;
}

const linkOf = (code: string) => `${running.url}/dashboard/billing#voucher=${code}`;

async function used(batch: string): Promise<number> {
  const { sql } = running.product.operator.database;
  const [row] = await sql`SELECT used FROM vouchers WHERE batch = ${batch}`;
  return row?.used;
}

/** The addresses and referrers that a visitor sends to servers meanwhile. */
async function addressesOf({ page }: Visitor, visit: () => Promise<void>): Promise<string[]> {
  const seen: string[] = [];
  const note = (request: Request) => {
    seen.push(request.url().split("#")[0] ?? "", request.headers().referer ?? "");
  };
  page.on("request", note);
  try {
    await visit();
  } finally {
    page.off("request", note);
  }
  expect(seen.length).toBeGreaterThan(0);
  return seen;
}

describe.skipIf(!canRun)("a voucher", () => {
  test("of a link opens the reader's own account, and counts only after the button", async () => {
    const code = await voucher("by-link");
    const addresses = await addressesOf(ada, async () => {
      await ada.page.goto(linkOf(code));
      const dialog = ada.page.getByRole("dialog");
      expect(await dialog.getByLabel("Code of the voucher").inputValue()).toBe(code);
      expect(ada.page.url()).toContain(account);
      expect(await used("by-link")).toBe(0);
      await ada.inspect("voucher");
      await dialog.getByRole("button", { name: "Redeem" }).click();
      await ada.sees("$5.00 was added to your balance.");
      expect(await used("by-link")).toBe(1);
      // The dialog closes after the figures of the page were read again.
      await dialog.waitFor({ state: "detached" });
    });
    expect(addresses.filter((text) => text.includes(code))).toEqual([]);
    await ada.page.reload();
    await ada.settled();
    expect(await ada.page.getByRole("dialog").count()).toBe(0);
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("of a link waits through a sign-up, and no address ever has its code", async () => {
    const code = await voucher("by-sign-up");
    await using eve = await stage.visitor();
    const addresses = await addressesOf(eve, async () => {
      await eve.page.goto(linkOf(code));
      await eve.page.waitForURL(/sign-in/);
      await eve.sees(english.entry.voucherWaits);
      await eve.signUp("eve@example.com");
      const dialog = eve.page.getByRole("dialog");
      expect(await dialog.getByLabel("Code of the voucher").inputValue()).toBe(code);
      await dialog.getByRole("button", { name: "Redeem" }).click();
      await eve.sees("$5.00 was added to your balance.");
    });
    expect(await used("by-sign-up")).toBe(1);
    expect(addresses.filter((text) => text.includes(code))).toEqual([]);
    expect(eve.complaints.splice(0)).toEqual([]);
  });

  test.each([
    ["en-GB", english],
    ["de-DE", german],
    ["zh-CN", chinese],
  ] as const)(
    "of a link waits on the entry pages, in the words of %s",
    async (locale, { entry }) => {
      await using reader = await stage.visitor(undefined, locale);
      await reader.page.goto(linkOf("k3vq-7zma-2bcd-efgh-ijkl-mnop"));
      await reader.page.waitForURL(/sign-in/);
      for (const path of ["sign-in", "sign-up"]) {
        if (path !== "sign-in") await reader.go(path);
        await reader.sees(entry.voucherWaits);
        await reader.inspect(`voucher-waits-${path}-${locale}`);
      }
      expect(reader.complaints.splice(0)).toEqual([]);
    },
  );

  test("of a link that is declined is not asked about again", async () => {
    const code = await voucher("declined");
    await ada.go(`${account}/overview`);
    // The link of a page that is open loads no page.
    await ada.page.evaluate(`window.location.hash = "voucher=${code}"`);
    const dialog = ada.page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    await ada.go(`${account}/overview`);
    await ada.settled();
    expect(await dialog.count()).toBe(0);
    expect(await used("declined")).toBe(0);
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("of a link is forgotten when its person signs out", async () => {
    const email = "left@example.com";
    const { visitor: lea } = await stage.person(email);
    await using _ = lea;
    const other = await lea.context.newPage();
    await other.goto(linkOf(await voucher("left")));
    await other.getByRole("dialog").waitFor();
    await lea.button(email).click();
    await lea.page.getByRole("menuitem", { name: "Sign out" }).click();
    await lea.page.waitForURL(/sign-in/);
    await lea.settled();
    expect(await lea.page.getByText("Your voucher waits here").count()).toBe(0);
    expect(lea.complaints.splice(0)).toEqual([]);
  });

  test("of free credit says when it ends, and the balance shows each lot", async () => {
    const code = await voucher("free", 30);
    await ada.page.goto(linkOf(code));
    const dialog = ada.page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Redeem" }).click();
    await ada.sees(/^\$5\.00 of free credit was added, until \d/);
    await dialog.waitFor({ state: "detached" });
    await ada.go(`${account}/billing`);
    const lots = ada.page.locator("li").filter({ hasText: "Free, models only" }).first();
    expect(await lots.textContent()).toMatch(/\$10\.00.*\$5\.00 until .*\$5\.00 until /s);
    await ada.inspect("free-lots");
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
