// Tests the operator's commands about the webhooks of customers.

import { expect, test } from "bun:test";
import { removeReceiver, updateReceiver } from "../../../src/accounts/webhooks.ts";
import { cliOf, jsonOf } from "../../support/product/run-cli.ts";
import { shared } from "../../support/shared.ts";
import { receive, webhooksOf } from "../../support/stores/webhook-lab.ts";
import { openAccount, openWorld, pay, usd } from "../../support/stores/world.ts";

const world = await shared(openWorld());
const cli = await cliOf(world);
const also = async () => {};

test("an operator lists webhooks with waiting events, ends one, and gives it back", async () => {
  expect((await cli("webhook", "list")).out).toBe("There are no webhooks.\n");
  const account = await openAccount(world);
  const url = "https://hooks.example/secret-path";
  const { id } = await receive(world, account, { url, events: ["payment.succeeded"] });
  await pay(world, account, usd("20"));
  const list = async () => jsonOf(await cli("webhook", "list", "--json")).webhooks;
  expect(await list()).toMatchObject([
    { id, account: account.id, disabled: null, waiting: 1, failed: 0 },
  ]);
  const { out } = await cli("webhook", "list");
  expect(out).toContain("hooks.example");
  expect(out).not.toContain("secret-path");
  expect((await cli("webhook", "disable", id)).out).toBe(`The webhook ${id} is disabled.\n`);
  expect(await list()).toMatchObject([{ disabled: "operator", waiting: 0, failed: 1 }]);
  const target = { account: account.row, id, also };
  const terms = { url, description: "", events: ["payment.succeeded"], enabled: true };
  await expect(updateReceiver(webhooksOf(world), target, terms)).rejects.toThrow(
    "The operator disabled this webhook",
  );
  await expect(removeReceiver(webhooksOf(world), target)).rejects.toThrow(
    "The operator disabled this webhook",
  );
  await cli("webhook", "enable", id);
  expect(await list()).toMatchObject([{ disabled: null }]);
});

test("an unknown webhook is said to be none, and a wrong id is a wrong use", async () => {
  const unknown = await cli("webhook", "disable", "hook_7n42DGM5Tflk9n8mt7Fhc7");
  expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining("There is no webhook")]);
  expect((await cli("webhook", "disable", "acct_1")).code).toBe(2);
});
