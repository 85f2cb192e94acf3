// Tests the pages when an answer comes late, never, or in pieces. In a real browser against the
// real product.

import { describe, expect, test } from "bun:test";
import { closedGate } from "../../support/gate.ts";
import type { Visitor } from "../../support/product/browser.ts";
import { sharedStage } from "../../support/product/browser-stage.ts";

const CHARGE = "**/top-ups/charge";
const KEYS = "**/console/api/accounts/*/keys";
const MODELS = "**/console/api/models";
/** A page is loaded this often before it gives up. */
const TRIES = 6;
const UNREACHABLE = "The server cannot be reached.";

const { canRun, running, ...stage } = await sharedStage();
const { visitor: ada, account } = await stage.person("ada@example.com");

const dialog = () => ada.page.getByRole("dialog");

async function openOrder(usd: string): Promise<void> {
  await ada.button("Add credit").click();
  await dialog().getByRole("textbox", { name: "Amount of credit in USD" }).fill(usd);
}

async function paidByCard(): Promise<number> {
  const { sql } = running.product.operator.database;
  const [row] = await sql`
    SELECT count(*)::int AS count FROM payments p JOIN accounts a ON a.number = p.account
    WHERE a.id = ${account} AND p.amount = 10_000_000_000`;
  return row?.count;
}

/** Lets the server charge, and loses its answer. */
async function loseAnswer(): Promise<void> {
  await ada.page.route(
    CHARGE,
    async (route) => {
      await route.fetch();
      await route.abort();
    },
    { times: 1 },
  );
}

