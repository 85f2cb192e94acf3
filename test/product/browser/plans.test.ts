// Tests the page of a plan in a real browser: bought by a saved card, changed, canceled and taken
// back, in each language.

import { describe, expect, test } from "bun:test";
import { LANGUAGE_TAGS } from "../../../src/core/languages.ts";
import { sharedStage } from "../../support/product/browser-stage.ts";

const { canRun, running, ...stage } = await sharedStage({
  PLAN_STARTER_USD: "8",
  PLAN_PRO_USD: "20",
});
const { visitor: ada, account: gateway } = await stage.person("ada@example.com");

const dialog = () => ada.page.getByRole("dialog");
let account = "";

async function openPlan(): Promise<void> {
  await ada.go(`${account}/plan`);
  await ada.settled();
}

/** Agrees to the terms in the dialog of a plan, and sends the order. */
async function order(plan: string, action: string): Promise<void> {
  await ada.button(`Choose ${plan}`).click();
  await dialog().getByRole("checkbox").check();
  await dialog().getByRole("button", { name: action }).click();
  await dialog().waitFor({ state: "detached" });
}

describe.skipIf(!canRun)("the page of a plan", () => {
  test("is of application accounts alone, and names the needs of an order", async () => {
    await ada.go(`${gateway}/overview`);
    await ada.settled();
    const link = ada.page.locator("aside").getByRole("link", { name: "Plan", exact: true });
    expect(await link.count()).toBe(0);
    await ada.go(`${gateway}/settings`);
    await ada.button("Open an application account").click();
    await dialog().getByRole("textbox").fill("My application");
    await dialog().getByRole("button", { name: /^Open/ }).click();
    await ada.page.waitForURL((url) => !url.pathname.includes(gateway));
    account = /acct_\w+/.exec(ada.page.url())?.[0] ?? "";
    await link.click();
    await ada.sees("You have the plan Free.");
    await ada.sees("Plans are paid by a saved card.");
    expect(await ada.button("Choose Starter").count()).toBe(0);
    await ada.inspect("plan-free");
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("sells a plan by the saved card, and shows until when it is paid", async () => {
    await ada.go(`${account}/billing?add=credit`);
    await ada.page.getByRole("textbox", { name: "Amount of credit in USD" }).fill("20");
    await dialog().getByRole("checkbox").check();
    await ada.button("To the payment page").click();
    await ada.page.locator('input[value="4242424242424242"]').check();
    await ada.button(/^Pay /).click();
    await ada.page.waitForURL(/\/billing\?top_up=/);
    await ada.sees("$20.00 was added to your balance.");
    await openPlan();
    await ada.button("Choose Starter").click();
    await ada.sees("The card is charged $8.00 now. After that it costs $8.00 a month.");
    await ada.inspect("plan-order");
    await dialog().getByRole("button", { name: "Cancel" }).click();
    await dialog().waitFor({ state: "detached" });
    await order("Starter", "Order with payment");
    await ada.sees("You have the plan Starter.");
    await ada.sees("Is renewed on");
    await ada.inspect("plan-starter");
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("changes the plan, cancels it and takes that back", async () => {
    await order("Pro", "Order with payment");
    await ada.sees("You have the plan Pro.");
    await ada.button("Choose Starter").click();
    await ada.sees("Nothing is charged now. It begins after the paid month");
    await dialog().getByRole("checkbox").check();
    await dialog().getByRole("button", { name: "Change the plan" }).click();
    await dialog().waitFor({ state: "detached" });
    await ada.sees("Then comes");
    await ada.button("Cancel the plan").click();
    await dialog().getByRole("button", { name: "Cancel the plan" }).click();
    await dialog().waitFor({ state: "detached" });
    await ada.sees("Ends on");
    await order("Pro", "Change the plan");
    await ada.sees("Is renewed on");
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test.each(LANGUAGE_TAGS)("is whole in %s", async (language) => {
    const { sql } = running.product.operator.database;
    await sql`UPDATE people SET language = ${language} WHERE email = 'ada@example.com'`;
    await openPlan();
    await ada.page.locator(`html[lang=${language}]`).waitFor();
    await ada.page.getByRole("table").waitFor();
    await ada.inspect(`plan-${language}`);
    expect(ada.complaints.splice(0)).toEqual([]);
  });
});
