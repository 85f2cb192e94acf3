// Tests people's work with an account in the dashboard, in a real browser against the real product:
// pay, limit, share, try out, secure and close it.

import { describe, expect, test } from "bun:test";
import { SANDBOX_TEXTS } from "../../../src/annexes/stripe-sandbox/texts/sandbox-texts.ts";
import { postChat } from "../../support/api/chat-client.ts";
import { eventually } from "../../support/eventually.ts";
import { PASSWORD } from "../../support/product/browser.ts";
import { sharedStage } from "../../support/product/browser-stage.ts";

const { canRun, running, ...stage } = await sharedStage();
const { visitor: ada, account } = await stage.person("ada@example.com");
const bob = await stage.visitor();

/** Adds credit on the page of the sandbox, with one of its test cards. */
async function payWith(card: string, usd: string): Promise<void> {
  await ada.go(`${account}/billing?add=credit`);
  await ada.page.getByRole("textbox", { name: "Amount of credit in USD" }).fill(usd);
  await ada.button("To the payment page").click();
  await ada.page.locator(`input[value="${card}"]`).check();
  await ada.button(/^Pay /).click();
}

/** Makes a key on its page, and returns it. */
async function makeKey(name: string, monthlyUsd?: string): Promise<string> {
  await ada.go(`${account}/keys?new=key`);
  await ada.field(/^Name/).fill(name);
  const dialog = ada.page.getByRole("dialog");
  if (monthlyUsd !== undefined) await dialog.getByLabel(/^Monthly budget/).fill(monthlyUsd);
  await dialog.getByRole("button", { name: "New key" }).click();
  const key = await ada.text(ada.page.getByLabel("The key", { exact: true }));
  await ada.button("I have stored it").click();
  return key;
}

async function geocode(key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  const address = `${running.url}/v1/maps?action=geocode&query=Berlin`;
  return (await fetch(address, { headers })).status;
}

const call = (key: string) => postChat(running.url, key, { maxTokens: 16 });

