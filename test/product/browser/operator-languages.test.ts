// Tests the operators' console in a browser whose person reads German or Chinese: each page, each
// tab of an account and each question is in that language, accessible and no wider than a phone.

import { describe, expect, test } from "bun:test";
import { texts as german } from "../../../dashboard/src/texts/de/german.ts";
import { operatorTexts as germanOperator } from "../../../dashboard/src/texts/de/operator.ts";
import { texts as english } from "../../../dashboard/src/texts/en/english.ts";
import type { OperatorTexts } from "../../../dashboard/src/texts/en/operator.ts";
import { texts as chinese } from "../../../dashboard/src/texts/zh-hans/chinese.ts";
import { operatorTexts as chineseOperator } from "../../../dashboard/src/texts/zh-hans/operator.ts";
import { Configurations } from "../../../src/store/operators/configurations.ts";
import { totp } from "../../support/fakes/totp.ts";
import { PASSWORD, type Visitor } from "../../support/product/browser.ts";
import { sharedStage } from "../../support/product/browser-stage.ts";
import { inspectIn } from "../../support/product/left-in-english.ts";
import { disputeOf, queueRows, troubleOf } from "../../support/product/operator-rows.ts";

const { canRun, running, ...stage } = await sharedStage();
const { account } = await stage.person("ada@example.com");

let application = "";
if (canRun) {
  application = (await running.product.account({ surface: "application", plan: "pro" })).id;
  await troubleOf(running.product, account);
  await queueRows(running.product, account);
  const configurations = new Configurations(running.product.operator.database);
  const row = { note: null, rollsBackTo: null, expected: null, at: new Date() };
  for (const input of ["1", "3"]) {
    const text = running.product.catalogueText([{ id: "small", input, output: "2" }]);
    await configurations.apply({ ...row, text, actor: "command line" }, () => []);
  }
}

/** The address of a page below /operator. */
const addressOf = (page: string) => (page === "accounts" ? "" : `/${page}`);

