// Tests the panel of burn-rate rules in a real browser, against the real product with its worker.

import { describe, expect, test } from "bun:test";
import { postChat } from "../../support/api/chat-client.ts";
import { eventually } from "../../support/eventually.ts";
import { sharedStage } from "../../support/product/browser-stage.ts";

const { canRun, running, ...stage } = await sharedStage();
const { visitor: ada, account } = await stage.person("ada@example.com");

describe.skipIf(!canRun)("burn-rate rules", () => {
  let key = "";
  const call = () => postChat(running.url, key, { maxTokens: 16 });

  test("a rule is added in a dialog that refuses a time that is too short", async () => {
    await ada.go(`${account}/keys?new=key`);
    await ada.field(/^Name/).fill("agent");
    await ada.page.getByRole("dialog").getByRole("button", { name: "New key" }).click();
    key = await ada.text(ada.page.getByLabel("The key", { exact: true }));
    await ada.button("I have stored it").click();
    await ada.go(`${account}/limits`);
    await ada.sees("No rules: a key may spend as fast as its limits let it.");
    await ada.button("Add a rule").click();
    const dialog = ada.page.getByRole("dialog");
    await dialog.getByLabel("USD in five minutes").fill("0.000001");
    await dialog.getByRole("combobox", { name: "Then" }).click();
    await ada.page.getByRole("option", { name: "Pause the key" }).click();
    await dialog.getByLabel(/^Minutes until/).fill("1");
    await dialog.getByRole("button", { name: "Save" }).click();
    await ada.sees(/minutes/);
    await dialog.getByLabel(/^Minutes until/).fill("60");
    await ada.inspect("burn-rates-add");
    await dialog.getByRole("button", { name: "Save" }).click();
    await ada.page.getByRole("row", { name: /Each key.*Pause the key, for 60 min/ }).waitFor();
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("the worker pauses a key that spends fast, and its holder lets it go on", async () => {
    expect((await call()).status).toBe(200);
    const { sql } = running.product.operator.database;
    await eventually("the rule fires", async () => {
      return (await sql`SELECT FROM burn_alarms`).length === 1;
    });
    await eventually("the key is paused", async () => (await call()).status === 402);
    await ada.go(`${account}/limits`);
    await ada.sees(/The key "agent" is paused until/);
    await ada.inspect("burn-rates-paused");
    await ada.button(/^Let it go on/).click();
    await ada.sees("The key takes calls again.");
    expect((await call()).status).toBe(200);
    await ada.go(`${account}/settings`);
    await ada.sees(/ended what a burn-rate rule did to the key/);
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("a rule is removed", async () => {
    await ada.go(`${account}/limits`);
    await ada.button(/^Remove/).click();
    await ada.sees("No rules: a key may spend as fast as its limits let it.");
    expect(ada.complaints.splice(0)).toEqual([]);
  });
});