describe.skipIf(!canRun)("billing", () => {
  test("a declined card adds nothing, and the page says so", async () => {
    await payWith("4000000000000002", "10");
    await ada.page.getByRole("alert").waitFor();
    await ada.inspect("sandbox-payment");
    const inkIn = async (colorScheme: "light" | "dark") => {
      await ada.page.emulateMedia({ colorScheme });
      return await ada.page.evaluate("getComputedStyle(document.body).color");
    };
    expect([await inkIn("dark"), await inkIn("light")]).toEqual([
      "rgb(255, 255, 255)",
      "rgb(0, 0, 0)",
    ]);
    await ada.go(`${account}/billing`);
    await ada.sees("Go on paying");
    await ada.page.getByRole("row", { name: /Top-up.*open/ }).waitFor();
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("a top-up by a card of the sandbox is credited, and its card is saved", async () => {
    await payWith("4242424242424242", "25");
    await ada.page.waitForURL(/\/billing\?top_up=/);
    await ada.sees("$25.00 was added to your balance.");
    await ada.page.getByRole("row", { name: /Top-up.*\+\$25\.00/ }).waitFor();
    await ada.sees("Visa …4242");
    await ada.inspect("billing");
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("the automatic top-up is turned on with consent, fires once, is turned off", async () => {
    await ada.go(`${account}/billing`);
    await ada.button("Turn on").click();
    const dialog = ada.page.getByRole("dialog");
    expect(await dialog.getByRole("button", { name: "Turn on" }).isDisabled()).toBe(true);
    await dialog.getByLabel("Adds each time").fill("25");
    // The next call brings the balance below the threshold.
    await dialog.getByLabel("When the balance is below").fill("25");
    await dialog.getByRole("checkbox").check();
    await dialog.getByRole("button", { name: "Turn on" }).click();
    await ada.button("Turn off").waitFor();
    const key = await makeKey("payer");
    // Free credit is only for models, so maps are paid.
    expect(await geocode(key)).toBe(200);
    await ada.go(`${account}/billing`);
    const automatic = ada.page.getByRole("row", { name: /Automatic top-up.*\+\$25\.00/ });
    await automatic.waitFor();
    await ada.inspect("billing-automatic");
    // Further calls leave the balance above the threshold.
    for (let count = 0; count < 3; count += 1) expect(await geocode(key)).toBe(200);
    const { store } = running.sandbox.actions;
    await eventually("every event is delivered", () => store.undelivered.length === 0);
    const { sql } = running.product.operator.database;
    const [row] = await sql`SELECT count(*)::int AS n FROM top_ups WHERE kind = 'auto'`;
    expect(row?.n).toBe(1);
    expect(await automatic.count()).toBe(1);
    await ada.button("Turn off").click();
    await ada.page.getByRole("dialog").getByRole("button", { name: "Turn off" }).click();
    await ada.button("Turn on").waitFor();
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("refund and dispute are rows; a dispute pauses the account until it is won", async () => {
    const { sql } = running.product.operator.database;
    const [paid] = await sql`SELECT intent FROM top_ups
      WHERE kind = 'checkout' AND status = 'succeeded'`;
    const intent = String(paid?.intent);
    running.sandbox.actions.refund(intent, 500);
    await ada.go(`${account}/billing`);
    await ada.page.getByRole("row", { name: /Refund.*[-−]\$5\.00/ }).waitFor();
    const dispute = running.sandbox.actions.dispute(intent, "needs_response");
    await ada.page.getByRole("row", { name: /Dispute.*[-−]\$20\.00/ }).waitFor();
    await ada.inspect("billing-dispute");
    running.sandbox.actions.moveDispute(dispute.id, "won");
    await ada.page.getByRole("row", { name: /Dispute.*decided for you/ }).waitFor();
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("the page that plays banks is read in three languages, and used", async () => {
    const { page } = ada;
    const { url } = running.sandbox;
    for (const language of ["de", "zh-Hans", "en"] as const) {
      await page.goto(`${url}/?language=${language}`);
      await page.getByRole("heading", { name: SANDBOX_TEXTS[language].bank.title }).waitFor();
      await ada.inspect(`sandbox-bank-${language}`);
    }
    await ada.button("Warn of fraud").first().click();
    await page.getByRole("heading", { name: "Payments" }).waitFor();
    const { store } = running.sandbox.actions;
    expect(store.list("radar.early_fraud_warning")).toHaveLength(1);
    await ada.go(`${account}/billing`);
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("a card is removed after a confirmation", async () => {
    await ada.button(/^Remove: Visa/).click();
    await ada.page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await ada.sees("No card is saved.");
    expect(ada.complaints.splice(0)).toEqual([]);
  });
});

describe.skipIf(!canRun)("a key's budget", () => {
  test("that is reached refuses calls, and the ticket links to raising it", async () => {
    const key = await makeKey("small", "0.1");
    await eventually("the budget is reached", async () => (await call(key)).status === 402);
    await ada.go(`${account}/requests?status=refused`);
    await ada.page
      .getByRole("row", { name: /402 key_budget_exceeded/ })
      .first()
      .click();
    await ada.sees("Why it was refused");
    await ada.sees("The limit is the key's monthly limit.");
    await ada.sees("Nothing was charged.");
    await ada.inspect("refusal-budget");
    const ticket = ada.page.getByRole("complementary");
    await ticket.getByRole("link", { name: "See the keys" }).click();
    await ada.page.waitForURL(/\/keys/);
    await ada.inspect("keys-budget");
    expect(ada.complaints.splice(0)).toEqual([]);
  });
});

describe.skipIf(!canRun)("limits and models", () => {
  test("an own monthly cap is set, shown, and taken away", async () => {
    await ada.go(`${account}/limits`);
    await ada.button("Set your own cap").click();
    await ada.page.getByLabel("Monthly cap in USD").fill("12.5");
    await ada.button("Save").click();
    await ada.sees("$12.50");
    await ada.inspect("limits");
    await ada.button("Change your cap").click();
    await ada.button("Take the cap away").click();
    await ada.button("Set your own cap").waitFor();
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("models have their prices", async () => {
    await ada.go(`${account}/models`);
    await ada.page.getByRole("row", { name: /ok.*\$1,000\.00.*\$2,000\.00/ }).waitFor();
    await ada.inspect("models");
    expect(ada.complaints.splice(0)).toEqual([]);
  });
});

describe.skipIf(!canRun)("the playground", () => {
  test("shows the hold before a chat, and the exact cost after it", async () => {
    await ada.go(`${account}/playground`);
    await ada.page.getByLabel("Message").fill("Hello");
    await ada.sees("Holds $");
    await ada.button("Send").click();
    await ada.sees("It cost $");
    await ada.page.getByRole("link", { name: "Receipt" }).waitFor();
    await ada.inspect("playground");
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("caps the cost of a call, and says when the cap is too low for it", async () => {
    await ada.go(`${account}/playground`);
    await ada.page.getByLabel("Cap of a call").fill("0.5");
    await ada.page.getByLabel("Message").fill("Hello");
    await ada.sees(/Holds \$0\.[34]/);
    await ada.button("Send").click();
    await ada.sees("It cost $");
    await ada.page.getByLabel("Message").fill("Hello again");
    await ada.page.getByLabel("Cap of a call").fill("0.00001");
    await ada.sees("x-svc-max-cost-usd");
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("calls maps, and shows the answer with its price", async () => {
    await ada.go(`${account}/playground?tab=maps`);
    await ada.button("Ask").click();
    await ada.sees("maps.result");
    await ada.sees("It cost $0.0000");
    expect(ada.complaints.splice(0)).toEqual([]);
  });
});

describe.skipIf(!canRun)("a team", () => {
  test("invites a viewer, who sees the account and can change nothing", async () => {
    await ada.go(`${account}/team`);
    await ada.page.getByLabel(/^E-mail/).fill("bob@example.com");
    await ada.button("Invite").click();
    await ada.sees("bob@example.com is invited. No mail was sent: there is no mail server here.");
    await ada.inspect("team");
    const mailed = ada.page.getByRole("link", { name: "the link" });
    const link = (await mailed.getAttribute("href")) ?? "";
    await bob.signUp("bob@example.com");
    await bob.page.goto(link);
    await bob.button("Accept the invitation").click();
    await bob.page.waitForURL(new RegExp(account));
    await bob.go(`${account}/keys`);
    await bob.sees("Your role here is viewer");
    expect(await bob.button("New key").count()).toBe(0);
    await bob.go(`${account}/billing`);
    await bob.sees("somebody with billing rights can pay");
    expect([ada.complaints.splice(0), bob.complaints.splice(0)]).toEqual([[], []]);
  });

  test("removes a member, who loses access at once", async () => {
    await ada.go(`${account}/team`);
    await ada.button("Remove: bob@example.com").click();
    await ada.page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await ada.page.getByRole("row", { name: /bob@example.com/ }).waitFor({ state: "hidden" });
    await bob.page.waitForURL((url) => !url.pathname.includes(account));
    expect([ada.complaints.splice(0), bob.complaints.splice(0)]).toEqual([[], []]);
  });
});

describe.skipIf(!canRun)("keys and settings", () => {
  test("a new key gets limits of its own in the dialog that makes it", async () => {
    await ada.go(`${account}/keys?new=key`);
    await ada.field(/^Name/).fill("bounded");
    const dialog = ada.page.getByRole("dialog");
    await dialog.getByText(/^More limits/).click();
    await dialog.getByLabel("Requests a minute").fill("1");
    await dialog.getByLabel("Requests a day").fill("0");
    await ada.sees("A whole number above zero, or nothing");
    expect(await dialog.getByRole("button", { name: "New key" }).isDisabled()).toBe(true);
    await dialog.getByLabel("Requests a day").fill("100");
    await dialog.getByLabel("Tokens a minute").fill("50000");
    await dialog.getByLabel("Tokens a day").fill("2000000");
    await dialog.getByLabel("Tags").fill("web, night");
    await ada.inspect("key-new-limits");
    await dialog.getByRole("button", { name: "New key" }).click();
    const key = await ada.text(ada.page.getByLabel("The key", { exact: true }));
    await ada.button("I have stored it").click();
    await ada.page.getByRole("row", { name: /bounded.*web, night/ }).waitFor();
    expect((await call(key)).status).toBe(200);
    expect((await call(key)).status).toBe(429);
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("the limits of a key are changed, bind at once, and the key stays", async () => {
    const key = await makeKey("narrow");
    const dialog = ada.page.getByRole("dialog");
    const save = async () => {
      await dialog.getByRole("button", { name: "Save" }).click();
      await dialog.waitFor({ state: "detached" });
    };
    await ada.button("Limits: narrow").click();
    await dialog.getByLabel("Models").fill("other-*\nanother");
    await dialog.getByLabel("Requests a day").fill("0");
    await ada.sees("A whole number above zero, or nothing");
    expect(await dialog.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
    await dialog.getByLabel("Requests a day").fill("1000");
    await dialog.getByLabel("Tokens a minute").fill("50000");
    await dialog.getByLabel("Ends").fill("2031-12-31");
    await ada.inspect("key-limits");
    await save();
    await ada.sees("ends 31 Dec 2031");
    await ada.sees("2 model rules");
    const refused = await call(key);
    expect(refused.status).toBe(403);
    expect(await refused.text()).toContain("only other-*, another");
    await ada.button("Limits: narrow").click();
    await dialog.getByRole("switch").check();
    await dialog.getByLabel("Models").fill("");
    await save();
    await ada.page.getByRole("row", { name: /narrow.*disabled/ }).waitFor();
    await ada.inspect("keys-disabled");
    expect((await call(key)).status).toBe(401);
    await ada.button("Limits: narrow").click();
    await dialog.getByRole("switch").uncheck();
    await dialog.getByLabel("Ends").fill("");
    await save();
    expect((await call(key)).status).toBe(200);
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("a key is deleted after its name was typed, and stops working at once", async () => {
    const key = await makeKey("short-lived");
    const status = async () => {
      const headers = { authorization: `Bearer ${key}` };
      return (await fetch(`${running.url}/v1/me`, { headers })).status;
    };
    expect(await status()).toBe(200);
    await ada.button("Delete: short-lived").click();
    const dialog = ada.page.getByRole("dialog");
    expect(await dialog.getByRole("button", { name: "Delete" }).isDisabled()).toBe(true);
    await dialog.getByRole("textbox").fill("short-lived");
    await dialog.getByRole("button", { name: "Delete" }).click();
    await ada.sees("The key is deleted.");
    expect(await status()).toBe(401);
    await ada.inspect("keys");
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("names that look like markup are shown as text on every page", async () => {
    const name = '"><img src=x onerror="document.title=1"><b>';
    const rename = (to: string) =>
      ada.page.evaluate(
        async ([id, text]) => {
          const init = { method: "POST", headers: { "content-type": "application/json" } };
          const body = JSON.stringify({ name: text });
          return (await fetch(`/console/api/accounts/${id}/rename`, { ...init, body })).status;
        },
        [account, to] as const,
      );
    const key = await makeKey(name);
    expect((await call(key)).status).toBe(200);
    expect(await rename(name)).toBe(200);
    for (const path of ["keys", "overview", "usage?group=key", "requests", "team", "settings"]) {
      await ada.go(`${account}/${path}`);
      await ada.settled();
      await ada.sees(name);
      expect([path, await ada.page.locator("img[src=x]").count()]).toEqual([path, 0]);
      expect(await ada.page.title()).not.toBe("1");
    }
    expect(await rename("ada's account")).toBe(200);
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("a session elsewhere is ended, and that browser must sign in again", async () => {
    const other = await stage.visitor();
    await other.go("sign-in");
    await other.inspect("sign-in");
    await other.field(/^E-mail/).fill("ada@example.com");
    await other.page.locator("input[name=password]").fill(PASSWORD);
    await other.button("Sign in").click();
    await other.page.waitForURL(/overview/);
    await ada.go(`${account}/settings`);
    await ada.button("Sign out everywhere else").click();
    await ada.sees("All other sessions have ended.");
    await ada.inspect("settings");
    await other.page.waitForURL(/sign-in/);
    expect([ada.complaints.splice(0), other.complaints.splice(0)]).toEqual([[], []]);
  });

  test("an account is closed with its name and the password", async () => {
    await ada.go(`${account}/settings`);
    await ada.button("Close the account").click();
    const dialog = ada.page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: /^Type / }).fill("ada's account");
    expect(await dialog.getByRole("button", { name: "Close the account" }).isDisabled()).toBe(true);
    const name = /^Type (.*) to confirm$/.exec(await ada.text(dialog.locator("label").first()));
    await dialog.getByRole("textbox", { name: /^Type / }).fill(name?.[1] ?? "");
    await dialog.locator("input[type=password]").fill(PASSWORD);
    await dialog.getByRole("button", { name: "Close the account" }).click();
    await ada.sees("This account is closed.");
    expect(ada.complaints.splice(0)).toEqual([]);
  });
});
