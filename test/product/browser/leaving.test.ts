// Tests a page that is left, and a page whose subject has ended: a session, a key, a card, an
// order. In a real browser against the real product.

import { describe, expect, test } from "bun:test";
import { PASSWORD } from "../../support/product/browser.ts";
import { sharedStage } from "../../support/product/browser-stage.ts";

const EMAIL = "ada@example.com";
/** Calls of the playground, not its page. */
const CALLS = "**/console/api/accounts/*/playground";

const { canRun, running, ...stage } = await sharedStage();
const { visitor: ada, account } = await stage.person(EMAIL);

async function signIn(): Promise<void> {
  await ada.field(/^E-mail/).fill(EMAIL);
  await ada.page.locator("input[name=password]").fill(PASSWORD);
  await ada.button("Sign in").click();
}

/** Opens a page of the account by the navigation, without loading the document again. */
async function openBeside(name: string): Promise<void> {
  await ada.page.getByRole("complementary").getByRole("link", { name, exact: true }).click();
}

async function signOut(): Promise<void> {
  await ada.page.getByRole("button", { name: EMAIL }).click();
  await ada.page.getByRole("menuitem", { name: "Sign out" }).click();
}

async function makeKey(name: string): Promise<string> {
  await openBeside("Keys");
  await ada.button("New key").first().click();
  await ada.field(/^Name/).fill(name);
  await ada.page.getByRole("dialog").getByRole("button", { name: "New key" }).click();
  const key = await ada.text(ada.page.getByLabel("The key", { exact: true }));
  await ada.button("I have stored it").click();
  return key;
}

async function deleteKey(name: string): Promise<void> {
  await ada.button(`Delete: ${name}`).click();
  const dialog = ada.page.getByRole("dialog");
  await dialog.getByRole("textbox").fill(name);
  await dialog.getByRole("button", { name: "Delete" }).click();
  await ada.sees("The key is deleted.");
}

/** The lines of the first steps that make a call. */
async function firstCall(): Promise<string> {
  await openBeside("Overview");
  return await ada.text(ada.page.getByRole("region", { name: "curl" }));
}

describe.skipIf(!canRun)("the lines of the first steps", () => {
  test("hold the new key until it is deleted, or its maker signs out", async () => {
    await makeKey("first");
    const second = await makeKey("second");
    expect(await firstCall()).toContain(second);
    await openBeside("Keys");
    await deleteKey("second");
    expect(await firstCall()).toContain("Bearer $FAREBOX_API_KEY");
    const third = await makeKey("third");
    expect(await firstCall()).toContain(third);
    await signOut();
    await ada.page.waitForURL(/sign-in/);
    await signIn();
    await ada.page.waitForURL(/overview/);
    expect(await firstCall()).toContain("Bearer $FAREBOX_API_KEY");
    expect(ada.complaints.splice(0)).toEqual([]);
  });
});

describe.skipIf(!canRun)("a session", () => {
  test("that ends while a page is open leads to sign-in, and back to that page", async () => {
    await openBeside("Billing");
    await ada.page.waitForURL(/billing/);
    const { sql } = running.product.operator.database;
    await sql`DELETE FROM sessions`;
    await ada.page.waitForURL(/sign-in\?next=/);
    await signIn();
    await ada.page.waitForURL(new RegExp(`${account}/billing$`));
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("that could not be ended goes on, and the page says so", async () => {
    await ada.page.route("**/sign-out", (route) => route.abort());
    await signOut();
    await ada.sees("The server cannot be reached.");
    expect(ada.page.url()).toContain(`${account}/billing`);
    await ada.page.unroute("**/sign-out");
    expect(ada.complaints.splice(0)).toEqual([]);
  });
});

test.skipIf(!canRun)("an account that is left leads to the person's own", async () => {
  const bob = await stage.person("bob@example.com");
  const { sql } = running.product.operator.database;
  const [joined] = await sql`
    INSERT INTO memberships (account, person, role)
    SELECT a.number, p.id, 'viewer' FROM accounts a, people p
    WHERE a.id = ${account} AND p.email = 'bob@example.com' RETURNING role`;
  expect(joined?.role).toBe("viewer");
  const { visitor } = bob;
  await visitor.go(`${account}/settings`);
  await visitor.field(/^Name/).fill("Robert");
  // Once the button was pressed: the page reads the account by itself too, and leaves at once then.
  await visitor.page.route("**/console/api/**", async (route) => {
    if (route.request().method() !== "GET") {
      await sql`DELETE FROM memberships m USING accounts a, people p
        WHERE a.number = m.account AND p.id = m.person AND a.id = ${account}
          AND p.email = 'bob@example.com'`;
    }
    await route.continue();
  });
  await visitor.button("Save").first().click();
  await visitor.page.waitForURL(new RegExp(`${bob.account}/overview`));
  expect(visitor.complaints).toEqual([]);
});

describe.skipIf(!canRun)("the playground", () => {
  test("restores the prompt if the answer is stopped before it begins", async () => {
    await ada.page.route(CALLS, () => {});
    await ada.go(`${account}/playground`);
    await ada.page.getByLabel("Message").fill("Hello");
    await ada.button("Send").click();
    await ada.button("Stop").click();
    await ada.button("Stop").waitFor({ state: "hidden" });
    expect(await ada.page.getByLabel("Message").inputValue()).toBe("Hello");
  });

  test("stops the answer when its page is left: it would be paid for unseen", async () => {
    await ada.button("Send").click();
    await ada.button("Stop").waitFor();
    const ended = ada.page.waitForEvent("requestfailed", (request) =>
      request.url().endsWith("/playground"),
    );
    await openBeside("Models");
    expect((await ended).failure()?.errorText).toBe("net::ERR_ABORTED");
    await ada.page.unroute(CALLS);
    expect(ada.complaints.splice(0)).toEqual([]);
  });
});

describe.skipIf(!canRun)("a saved card", () => {
  test("that is declined leaves room for another order by another card", async () => {
    await ada.go(`${account}/billing?add=credit`);
    await ada.page.getByRole("textbox", { name: "Amount of credit in USD" }).fill("25");
    await ada.button("To the payment page").click();
    await ada.page.locator('input[value="4242424242424242"]').check();
    await ada.button(/^Pay /).click();
    await ada.sees("$25.00 was added to your balance.");
    const orders: string[] = [];
    await ada.page.route("**/top-ups/charge", async (route) => {
      orders.push(route.request().postDataJSON().request);
      const status = orders.length === 1 ? "failed" : "succeeded";
      const failure = status === "failed" ? "insufficient_funds" : null;
      await route.fulfill({ json: { top_up: { status, failure, amount_usd: "10" } } });
    });
    await ada.button("Add credit").click();
    await ada.button("Pay now").click();
    await ada.sees("The card was declined");
    await ada.button("Pay now").click();
    await ada.sees("$10.00 was added to your balance.");
    await ada.page.unroute("**/top-ups/charge");
    expect(new Set(orders).size).toBe(2);
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("that is removed pauses the automatic top-up, which then needs a card", async () => {
    await ada.go(`${account}/billing?add=auto`);
    const dialog = ada.page.getByRole("dialog");
    await dialog.getByRole("checkbox").check();
    await dialog.getByRole("button", { name: "Turn on" }).click();
    await ada.button("Turn off").waitFor();
    await ada.button(/^Remove: Visa/).click();
    await ada.page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await ada.sees("It needs a saved card: add credit once and save the card.");
    await ada.sees("paused");
    expect(await ada.button("Check and resume").count()).toBe(0);
    expect(ada.complaints.splice(0)).toEqual([]);
  });
});