describe.skipIf(!canRun).each([
  ["de", "de-DE", german, germanOperator],
  ["zh-Hans", "zh-CN", chinese, chineseOperator],
] as const)("in %s", (language, locale, texts, ot: OperatorTexts) => {
  const email = `ops-${language.toLowerCase()}@example.com`;
  const opened = canRun ? stage.operator(email, { locale, texts }) : null;
  const ops = async () => {
    if (opened === null) throw new Error("The test should be skipped");
    return await opened;
  };
  const inspect = (one: Visitor, name: string) =>
    inspectIn({ texts, ot }, one, `operator-${name}-${language}`);
  const open = async (one: Visitor, path: string) => {
    await one.page.goto(`${running.url}/operator${path}`);
    await one.page.getByRole("heading", { level: 1 }).waitFor();
    await one.settled();
  };
  const dialogOf = ({ page }: Visitor) => page.getByRole("dialog");

  /** The name of a button in a row, which ends with what the row is about. */
  const rowButton = (act: keyof OperatorTexts["acts"]) =>
    new RegExp(`^${ot.acts[act].open}[:\uff1a]`);

  /** Opens a question by its button, and inspects it. */
  async function ask(one: Visitor, act: keyof OperatorTexts["acts"], button?: RegExp) {
    const { open: name, title } = ot.acts[act];
    await one
      .button(button ?? name)
      .first()
      .click();
    await dialogOf(one).getByText(title).first().waitFor();
    await inspect(one, `question-${act}`);
  }

  /** Answers the open question with a reason and what its other fields ask for. */
  async function answer(
    one: Visitor,
    act: keyof OperatorTexts["acts"],
    fields: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    for (const [label, text] of Object.entries({ ...fields, [ot.reason]: "4711" })) {
      await dialogOf(one).getByLabel(label, { exact: true }).fill(text);
    }
    await dialogOf(one).getByRole("button", { name: ot.acts[act].action, exact: true }).click();
    await dialogOf(one).waitFor({ state: "hidden" });
  }

  test("the way to a second factor is in the language of the browser", async () => {
    const one = await ops();
    await one.page.goto(`${running.url}/operator`);
    await one.sees(ot.setUp);
    await inspect(one, "set-up");
    await one.button(texts.people.turnOn).click();
    await dialogOf(one).locator("input[type=password]").fill(PASSWORD);
    await dialogOf(one).getByRole("button", { name: texts.actions.continue }).click();
    const place = one.page.getByLabel(texts.people.secret, { exact: true });
    const secret = (await one.text(place)).trim();
    await dialogOf(one).getByRole("textbox").last().fill(totp(secret));
    await dialogOf(one).getByRole("button", { name: texts.people.turnOn }).click();
    await one.page.getByRole("heading", { name: ot.nav.pages.accounts }).waitFor();
    expect(await one.page.locator("html").getAttribute("lang")).toBe(language);
    expect(one.complaints.splice(0)).toEqual([]);
  });

  test("a payment is credited in it, with the marks of its numbers", async () => {
    const one = await ops();
    await open(one, `/${account}`);
    await ask(one, "credit");
    const typed = language === "de" ? "25,00" : "25.00";
    await answer(one, "credit", { [ot.amount]: typed, [ot.amountAgain]: typed });
    await one.sees(ot.done);
    expect(one.complaints.splice(0)).toEqual([]);
  });

  test.each(Object.entries(ot.tabs))("the tab %s of an account is in it", async (tab, title) => {
    const one = await ops();
    await open(one, `/${account}${tab === "overview" ? "" : `/${tab}`}`);
    await one.page.getByRole("link", { name: title, exact: true }).waitFor();
    await inspect(one, `account-${tab}`);
    expect(one.complaints.splice(0)).toEqual([]);
  });

  test.each(Object.entries(ot.nav.pages))(
    "the page %s is in it, with rows",
    async (page, title) => {
      const one = await ops();
      await using _ = page === "disputes" ? await disputeOf(running.product, account) : null;
      await open(one, addressOf(page));
      await one.page.getByRole("heading", { level: 1, name: title }).waitFor();
      await inspect(one, page);
      expect(one.complaints.splice(0)).toEqual([]);
    },
  );

  test.each(["/mails?status=failed", "/mails?status=sent", "/events?status=processed"])(
    "the page %s is in it",
    async (path) => {
      const one = await ops();
      await open(one, path);
      await inspect(one, path.slice(1).replace("?status=", "-"));
      expect(one.complaints.splice(0)).toEqual([]);
    },
  );

  test.each([
    ["adjust", `/${account}`, "page"],
    ["forgive", `/${account}`, "page"],
    ["grant", `/${account}`, "page"],
    ["contract", `/${account}`, "page"],
    ["close", `/${account}`, "page"],
    ["auditOne", `/${account}`, "page"],
    ["refund", `/${account}/billing`, "row"],
    ["plan", `/${application}`, "page"],
    ["mails", "/mails", "page"],
    ["mail", "/mails", "row"],
    ["resend", "/mails?status=failed", "row"],
    ["replay", "/events", "row"],
    ["rejected", "/rejected", "page"],
    ["audit", "/audits", "page"],
    ["rollback", "/configurations", "row"],
  ] as const)("the question %s is in it", async (act, path, place) => {
    const one = await ops();
    await open(one, path);
    await ask(one, act, place === "row" ? rowButton(act) : undefined);
    expect(one.complaints.splice(0)).toEqual([]);
  });

  test("an account is suspended and resumed in it", async () => {
    const one = await ops();
    await open(one, `/${account}`);
    await ask(one, "suspend");
    await answer(one, "suspend", { [texts.fields.typeToConfirm(account)]: account });
    await one.sees(texts.pair(ot.states.suspended, ot.reasons.operator));
    await inspect(one, "account-suspended");
    await ask(one, "resume");
    await answer(one, "resume");
    expect(one.complaints.splice(0)).toEqual([]);
  });

  test("a service is paused and resumed in it", async () => {
    const one = await ops();
    await open(one, "/health");
    await ask(one, "pause");
    await answer(one, "pause", { [texts.fields.typeToConfirm("chat")]: "chat" });
    await ask(one, "resumeTarget", rowButton("resumeTarget"));
    await answer(one, "resumeTarget");
    expect(one.complaints.splice(0)).toEqual([]);
  });

  test("vouchers are made and ended in it", async () => {
    const one = await ops();
    await open(one, "/vouchers");
    await ask(one, "makeVouchers");
    await dialogOf(one).getByLabel(ot.vouchers.gives).click();
    await one.page.getByRole("option", { name: ot.vouchers.plan("Pro") }).click();
    await inspect(one, "question-makeVouchers-plan");
    const batch = `fair-${language}`;
    const saving = one.page.waitForEvent("download");
    await answer(one, "makeVouchers", { [ot.vouchers.batch]: batch });
    await saving;
    await one.page.getByRole("row", { name: ot.vouchers.oncePerPerson }).first().waitFor();
    await inspect(one, "vouchers-made");
    await ask(one, "endVouchers", rowButton("endVouchers"));
    await answer(one, "endVouchers");
    expect(one.complaints.splice(0)).toEqual([]);
  });

  test("a refusal has a sentence in it, and what the server says", async () => {
    const one = await ops();
    await open(one, `/${account}`);
    await one.button(ot.acts.adjust.open).click();
    for (const label of [ot.amount, ot.amountAgain]) {
      await dialogOf(one).getByLabel(label, { exact: true }).fill("0");
    }
    await dialogOf(one).getByLabel(ot.reason, { exact: true }).fill("4711");
    await dialogOf(one).getByRole("button", { name: ot.acts.adjust.action, exact: true }).click();
    const alert = dialogOf(one).getByRole("alert");
    await alert.waitFor();
    const sentence = texts.refusals.message("invalid_parameter", "").replace(/ \(\)$/, "");
    expect(await one.text(alert)).toStartWith(sentence);
    expect(await one.text(alert)).toMatch(/\(.*amount_usd.*must not be zero.*\)$/);
    await inspect(one, "refusal");
    expect(one.complaints.splice(0)).toEqual([]);
  });

  test("another person reads in it that there is no such page", async () => {
    await using other = await stage.visitor(running.url, locale);
    await other.signUp(`other-${language.toLowerCase()}@example.com`, texts);
    await other.page.goto(`${running.url}/operator`);
    await other.sees(ot.missingAbout);
    await inspect(other, "no-such-page");
    expect(other.complaints).toEqual([]);
  });

  test("another language is chosen in the console, and kept with the person", async () => {
    const one = await ops();
    await open(one, "/trail");
    await one.button(email).click();
    await one.page.getByRole("menuitem", { name: "English" }).click();
    await one.page.getByRole("heading", { level: 1, name: "Trail" }).waitFor();
    await one.go("");
    await one.sees(english.nav.pages.overview);
    expect(one.complaints.splice(0)).toEqual([]);
  });
});