describe.skipIf(!canRun)("a charge of a saved card", () => {
  test("keeps its dialog open while in progress: closing it would not stop it", async () => {
    await ada.go(`${account}/billing`);
    await openOrder("25");
    await ada.button("To the payment page").click();
    await ada.page.locator('input[value="4242424242424242"]').check();
    await ada.button(/^Pay /).click();
    await ada.sees("$25.00 was added to your balance.");
    const answer = closedGate();
    await ada.page.route(CHARGE, async (route) => {
      await answer.pass();
      await route.fulfill({ json: { top_up: { status: "succeeded", failure: null } } });
    });
    await openOrder("10");
    await Promise.all([ada.page.waitForRequest(CHARGE), ada.button("Pay now").click()]);
    await ada.page.keyboard.press("Escape");
    await ada.page.mouse.click(5, 5);
    expect(await dialog().getByRole("button", { name: "Cancel" }).isDisabled()).toBe(true);
    answer.open();
    await ada.sees("$10.00 was added to your balance.");
    await dialog().waitFor({ state: "detached" });
    await ada.page.unroute(CHARGE);
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("whose answer is lost is reported as possibly made, and never repeated", async () => {
    await loseAnswer();
    await openOrder("10");
    await ada.button("Pay now").click();
    await ada.sees("It is not known whether the card was charged.");
    await ada.button("Pay now").click();
    await dialog().waitFor({ state: "detached" });
    expect(await paidByCard()).toBe(1);
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("of another amount after a lost answer is made only on request", async () => {
    await loseAnswer();
    await openOrder("11");
    await ada.button("Pay now").click();
    await ada.sees("It is not known whether the card was charged.");
    await dialog().getByRole("textbox", { name: "Amount of credit in USD" }).fill("10");
    await ada.button("Pay now").click();
    await ada.sees("An order of another amount was taken before, so this one was not.");
    expect(await paidByCard()).toBe(1);
    await ada.button("Pay now").click();
    await dialog().waitFor({ state: "detached" });
    expect(await paidByCard()).toBe(2);
    expect(ada.complaints.splice(0)).toEqual([]);
  });
});

test.skipIf(!canRun)(
  "the dialog of a new key stays until the key that it makes is shown",
  async () => {
    const answer = closedGate();
    await ada.page.route(KEYS, async (route) => {
      if (route.request().method() === "POST") await answer.pass();
      await route.continue();
    });
    await ada.go(`${account}/keys?new=key`);
    await dialog().getByLabel(/^Name/).fill("shown once");
    const making = ada.page.waitForRequest((request) => request.method() === "POST");
    await Promise.all([making, dialog().getByRole("button", { name: "New key" }).click()]);
    await ada.page.keyboard.press("Escape");
    await ada.page.mouse.click(5, 5);
    expect(await dialog().getByRole("button", { name: "Cancel" }).isDisabled()).toBe(true);
    answer.open();
    await dialog()
      .getByText(/^svc_live_/)
      .first()
      .waitFor();
    await ada.page.keyboard.press("Escape");
    await dialog().waitFor({ state: "detached" });
    await ada.page.unroute(KEYS);
    expect(ada.complaints.splice(0)).toEqual([]);
  },
);

test.skipIf(!canRun)("a change whose answer is lost may have been made, and says so", async () => {
  await ada.page.route(
    KEYS,
    async (route) => {
      if (route.request().method() === "GET") return await route.fallback();
      await route.fetch();
      await route.fulfill({ status: 502, body: "<html>" });
    },
    { times: 2 },
  );
  await ada.go(`${account}/keys?new=key`);
  await dialog().getByLabel(/^Name/).fill("lost");
  await dialog().getByRole("button", { name: "New key" }).click();
  await ada.sees("It may have been done all the same: look before you try again.");
  expect(ada.complaints.splice(0)).toEqual([]);
});

test.skipIf(!canRun)("a payer who comes back sees if the payment cannot be read", async () => {
  const { sql } = running.product.operator.database;
  const [row] = await sql`
    SELECT t.id FROM top_ups t JOIN accounts a ON a.number = t.account
    WHERE a.id = ${account} AND t.kind = 'checkout'`;
  const status = `**/top-ups/${row?.id}`;
  await ada.page.route(status, (route) => route.abort());
  await ada.go(`${account}/billing?top_up=${row?.id}`);
  await ada.sees(
    `What became of your payment is not known yet; this page asks again. ${UNREACHABLE}`,
  );
  await ada.page.unroute(status);
  await ada.sees("$25.00 was added to your balance.");
  expect(ada.complaints.splice(0)).toEqual([]);
});

describe.skipIf(!canRun)("an answer of the playground", () => {
  test("that breaks off is reported, and leads to its receipt", async () => {
    const chunk = {
      choices: [{ index: 0, delta: { content: "Half an ans" }, finish_reason: null }],
    };
    const calls = "**/console/api/accounts/*/playground";
    await ada.page.route(calls, (route) =>
      route.fulfill({
        headers: { "content-type": "text/event-stream", "x-request-id": "req_1" },
        body: `data: ${JSON.stringify(chunk)}\n\n`,
      }),
    );
    await ada.go(`${account}/playground`);
    await ada.page.getByLabel("Message").fill("Hello");
    await ada.button("Send").click();
    await ada.sees("Half an ans");
    await ada.sees("The answer broke off.");
    const receipt = ada.page.getByRole("link", { name: "Receipt" });
    expect(await receipt.getAttribute("href")).toContain("open=req_1");
    await ada.page.unroute(calls);
    expect(ada.complaints.splice(0)).toEqual([]);
  });
});

test.skipIf(!canRun)("a receipt that is not in the log yet is waited for", async () => {
  await ada.go(`${account}/playground`);
  await ada.page.getByLabel("Message").fill("Hello");
  await ada.button("Send").click();
  const missing = { error: { code: "not_found", message: "The log has no such request" } };
  await ada.page.route(
    "**/console/api/accounts/*/requests/req_*",
    (route) => route.fulfill({ status: 404, json: missing }),
    { times: 1 },
  );
  await ada.page.getByRole("link", { name: "Receipt" }).click();
  await ada.page.getByRole("complementary").getByText("charged", { exact: true }).waitFor();
  expect(ada.complaints.splice(0)).toEqual([]);
});

describe.skipIf(!canRun)("data that cannot be loaded", () => {
  test("is named in the choice of models, and in the dialog of a new key", async () => {
    await ada.page.route(MODELS, (route) => route.fulfill({ status: 500, body: "<html>" }));
    await ada.go(`${account}/playground`);
    await ada.sees("The server sent an answer that this page cannot read.");
    await ada.page.unroute(MODELS);
    await ada.button("Try again").click();
    await ada.page.getByLabel("Message").waitFor();
    const keys = "**/console/api/accounts/*/keys";
    await ada.page.route(keys, (route) => route.fulfill({ status: 500, body: "<html>" }));
    await ada.go(`${account}/keys?new=key`);
    await dialog().getByText("The server sent an answer that this page cannot read.").waitFor();
    await ada.page.unroute(keys);
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("is named without a network: old rows do not stand below new filters", async () => {
    await ada.go(`${account}/requests`);
    await ada.sees(/shown, newest first/);
    await ada.page.context().setOffline(true);
    await ada.page.getByRole("combobox", { name: "Result" }).click();
    await ada.page.getByRole("option", { name: "Refused" }).click();
    await ada.sees(UNREACHABLE);
    await ada.page.context().setOffline(false);
    await ada.sees("No request matches");
    expect(ada.complaints.splice(0)).toEqual([]);
  });
});

/** The address of each page that a window has begun to load. */
function loadsOf({ page }: Visitor): string[] {
  const loads: string[] = [];
  page.on("request", (request) => {
    if (request.isNavigationRequest()) loads.push(request.url());
  });
  return loads;
}

describe.skipIf(!canRun)("a page of another release than the server of its files", () => {
  const files = "**/dashboard/assets/main-*";
  const missing = { status: 404, body: "" };

  test("is loaded again until it has them", async () => {
    await using bob = await stage.visitor();
    const loads = loadsOf(bob);
    await bob.page.route(files, (route) =>
      loads.length < 3 ? route.fulfill(missing) : route.continue(),
    );
    await bob.go("sign-in");
    await bob.button("Sign in").first().waitFor();
    expect(loads).toHaveLength(3);
  });

  test("of operators reports that it is of another release", async () => {
    await using bob = await stage.visitor();
    await bob.page.route("**/dashboard/assets/operator-app-*", (route) => route.fulfill(missing));
    await bob.page.goto(`${running.url}/operator`);
    await bob.button("Reload").waitFor();
  });

  test("stops after some tries and reports it; the next time it tries again", async () => {
    await using bob = await stage.visitor();
    const loads = loadsOf(bob);
    for (const _ of ["first", "second"]) {
      await bob.page.route(files, (route) => route.fulfill(missing));
      loads.length = 0;
      await bob.go("sign-in");
      await bob.page.getByRole("alert").filter({ hasText: "cannot be loaded" }).waitFor();
      expect(loads).toHaveLength(TRIES);
      await bob.page.unroute(files);
      await bob.go("sign-in");
      await bob.button("Sign in").first().waitFor();
    }
  });
});

test.skipIf(!canRun)("usage up to now is shown though the browser's clock is wrong", async () => {
  await ada.go(`${account}/playground`);
  await ada.page.getByLabel("Message").fill("Hello");
  await ada.button("Send").click();
  await ada.page.getByRole("link", { name: "Receipt" }).waitFor();
  await ada.page.clock.setFixedTime(Date.now() - 30 * 3_600_000);
  await ada.go(`${account}/usage?range=24h&group=model`);
  await ada.page.getByRole("row", { name: /^ok / }).waitFor();
  expect(ada.complaints.splice(0)).toEqual([]);
});
