// Tests the front page in a real browser: how it looks to everybody, that it follows the
// configuration, and that an account is a click away.

import { describe, expect, test } from "bun:test";
import { pathIn } from "../../../src/site/front-page.ts";
import { SITE_TEXTS } from "../../../src/site/texts/site-texts.ts";
import { Configurations } from "../../../src/store/operators/configurations.ts";
import { eventually } from "../../support/eventually.ts";
import { sharedStage } from "../../support/product/browser-stage.ts";

const { canRun, running, ...stage } = await sharedStage();
const LOGO = '<svg viewBox="0 0 8 8"><circle cx="4" cy="4" r="4" fill="#7a1f5c"/></svg>';

/** Puts a configuration with this price and brand in force. */
async function apply(input: string, brand: object): Promise<void> {
  const { product } = running;
  const text = product.catalogueText([{ id: "ok", input, output: "2000" }]);
  const configurations = new Configurations(product.operator.database);
  const row = { actor: "test", note: null, rollsBackTo: null, expected: null, at: new Date() };
  await configurations.apply(
    { ...row, text: JSON.stringify({ ...JSON.parse(text), brand }) },
    () => [],
  );
}

describe.skipIf(!canRun)("a visitor", () => {
  test("sees the offer in light, dark and on a phone, and signs up", async () => {
    const { visitor: signedUp } = await stage.person("ada@example.com");
    await using _ = signedUp;
    await using visitor = await stage.visitor();
    await visitor.page.goto(running.url);
    await visitor.sees("Models and prices");
    await visitor.sees("$1,000.00");
    await visitor.inspect("front-page");
    await visitor.page.getByRole("link", { name: "Sign up" }).click();
    await visitor.page.waitForURL(/\/dashboard\/sign-up$/);
    await visitor.page.goto(running.url);
    await visitor.page.getByRole("link", { name: "Sign in" }).click();
    await visitor.page.waitForURL(/\/dashboard\/sign-in/);
    expect(visitor.complaints).toEqual([]);
    // A visitor with a session is led on to the account.
    await signedUp.page.goto(running.url);
    await signedUp.page.getByRole("link", { name: "Sign in" }).click();
    await signedUp.page.waitForURL(/\/dashboard\/acct_\w+\/overview/);
  });

  test("reads it in each language, in light, dark and on a phone", async () => {
    await using visitor = await stage.visitor();
    for (const language of ["de", "zh-Hans"] as const) {
      await visitor.page.goto(running.url + pathIn(language));
      expect(await visitor.page.locator("html").getAttribute("lang")).toBe(language);
      await visitor.sees(SITE_TEXTS[language].createAccount);
      await visitor.inspect(`front-page-${language}`);
    }
    expect(visitor.complaints).toEqual([]);
  });

  test("sees a new price and another brand without a restart", async () => {
    await using visitor = await stage.visitor();
    const { page } = visitor;
    await page.goto(running.url);
    await apply("1234.567891", {
      name: "Acme",
      logo_svg: LOGO,
      accent: { light: "#7a1f5c", dark: "#e58fc4" },
      support_email: "help@acme.example",
      terms_url: "https://acme.example/terms",
    });
    await eventually("the page has the new price", async () => {
      await page.reload();
      return (await page.getByText("$1,234.5678").count()) > 0;
    });
    expect(await page.title()).toStartWith("Acme");
    const width = await page.evaluate("document.querySelector('header img').naturalWidth");
    expect(width).toBeGreaterThan(0);
    await visitor.inspect("front-page-branded");
    const footer = await page.locator("footer").innerHTML();
    expect(footer).toContain('href="mailto:help@acme.example"');
    expect(footer).toContain('href="https://acme.example/terms"');
    // Pages of the dashboard, an authenticator and a mail follow too.
    await visitor.go("sign-up");
    await visitor.sees("Acme");
    await visitor.inspect("sign-up-branded");
    expect(await page.title()).toBe("Acme");
    expect(await page.locator("body").textContent()).not.toContain("Farebox");
    const colour = await page.evaluate(
      "getComputedStyle(document.querySelector('button[type=submit]')).backgroundColor",
    );
    expect(colour).toBe("rgb(122, 31, 92)");
    const account = await visitor.signUp("bob@example.com");
    await visitor.settled();
    expect(await page.locator("body").textContent()).not.toContain("Farebox");
    await visitor.inspect("overview-branded");
    // Paper says whose it is, and where to ask.
    await visitor.go(`${account}/statement`);
    await visitor.sees("At the end");
    const shown = () => page.evaluate("document.querySelector('main').innerText");
    expect(await shown()).not.toContain("help@acme.example");
    await page.emulateMedia({ media: "print" });
    expect(await shown()).toStartWith("Acme · help@acme.example");
    await page.emulateMedia({ media: null });
    expect(visitor.complaints).toEqual([]);
  });
});
