// The people of the walk in a browser: the operator's first minutes, and a customer who pays.

import { Visitor } from "../../test/support/product/browser.ts";
import { startBrowser } from "../../test/support/product/chromium.ts";

const CARD = "4242424242424242";

export interface People extends AsyncDisposable {
  readonly operator: Visitor;
  readonly customer: Visitor;
}

/**
 * Opens a window for each person: for the operator at the address of the link, which has a host
 * name because browsers make passkeys for these alone.
 */
export async function openPeople(
  chromium: string,
  { origin, link }: { readonly origin: string; readonly link: string },
): Promise<People> {
  await using resources = new AsyncDisposableStack();
  const browser = await startBrowser(chromium);
  resources.defer(() => browser.close());
  const operator = await Visitor.open(browser, new URL(link).origin);
  await operator.addAuthenticator();
  const customer = await Visitor.open(browser, origin);
  const kept = resources.move();
  return { operator, customer, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/** Follows the link of `farebox setup`, and makes the passkey that the console asks for. */
export async function becomeOperator(operator: Visitor, link: string): Promise<void> {
  await operator.page.goto(link);
  await operator.button("Sign in").click();
  await operator.button("Add a passkey").click();
  await operator.field(/^A name for it/).fill("Laptop");
  await operator.button("Continue").click();
  await operator.page.getByRole("heading", { name: "Accounts" }).waitFor();
}

/** Waits until the front page has the name of the brand and the price of a model. */
export async function seeFrontPage(
  { page, base }: Visitor,
  texts: readonly string[],
): Promise<void> {
  await page.goto(base);
  for (const text of texts) await page.getByText(text).first().waitFor();
}

/** Pays on the page of the sandbox. */
export async function pay(customer: Visitor, account: string, usd: string): Promise<void> {
  await customer.go(`${account}/billing?add=credit`);
  await customer.page.getByRole("textbox", { name: "Amount of credit in USD" }).fill(usd);
  await customer.button("To the payment page").click();
  await customer.page.locator(`input[value="${CARD}"]`).check();
  await customer.button(/^Pay /).click();
  await customer.page.waitForURL(/\/billing\?top_up=/);
  await customer.sees(`$${usd}.00 was added to your balance.`);
}

/** Makes a key on its page, and returns it. */
export async function makeKey(customer: Visitor, account: string): Promise<string> {
  await customer.go(`${account}/keys?new=key`);
  await customer.field(/^Name/).fill("first");
  const dialog = customer.page.getByRole("dialog");
  await dialog.getByRole("button", { name: "New key" }).click();
  const key = await customer.text(customer.page.getByLabel("The key", { exact: true }));
  await customer.button("I have stored it").click();
  return key;
}

/** Opens the ticket of a call in the list of requests, and returns the amount on it. */
export async function seeTicket(
  customer: Visitor,
  account: string,
  requestId: string,
): Promise<string> {
  await customer.go(`${account}/requests`);
  await customer.page
    .getByRole("row", { name: /first.*200/ })
    .first()
    .click();
  const ticket = customer.page.getByRole("complementary", { name: "Receipt" });
  await ticket.getByText(requestId).waitFor();
  return await customer.text(ticket.locator(".figure"));
}

/** The texts of the people's pages, for the words of a failed step. */
export async function whatTheySee({ operator, customer }: People): Promise<string> {
  const views = [operator, customer].map(async ({ page }) => {
    const text = await page.locator("body").textContent();
    return `${page.url()}: ${text?.replaceAll(/\s+/g, " ")}`;
  });
  return (await Promise.all(views)).join("\n\n");
}
