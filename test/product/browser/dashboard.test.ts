// Tests the dashboard in a real browser, against the real product, as a new customer: from sign-up
// to a paid call that appears in usage. Each page is inspected in light, dark and on a phone.

import { describe, expect, test } from "bun:test";
import { verifyReceipt } from "../../../src/core/receipts/receipt-jws.ts";
import type { PublicJwk } from "../../../src/core/receipts/receipt-keys.ts";
import { verifyStatement } from "../../../src/core/receipts/statement-jws.ts";
import { postChat } from "../../support/api/chat-client.ts";
import { PHONE, WIDE } from "../../support/product/browser.ts";
import { sharedStage } from "../../support/product/browser-stage.ts";

const SEEN_MS = 20_000;
/** The visible text, and its colour. */
const SEEN = "[document.body.innerText, getComputedStyle(document.querySelector('.ticket')).color]";
const INK = "rgb(23, 26, 31)";
const EMPTY_PAPER_BYTES = 2_000;

const { canRun, running, ...stage } = await sharedStage();
const ada = await stage.visitor();
let account = "";
let key = "";

const call = (maxTokens = 16) => postChat(running.url, key, { maxTokens });

describe.skipIf(!canRun)("a new customer", () => {
  test("signs up by a page with a button, and lands on the overview", async () => {
    await ada.go("sign-up");
    await ada.inspect("sign-up");
    account = await ada.signUp("ada@example.com");
    await ada.sees("First steps");
    await ada.inspect("overview-new");
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("makes a key that is shown once, with lines that work unchanged", async () => {
    await ada.page.keyboard.press("n");
    await ada.field(/^Name/).fill("production");
    await ada.button("New key").last().click();
    await ada.sees("Your new key");
    await ada.inspect("key-made");
    key = (await ada.text(ada.page.getByLabel("The key", { exact: true }))).trim();
    expect(key).toMatch(/^svc_live_/);
    // Visible, not beyond the edge of the dialog.
    const copy = await ada.button("Copy: The key").boundingBox();
    const dialog = await ada.page.getByRole("dialog").boundingBox();
    expect((copy?.x ?? 0) + (copy?.width ?? 0)).toBeLessThan(
      (dialog?.x ?? 0) + (dialog?.width ?? 0),
    );
    const curl = await ada.text(ada.page.getByRole("region", { name: "curl" }));
    expect(curl).toContain(`Bearer ${key}`);
    expect(curl).toContain('"model":"ok"');
    expect(curl).toContain(`${running.url}/v1/chat/completions`);
    await ada.button("I have stored it").click();
    await ada.page.reload();
    await ada.sees(`…${key.slice(-4)}`);
    expect(await ada.page.content()).not.toContain(key);
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("sees the first call arrive, and its receipt to the last digit", async () => {
    await ada.go(`${account}/overview`);
    await ada.sees("Waiting for the first call");
    const reply = (await (await call()).json()) as { svc: { cost_usd: number } };
    await ada.page.getByText("Waiting for the first call").waitFor({ state: "hidden" });
    await ada.page.getByRole("row", { name: /ok.*production.*200/ }).waitFor();
    await ada.inspect("overview");
    await ada.page.getByRole("row", { name: /ok.*production.*200/ }).click();
    await ada.sees("Receipt");
    const ticket = ada.page.getByRole("complementary", { name: "Receipt" });
    await ticket.getByText("charged", { exact: true }).waitFor();
    expect(await ada.text(ticket.locator(".figure"))).toBe(shown(reply.svc.cost_usd));
    await ada.inspect("request");
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("prints a receipt alone, dark on white, from any screen", async () => {
    const { page } = ada;
    for (const [role, size] of [["complementary", WIDE] as const, ["dialog", PHONE] as const]) {
      await page.emulateMedia({ media: null, colorScheme: "dark" });
      await page.setViewportSize(size);
      await page.getByRole(role).locator(".ticket .figure").waitFor();
      // Paper is narrower than a wide screen.
      expect((await page.pdf()).length).toBeGreaterThan(EMPTY_PAPER_BYTES);
      await page.emulateMedia({ media: "print" });
      const alone = expect.stringMatching(/^Farebox\s+Receipt\s+charged\s+req_.+Route\s+fake$/s);
      expect(await page.evaluate(SEEN)).toEqual([alone, INK]);
      await ada.picture(`receipt-printed-${role}`);
    }
    await page.emulateMedia({ media: null, colorScheme: "light" });
    await page.setViewportSize(WIDE);
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("shows and saves the signed receipt of the call, and the month's statement", async () => {
    const { page } = ada;
    const { keys } = (await (await fetch(`${running.url}/.well-known/jwks.json`)).json()) as {
      keys: PublicJwk[];
    };
    const saved = async (scope: { getByRole: typeof page.getByRole }) => {
      const [file] = await Promise.all([
        page.waitForEvent("download"),
        scope.getByRole("button", { name: "Save as JSON" }).click(),
      ]);
      return JSON.parse(await Bun.file(await file.path()).text()) as { jws: string };
    };
    await ada.go(`${account}/requests`);
    await page.getByRole("row", { name: /ok.*production.*200/ }).click();
    await ada.button("Signed receipt").click();
    const dialog = page.getByRole("dialog", { name: "Signed receipt" });
    await dialog.getByText("Receipt no. 1").waitFor();
    const { receipt } = await verifyReceipt((await saved(dialog)).jws, keys);
    await ada.inspect("signed-receipt");
    await ada.go(`${account}/statement`);
    await ada.sees("At the end");
    const total = await ada.text(page.locator("tfoot tr td").last());
    expect(total).toBe(shown(Number(receipt.cost_usd)));
    const { statement } = await verifyStatement((await saved(page)).jws, keys);
    expect(statement.calls).toMatchObject({ charged: 1, cost_usd: receipt.cost_usd });
    await ada.inspect("statement");
    await page.emulateMedia({ media: "print" });
    const printed = await page.evaluate("document.body.innerText");
    expect(printed).toContain("At the end");
    expect(printed).toMatch(/^Farebox\s+Statement/);
    for (const hidden of ["Month before", "Save as JSON"]) expect(printed).not.toContain(hidden);
    await page.emulateMedia({ media: null });
    await ada.button("Month before").click();
    await ada.sees("No call was charged in this month.");
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("finds the call in usage: chart, table and CSV agree", async () => {
    await ada.go(`${account}/usage?range=24h&group=model`);
    const row = ada.page.getByRole("row", { name: /^ok / });
    await row.waitFor({ timeout: SEEN_MS });
    const cost = await ada.text(row.getByRole("cell").last());
    const total = await ada.text(ada.page.locator("tfoot tr td").last());
    expect(total).toBe(cost);
    const [file] = await Promise.all([
      ada.page.waitForEvent("download"),
      ada.button("CSV of this view").click(),
    ]);
    const text = await Bun.file(await file.path()).text();
    const rows = text.trimEnd().split("\n");
    expect(rows).toHaveLength(2);
    expect(rows[1]).toContain(`,${cost.replace("$", "").replace(/0+$/, "")}`);
    await ada.inspect("usage");
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("reads a refusal as the same ticket, with the link that resolves it", async () => {
    // More than the monthly cap of a free account.
    expect((await call(32_768)).status).toBe(402);
    await ada.go(`${account}/requests?status=refused`);
    await ada.page.getByRole("row", { name: /402 monthly_limit_reached/ }).click();
    await ada.sees("Why it was refused");
    await ada.sees("Nothing was charged.");
    await ada.inspect("refusal");
    await ada.page.getByRole("complementary").getByRole("link", { name: "See the limits" }).click();
    await ada.page.waitForURL(/\/limits/);
    expect(ada.complaints.splice(0)).toEqual([]);
  });
});

/** An amount in the form of the page: at least two decimals, no zeros after them. */
function shown(usd: number): string {
  const [whole, decimals = ""] = usd.toFixed(9).replace(/0+$/, "").split(".");
  return `$${whole}.${decimals.padEnd(2, "0")}`;
}
