// Tests the documentation in a real browser: how it looks to everybody, and its few actions.

import { describe, expect, test } from "bun:test";
import { sharedStage } from "../../support/product/browser-stage.ts";

const { canRun, running, ...stage } = await sharedStage();
const DESKTOP = { width: 1360, height: 900 };

describe.skipIf(!canRun)("a reader of the documentation", () => {
  test("sees it in light, dark and on a phone, and moves by links", async () => {
    await using visitor = await stage.visitor();
    const { page } = visitor;
    await page.goto(`${running.url}/docs`);
    await visitor.inspect("docs");
    await page.getByRole("link", { name: "Your first call" }).first().click();
    await page.waitForURL(/\/docs\/first-call$/);
    await visitor.inspect("docs-first-call");
    for (const slug of ["clients", "use-with-codex", "faq"]) {
      await page.goto(`${running.url}/docs/${slug}`);
      await visitor.inspect(`docs-${slug}`);
    }
    await page.setViewportSize(DESKTOP);
    await page.goto(`${running.url}/docs/money`);
    await page.getByLabel("On this page").getByRole("link", { name: "The rules" }).click();
    expect(page.url()).toEndWith("#the-rules");
    await visitor.picture("docs-money-desktop");
    expect(visitor.complaints).toEqual([]);
  });

  test("searches by the keyboard alone, across pages and endpoints", async () => {
    await using visitor = await stage.visitor();
    const { page } = visitor;
    await page.goto(`${running.url}/docs`);
    await page.keyboard.press("/");
    await page.keyboard.type("web search");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/docs\/find\?q=web\+search$/);
    await visitor.sees("POST /v1/search");
    await visitor.inspect("docs-search");
    await page.getByRole("main").getByRole("link").first().focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/docs\/(?!find\?)/);
    expect(visitor.complaints).toEqual([]);
  });

  test("copies a page as Markdown and code, with the address of this server", async () => {
    await using visitor = await stage.visitor();
    const { page, context } = visitor;
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const copied = () => page.evaluate("navigator.clipboard.readText()");
    await page.goto(`${running.url}/docs/use-with-claude-code`);
    await visitor.button("Copy as Markdown").click();
    await visitor.button("Copied").waitFor();
    const text = await copied();
    expect(text).toStartWith("# Use it with");
    expect(text).toContain(`ANTHROPIC_BASE_URL=${running.url}\n`);
    await page
      .locator("article")
      .getByRole("button", { name: "Copy", exact: true })
      .first()
      .click();
    await page.locator("article").getByRole("button", { name: "Copied" }).waitFor();
    expect(await copied()).toStartWith(`export ANTHROPIC_BASE_URL=${running.url}\n`);
    expect(visitor.complaints).toEqual([]);
  });

  test("without a script can read, search and get the Markdown", async () => {
    await using visitor = await stage.visitor();
    const context = await visitor.context.browser()?.newContext({ javaScriptEnabled: false });
    if (context === undefined) throw new Error("There is no browser");
    const page = await context.newPage();
    await page.goto(`${running.url}/docs/clients`);
    expect(await page.getByRole("button", { name: "Copy as Markdown" }).isVisible()).toBe(false);
    await page.getByRole("searchbox").fill("hold");
    await page.getByRole("button", { name: "Search" }).click();
    await page.waitForURL(/\/docs\/find\?q=hold$/);
    expect(await page.locator("ol.all li").count()).toBeGreaterThan(3);
    await context.close();
  });
});
