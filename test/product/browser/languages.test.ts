// Tests the dashboard in a browser whose person reads German or Chinese: every page of an account,
// and those of the sandbox on the way of a payment, are in their language, accessible and no wider
// than the window, and the person's choice follows them.

import { describe, expect, test } from "bun:test";
import { texts as german } from "../../../dashboard/src/texts/de/german.ts";
import { texts as english, type Texts } from "../../../dashboard/src/texts/en/english.ts";
import { texts as chinese } from "../../../dashboard/src/texts/zh-hans/chinese.ts";
import { SANDBOX_TEXTS } from "../../../src/annexes/stripe-sandbox/texts/sandbox-texts.ts";
import { postChat } from "../../support/api/chat-client.ts";
import { PASSWORD, type Visitor } from "../../support/product/browser.ts";
import { sharedStage } from "../../support/product/browser-stage.ts";
import { inspectIn } from "../../support/product/left-in-english.ts";

const { canRun, running, visitor } = await sharedStage({ STRIPE_INVOICES: "true" });

/** Makes a key by the dialog, and calls the API with it: answered, and refused. */
async function callOnce(one: Visitor, { work }: Texts): Promise<void> {
  await one.page.keyboard.press("n");
  await one.page.getByRole("textbox", { name: work.keys.name }).fill("production");
  await one.button(work.keys.create).last().click();
  await one.sees(work.keys.made);
  const label = one.page.getByLabel(work.keys.madeLabel, { exact: true });
  const key = (await one.text(label)).trim();
  await one.button(work.keys.stored).click();
  expect((await postChat(running.url, key, { maxTokens: 16 })).status).toBe(200);
  expect((await postChat(running.url, key, { maxTokens: 32_768 })).status).toBe(402);
}

describe.skipIf(!canRun).each([
  ["de", "de-DE", german],
  ["zh-Hans", "zh-CN", chinese],
] as const)("in %s", (language, locale, texts) => {
  const opened = canRun ? visitor(undefined, locale) : null;
  const email = `reader-${language.toLowerCase()}@example.com`;
  let account = "";
  const inspect = (one: Visitor, name: string) => inspectIn(texts, one, `${name}-${language}`);
  const page = async () => {
    if (opened === null) throw new Error("The test should be skipped");
    return await opened;
  };

  test("the pages before sign-in are in the language of the browser", async () => {
    const one = await page();
    for (const path of ["sign-in", "sign-up", "forgot", "code"]) {
      await one.go(path);
      await inspect(one, path);
    }
    expect(await one.page.locator("html").getAttribute("lang")).toBe(language);
    account = await one.signUp(email, texts);
    await one.sees(texts.work.steps.title);
    await inspect(one, "overview-new");
    expect(one.complaints.splice(0)).toEqual([]);
  });

  test("every page of an account is in it, with figures", async () => {
    const one = await page();
    await callOnce(one, texts);
    for (const [name, title] of Object.entries(texts.nav.pages)) {
      await one.go(`${account}/${name}`);
      await one.page.getByRole("heading", { name: title }).first().waitFor();
      await inspect(one, name);
    }
    expect(one.complaints.splice(0)).toEqual([]);
  });

  test("a refusal is explained in it, on its receipt", async () => {
    const one = await page();
    await one.go(`${account}/requests?status=refused`);
    await one.page.getByRole("row", { name: /402 monthly_limit_reached/ }).click();
    await one.sees(texts.usage.ticket.why);
    await one.sees(texts.usage.ticket.notCharged);
    await inspect(one, "refusal");
    expect(one.complaints.splice(0)).toEqual([]);
  });

  test("dialogs, the page of a payment and its invoice are in it", async () => {
    const one = await page();
    const { page: tab } = one;
    const { billing, work } = texts;
    for (const [path, button] of [
      ["billing", billing.voucher.title],
      ["limits", work.endUsers.set],
    ] as const) {
      await one.go(`${account}/${path}`);
      await one.button(button).click();
      await tab.getByRole("dialog").waitFor();
      await inspect(one, `${path}-dialog`);
    }
    await one.go(`${account}/billing?add=credit`);
    await tab.getByRole("textbox", { name: billing.amount }).fill("25");
    await inspect(one, "add-credit");
    await one.button(billing.toPage).click();
    await tab.locator('input[value="4242424242424242"]').check();
    expect(await tab.locator("html").getAttribute("lang")).toBe(language);
    await inspect(one, "sandbox-payment");
    await tab.locator("form button").click();
    await tab.waitForURL(/\/billing\?top_up=/);
    const { open, kinds } = billing.documents;
    await one.button(new RegExp(`^${texts.pair(open, "pay_")}`)).click();
    const named = { name: new RegExp(`^${kinds.invoice} SANDBOX-`) };
    const link = tab.getByRole("dialog").getByRole("link", named);
    await link.waitFor();
    await inspect(one, "invoice");
    await tab.goto((await link.getAttribute("href")) ?? "");
    await tab.getByRole("heading", { name: SANDBOX_TEXTS[language].invoice }).waitFor();
    await inspect(one, "sandbox-invoice");
    expect(one.complaints.splice(0)).toEqual([]);
  });

  test("it follows the person into a browser of another language", async () => {
    await using other = await visitor(undefined, "en-US");
    await other.go("sign-in");
    await other.field(/^E-mail/).fill(email);
    await other.page.locator("input[name=password]").fill(PASSWORD);
    await other.button("Sign in").click();
    await other.sees(texts.nav.pages.overview);
    expect(await other.page.locator("html").getAttribute("lang")).toBe(language);
    // Another choice holds on all pages, also after the person has left.
    await other.button(email).click();
    await other.page.getByRole("menuitem", { name: "English" }).click();
    await other.sees(english.nav.pages.overview);
    await other.button(email).click();
    await other.page.getByRole("menuitem", { name: english.nav.signOut }).click();
    await other.sees(english.entry.forgot);
    expect(other.complaints).toEqual([]);
    // The person's own browser follows that choice with its next page.
    const one = await page();
    await one.go(`${account}/keys`);
    await one.sees(english.work.keys.about);
  });
});

test.skipIf(!canRun)("somebody who is not signed in chooses a language in the page", async () => {
  await using one = await visitor();
  await one.go("sign-in");
  await one.button("Deutsch").click();
  await one.sees(german.entry.forgot);
  await one.button("简体中文").click();
  await one.sees(chinese.entry.forgot);
  await one.page.reload();
  await one.sees(chinese.entry.forgot);
  expect(one.complaints).toEqual([]);
});
