// Tests that an operator's changes by the command line are in the account's activity, once.

import { expect, test } from "bun:test";
import { cliOf, jsonOf } from "../../support/product/run-cli.ts";
import { shared } from "../../support/shared.ts";
import { openWorld } from "../../support/stores/world.ts";

const world = await shared(openWorld());
const cli = await cliOf(world);

interface Entry {
  readonly actor: string;
  readonly action: string;
  readonly about: string;
}

/** The operator's changes of an account, oldest first. */
async function linesOf(account: string): Promise<string[]> {
  const { entries } = jsonOf(await cli("account", "activity", account, "--json"));
  const lines = (entries as Entry[]).map(({ actor, action, about }) => [actor, action, about]);
  return lines.map((line) => line.join(" ")).reverse();
}

async function newAccount(...more: string[]): Promise<string> {
  return String(jsonOf(await cli("account", "create", "--json", ...more)).id);
}

/** Runs a command twice; the second run changes nothing. */
async function twice(...words: string[]): Promise<void> {
  for (const _ of [1, 2]) expect(await cli(...words)).toMatchObject({ code: 0 });
}

test("changes of an account are in its activity, and their repeats are not", async () => {
  const id = await newAccount("--email", "ann@example.org");
  await twice("account", "suspend", id);
  await twice("account", "resume", id);
  await twice("account", "contract", id, "enterprise");
  await twice("account", "cap", id, "--usd", "12.5");
  await twice("account", "cap", id, "--usd", "none");
  await twice("account", "domain", id, "example.com");
  await twice("account", "adjust", id, "--usd", "3", "--reason", "Ticket 1", "--id", "a");
  await twice("account", "forgive", id, "--usd", "2", "--reason", "Ticket 2", "--id", "b");
  await twice("account", "close", id);
  expect(await linesOf(id)).toEqual([
    "operator account_opened ann@example.org",
    "operator operator_suspend suspended",
    "operator operator_resume resumed",
    "operator operator_contract contract enterprise",
    "operator cap_changed $12.5",
    "operator cap_changed none",
    "operator operator_domain mail domain example.com",
    "operator operator_adjust added $3 to the paid balance (Ticket 1)",
    "operator operator_forgive forgave up to $2 of the amount owed (Ticket 2)",
    "operator operator_close closed permanently",
  ]);
});

test("changes of its keys are in its activity, by the key's name", async () => {
  const id = await newAccount("--surface", "application");
  await twice("account", "plan", id, "pro");
  const words = ["--scopes", "models", "--name", "ci", "--json"];
  const { id: key } = jsonOf(await cli("key", "create", id, ...words));
  expect((await cli("key", "rename", id, key, "--name", "build")).code).toBe(0);
  expect((await cli("key", "set", id, key, "--disabled", "yes")).code).toBe(0);
  await twice("key", "revoke", key);
  expect((await cli("key", "rename", id, key, "--name", "late")).code).toBe(1);
  expect(await linesOf(id)).toEqual([
    "operator account_opened application",
    "operator operator_plan plan pro",
    "operator key_created ci",
    "operator key_renamed build",
    "operator key_limited build: disabled",
    "operator key_revoked build",
  ]);
});

test("changes of its payments are in its activity, and their repeats are not", async () => {
  const id = await newAccount();
  const words = ["payment", "record", id, "--usd", "20", "--id", "bank-1", "--json"];
  const { id: payment } = jsonOf(await cli(...words));
  expect(jsonOf(await cli(...words)).id).toBe(payment);
  await twice("payment", "refund", payment, "--usd", "5", "--id", "bank-2");
  await twice("payment", "dispute", payment, "open");
  expect((await linesOf(id)).slice(1)).toEqual([
    "operator operator_credit $20 credited as a payment",
    `operator operator_refund $5 of ${payment} refunded`,
    `operator operator_dispute dispute of ${payment}: open`,
  ]);
});
