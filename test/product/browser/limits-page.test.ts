// Tests the page of limits in a real browser, against the real product with its worker: the budgets
// of an account and its keys, the month that the page of usage saves as FOCUS, and burn-rate rules.

import { describe, expect, test } from "bun:test";
import { createKey } from "../../../src/accounts/administration.ts";
import { adjustBalance } from "../../../src/accounts/payments.ts";
import { usd } from "../../../src/core/money/money.ts";
import { postChat } from "../../support/api/chat-client.ts";
import { eventually } from "../../support/eventually.ts";
import { focusRows } from "../../support/focus-rows.ts";
import { sharedStage } from "../../support/product/browser-stage.ts";

const { canRun, running, ...stage } = await sharedStage();
const { visitor: ada, account } = await stage.person("ada@example.com");
const { visitor: bob, account: bobsAccount } = await stage.person("bob@example.com");
let key = "";

/** The code of a call's refusal, or its cost. */
async function call(): Promise<string | number> {
  const reply = await postChat(running.url, key, { maxTokens: 16 });
  const { error, svc } = (await reply.json()) as {
    error?: { readonly code: string };
    svc?: { readonly cost_usd: number };
  };
  return error?.code ?? svc?.cost_usd ?? Number.NaN;
}

/** Chooses in the open dialog whose budget of which span is meant. */
async function choose(of: string, span: string): Promise<void> {
  const dialog = ada.page.getByRole("dialog");
  for (const [label, option] of [
    ["Of", of],
    ["Span", span],
  ] as const) {
    await dialog.getByRole("combobox", { name: label, exact: true }).click();
    await ada.page.getByRole("option", { name: option, exact: true }).click();
  }
}

describe.skipIf(!canRun)("the budgets of an account", () => {
  test("are set for a key and for all keys, and bind the next call", async () => {
    const { administration } = running.product.operator;
    const made = await createKey(administration, account, {
      name: "agent",
      scopes: ["models"],
      ipAllowlist: [],
      monthlyLimit: null,
      tokensPerDay: 100_000,
    });
    key = made.key;
    const credit = { amount: usd("1"), reason: "a test", reference: null };
    await adjustBalance(administration, account, credit);
    await ada.go(`${account}/limits`);
    await ada.sees("No budgets beside those of the month.");
    const dialog = ada.page.getByRole("dialog");
    const set = async (of: string, span: string, amount: string) => {
      await ada.button("Set a budget").click();
      await choose(of, span);
      await dialog.getByLabel("USD in the span").fill(amount);
      await ada.inspect(`budgets-set-${span}`);
      await dialog.getByRole("button", { name: "Save" }).click();
      await dialog.waitFor({ state: "detached" });
    };
    await set("agent", "UTC day", "0.000000001");
    await ada.page.getByRole("row", { name: /agent.*UTC day/ }).waitFor();
    expect(await call()).toBe("key_budget_exceeded");
    await set("The whole account", "All time", "0.75");
    await ada.page.getByRole("row", { name: /The whole account.*All time.*0\.75/ }).waitFor();
    await ada.sees("Limited by a budget of the account.");
    await ada.sees("All time: $0.75 left");
    await ada.inspect("budgets");
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("are taken away in the same dialog, and show what was spent", async () => {
    await ada.go(`${account}/limits`);
    await ada.button("Set a budget").click();
    await choose("agent", "UTC day");
    await ada.button("Take this budget away").click();
    await ada.page.getByRole("row", { name: /agent.*UTC day/ }).waitFor({ state: "detached" });
    const cost = await call();
    expect(cost).toBeGreaterThan(0);
    await ada.page.getByRole("meter", { name: "agent: tokens of the UTC day" }).waitFor();
    await ada.page.getByText(/^99,\d{3} left · all of it again from .*, 00:00 UTC$/).waitFor();
    await ada.page
      .getByRole("row", { name: new RegExp(`The whole account.*All time.*${cost}`) })
      .waitFor();
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("give a month of FOCUS on the page of usage, with the cost of the call", async () => {
    await running.product.booked();
    await ada.go(`${account}/usage`);
    const month = new Date().toISOString().slice(0, 7);
    const link = ada.page.getByRole("link", { name: `FOCUS 1.3 of ${month}` });
    const [file] = await Promise.all([ada.page.waitForEvent("download"), link.click()]);
    const rows = focusRows(await Bun.file(await file.path()).text());
    const usage = rows.filter(({ ChargeCategory }) => ChargeCategory === "Usage");
    const billed = usage.map(({ BilledCost = "" }) => BigInt(usd(BilledCost)));
    const sum = billed.reduce((total, one) => total + one, 0n);
    const { sql } = running.product.operator.database;
    const [charged] = await sql`
      SELECT sum(cost) AS cost FROM request_log JOIN accounts a ON a.number = account
      WHERE a.id = ${account}`;
    expect(sum).toBe(BigInt(charged?.cost));
    expect(sum).toBeGreaterThan(0n);
    expect(ada.complaints.splice(0)).toEqual([]);
  });
});

describe.skipIf(!canRun)("burn-rate rules", () => {
  let key = "";
  const call = () => postChat(running.url, key, { maxTokens: 16 });

  test("a rule is added in a dialog that refuses a time that is too short", async () => {
    await bob.go(`${bobsAccount}/keys?new=key`);
    await bob.field(/^Name/).fill("agent");
    await bob.page.getByRole("dialog").getByRole("button", { name: "New key" }).click();
    key = await bob.text(bob.page.getByLabel("The key", { exact: true }));
    await bob.button("I have stored it").click();
    await bob.go(`${bobsAccount}/limits`);
    await bob.sees("No rules: a key may spend as fast as its limits let it.");
    await bob.button("Add a rule").click();
    const dialog = bob.page.getByRole("dialog");
    await dialog.getByLabel("USD in five minutes").fill("0.000001");
    await dialog.getByRole("combobox", { name: "Then" }).click();
    await bob.page.getByRole("option", { name: "Pause the key" }).click();
    await dialog.getByLabel(/^Minutes until/).fill("1");
    await dialog.getByRole("button", { name: "Save" }).click();
    await bob.sees(/minutes/);
    await dialog.getByLabel(/^Minutes until/).fill("60");
    await bob.inspect("burn-rates-add");
    await dialog.getByRole("button", { name: "Save" }).click();
    await bob.page.getByRole("row", { name: /Each key.*Pause the key, for 60 min/ }).waitFor();
    expect(bob.complaints.splice(0)).toEqual([]);
  });

  test("the worker pauses a key that spends fast, and its holder lets it go on", async () => {
    expect((await call()).status).toBe(200);
    const { sql } = running.product.operator.database;
    await eventually("the rule fires", async () => {
      return (await sql`SELECT FROM burn_alarms`).length === 1;
    });
    await eventually("the key is paused", async () => (await call()).status === 402);
    await bob.go(`${bobsAccount}/limits`);
    await bob.sees(/The key "agent" is paused until/);
    await bob.inspect("burn-rates-paused");
    await bob.button(/^Let it go on/).click();
    await bob.sees("The key takes calls again.");
    expect((await call()).status).toBe(200);
    await bob.go(`${bobsAccount}/settings`);
    await bob.sees(/ended what a burn-rate rule did to the key/);
    expect(bob.complaints.splice(0)).toEqual([]);
  });

  test("a rule is removed", async () => {
    await bob.go(`${bobsAccount}/limits`);
    await bob.button(/^Remove/).click();
    await bob.sees("No rules: a key may spend as fast as its limits let it.");
    expect(bob.complaints.splice(0)).toEqual([]);
  });
});
