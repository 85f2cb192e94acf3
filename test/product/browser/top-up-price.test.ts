// Tests the cost and the credit of a top-up, before and after it is paid, with a fee, a tax and a
// bonus. In a real browser against the real product; the tax of its sandbox of payments is 10 %.

import { describe, expect, test } from "bun:test";
import { sharedStage } from "../../support/product/browser-stage.ts";

const { canRun, ...stage } = await sharedStage({
  STRIPE_AUTOMATIC_TAX: "true",
  TOP_UP_FEE_PERCENT: "3",
  TOP_UP_BONUS_PERCENT: "20",
  TOP_UP_BONUS_MAX_USD: "4",
});
const { visitor: ada, account } = await stage.person("ada@example.com");

const dialog = () => ada.page.getByRole("dialog");

/** The value of a line of the dialog. */
async function fact(name: string): Promise<string> {
  const line = dialog().locator("dt", { hasText: name });
  return await ada.text(line.locator("xpath=following-sibling::dd[1]"));
}

async function order(usd: string): Promise<void> {
  await ada.button("Add credit").click();
  await dialog().getByRole("textbox", { name: "Amount of credit in USD" }).fill(usd);
}

describe.skipIf(!canRun)("the price of a top-up", () => {
  test("is shown before anything is charged: fee, tax and bonus", async () => {
    await ada.go(`${account}/billing`);
    await order("25");
    expect(await fact("You pay")).toBe("$25.75 plus tax");
    expect(await fact("You get")).toBe("$25.00");
    expect(await fact("Bonus on top")).toBe("$4.00");
    await ada.button("To the payment page").click();
    await ada.page.locator('input[value="4242424242424242"]').check();
    await ada.button(/^Pay /).click();
    await ada.sees("$25.00 was added to your balance.");
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("has the tax if a saved card is charged at once, and no second bonus", async () => {
    await order("10");
    expect(await fact("You pay")).toBe("$10.30 plus tax");
    expect(await dialog().getByText("Bonus on top").count()).toBe(0);
    await ada.button("Pay now").click();
    await ada.sees("$10.00 was added to your balance.");
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("is shown when an automatic top-up is agreed to", async () => {
    await ada.go(`${account}/billing?add=auto`);
    await dialog().getByRole("textbox", { name: "Adds each time" }).fill("20");
    await ada.sees("The card is charged each time: $20.60 plus tax");
    await dialog().getByRole("button", { name: "Cancel" }).click();
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("is shown beside the credit once it is paid", async () => {
    await ada.sees(/plus \$0\.75 fee · plus \$2\.58 tax/);
    await ada.sees(/plus \$0\.30 fee · plus \$1\.03 tax/);
  });
});
