// Tests the versions of the shared configuration in the operators' console.

import { beforeEach, expect, test } from "bun:test";
import type { ActionReply } from "../../../src/operator/act.ts";
import type {
  ConfigurationReply,
  ConfigurationsReply,
} from "../../../src/readings/configurations.ts";
import type { TrailReply } from "../../../src/readings/trail.ts";
import { Configurations } from "../../../src/store/operators/configurations.ts";
import { ConsoleWorld } from "../../support/api/console-world.ts";
import { shared } from "../../support/shared.ts";

const EMPTY = '{ "providers": {}, "models": [] }';
const CHEAPEST = '{ "providers": {}, "models": [], "auto": { "policy": "cheapest" } }';
/** A version that a newer release could store. */
const UNREADABLE = '{ "providers": {}, "models": [], "newer": true }';

const operators = await shared(ConsoleWorld.startForOperators());
const configurations = new Configurations(operators.api.parts.stores.database);

beforeEach(async () => {
  await configurations.database.sql`TRUNCATE configurations`;
  for (const text of [EMPTY, UNREADABLE, CHEAPEST]) {
    const row = { text, actor: "command line", note: null, rollsBackTo: null, expected: null };
    await configurations.apply({ ...row, at: new Date() }, () => ["as the test says"]);
  }
});

let asked = 0;
const ask = (reason: string) => ({ id: `op_configuration_${asked++}`, reason });

async function versions() {
  const { body } = await operators.get<ConfigurationsReply>("operator", "/configurations");
  return body;
}

test("versions are listed with who, when and why, and each can be read", async () => {
  const { in_force, running, versions: rows } = await versions();
  expect([in_force, running]).toEqual([3, 0]);
  expect(rows.map(({ version }) => version)).toEqual([3, 2, 1]);
  expect(rows[0]).toMatchObject({ actor: "command line", changes: ["as the test says"] });
  const { body } = await operators.get<ConfigurationReply>("operator", "/configurations/1");
  expect(body).toMatchObject({ version: 1, text: EMPTY });
  for (const none of ["4", "0", "01", "1e0", "none"]) {
    expect((await operators.get("operator", `/configurations/${none}`)).status).toBe(404);
  }
});

test("a rollback is a new version by the operator, for a reason, in the trail too", async () => {
  const body = { ...ask("Too cheap"), version: 1 };
  const { status, body: done } = await operators.post<ActionReply>(
    "operator",
    "/configurations/rollback",
    body,
  );
  expect(status).toBe(200);
  expect(done.done).toMatchObject({ about: "configuration back to version 1", outcome: "done" });
  const { in_force, versions: rows } = await versions();
  expect(in_force).toBe(4);
  expect(rows[0]).toMatchObject({
    version: 4,
    rolls_back_to: 1,
    actor: "operator@example.com",
    note: "Too cheap",
    changes: ["auto: changed"],
  });
  const { body: trail } = await operators.get<TrailReply>("operator", "/trail");
  expect(trail.entries[0]).toMatchObject({ action: "configuration", reason: "Too cheap" });
  // The same request, sent twice, makes one version.
  const again = await operators.post<ActionReply>("operator", "/configurations/rollback", body);
  expect(again.body.repeated).toBe(true);
  expect((await versions()).in_force).toBe(4);
});

test("the version in force is not stored again, and the trail says so", async () => {
  const body = { ...ask("By mistake"), version: 3 };
  const { body: done } = await operators.post<ActionReply>(
    "operator",
    "/configurations/rollback",
    body,
  );
  expect(done.done.outcome).toBe("unchanged");
  expect((await versions()).in_force).toBe(3);
});

test("a version that this release cannot read is refused in words", async () => {
  const body = { ...ask("Try it"), version: 2 };
  const { status, message } = await operators.post("operator", "/configurations/rollback", body);
  expect(status).toBe(409);
  expect(message).toBe(
    "Version 2 cannot be put in force: its text line 1: newer is not allowed here",
  );
  const missing = await operators.post("operator", "/configurations/rollback", {
    ...ask("No"),
    version: 9,
  });
  expect([missing.status, missing.message]).toEqual([404, "There is no version 9"]);
  expect((await versions()).in_force).toBe(3);
});
