// Tests operators' changes of accounts: each is made once for its id, and one line names its author
// and reason.

import { describe, expect, test } from "bun:test";
import type { ActionReply } from "../../../src/operator/act.ts";
import type { ActivityReply } from "../../../src/readings/activity.ts";
import type { BillingReply } from "../../../src/readings/billing.ts";
import type { OperatorAccountReply } from "../../../src/readings/operator-account.ts";
import type { TrailReply } from "../../../src/readings/trail.ts";
import { lockAccount } from "../../../src/store/ledger/operations.ts";
import {
  endAction,
  findAction,
  recordAction,
  recordActionIn,
} from "../../../src/store/operators/operator-actions.ts";
import { ConsoleWorld } from "../../support/api/console-world.ts";
import { eventually } from "../../support/eventually.ts";
import { shared } from "../../support/shared.ts";

let count = 0;
const operators = await shared(ConsoleWorld.startForOperators());

function nextId(): string {
  count += 1;
  return `op_test_${count}`;
}

const reason = "Ticket 4711";

async function account(options: Parameters<ConsoleWorld["account"]>[0] = {}) {
  return (await operators.account(options)).id;
}

function act(id: string, name: string, body: object) {
  return operators.post<ActionReply>("operator", `/accounts/${id}/${name}`, { reason, ...body });
}

async function paidOf(id: string): Promise<string> {
  const { body } = await operators.get<OperatorAccountReply>("operator", `/accounts/${id}`);
  return body.overview.balance.paid_usd;
}

async function stateOf(id: string): Promise<string> {
  const { body } = await operators.get<OperatorAccountReply>("operator", `/accounts/${id}`);
  return body.overview.account.state;
}

async function trailOf(id: string): Promise<TrailReply["entries"]> {
  return (await operators.get<TrailReply>("operator", `/trail?account=${id}`)).body.entries;
}

test("a change that succeeded is not reported as failed by a failed repeat", async () => {
  const { database } = operators.api.parts.stores;
  const id = nextId();
  const about = { action: "refund", account: null, subject: null, about: "$5 refunded" };
  const actor = { name: "operator@example.com", personId: "person_x", country: null, ipHash: null };
  const begun = { actor, now: new Date(), confirm: async () => {}, outcome: "begun" } as const;
  await recordAction(database, { ...about, id, reason }, begun);
  await endAction(database, id, { outcome: "done", detail: null });
  const detail = "The provider is asked for the same already";
  await endAction(database, id, { outcome: "failed", detail });
  expect(await findAction(database, id)).toMatchObject({ outcome: "done", detail: null });
});

test("two changes of an account with one id at once do not lock each other out", async () => {
  const { database } = operators.api.parts.stores;
  const { row } = await operators.account();
  const actor = { name: "operator@example.com", personId: "person_x", country: null, ipHash: null };
  const doing = { actor, now: new Date(), confirm: async () => {} };
  const words = { id: nextId(), account: row.number, subject: null, about: "$5", reason };
  const { isFirst, second } = await database.db.transaction(async (tx) => {
    await lockAccount(tx, row.number);
    const refund = { ...words, action: "refund" };
    const second = recordAction(database, refund, { ...doing, outcome: "begun" });
    await eventually("the refund waits for the account", async () => {
      const waiting = await database.sql`
        SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      return waiting.length > 0;
    });
    const adjustment = { ...words, action: "adjust" };
    const isFirst = await recordActionIn(tx, adjustment, { ...doing, outcome: "done" });
    return { isFirst, second };
  });
  expect([isFirst, await second]).toEqual([true, false]);
  expect(await findAction(database, words.id)).toMatchObject({ action: "adjust" });
});

describe("a credit", () => {
  test("is booked once, however often and however many at once it is sent", async () => {
    const one = await account();
    const body = { id: nextId(), amount_usd: "25" };
    const answers = await Promise.all(Array.from({ length: 6 }, () => act(one, "credit", body)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(answers.filter(({ body: { repeated } }) => !repeated)).toHaveLength(1);
    expect((await act(one, "credit", body)).body.repeated).toBe(true);
    expect(await paidOf(one)).toBe("25");
    const entries = await trailOf(one);
    expect(entries).toHaveLength(1);
    expect(entries[0]).toMatchObject({
      actor: "operator@example.com",
      action: "credit",
      about: "$25 credited as a payment",
      reason,
      outcome: "done",
    });
    const billing = await operators.get<BillingReply>("operator", `/accounts/${one}/billing`);
    expect(billing.body.payments.map(({ amount_usd }) => amount_usd)).toEqual(["25"]);
  });

  test("is in the account's activity, with the operator and the reason", async () => {
    const one = await account();
    await act(one, "credit", { id: nextId(), amount_usd: "5" });
    const { body } = await operators.get<ActivityReply>("operator", `/accounts/${one}/activity`);
    expect(body.entries[0]).toMatchObject({
      actor: "operator@example.com",
      action: "operator_credit",
      about: "$5 credited as a payment (Ticket 4711)",
    });
  });

  test("is refused if its id was used for another change, and changes nothing", async () => {
    const [one, other] = [await account(), await account()];
    const id = nextId();
    await act(one, "credit", { id, amount_usd: "5" });
    const wrong = [
      await act(one, "credit", { id, amount_usd: "6" }),
      await act(other, "credit", { id, amount_usd: "5" }),
      await act(one, "adjust", { id, amount_usd: "5" }),
    ];
    expect(wrong.map(({ code }) => code)).toEqual(wrong.map(() => "reference_reused"));
    expect([await paidOf(one), await paidOf(other)]).toEqual(["5", "0"]);
  });

  test("names the wrong field", async () => {
    const one = await account();
    for (const [body, field] of [
      [{ amount_usd: "5" }, "id"],
      [{ id: nextId(), amount_usd: "5", reason: "  " }, "reason"],
      [{ id: nextId(), amount_usd: "-5" }, "amount_usd"],
      [{ id: nextId(), amount_usd: "0" }, "amount_usd"],
      [{ id: nextId(), amount_usd: "1e3" }, "amount_usd"],
      [{ id: nextId(), amount_usd: "5", more: true }, "more"],
    ] as const) {
      const { status, message } = await act(one, "credit", body);
      expect([field, status, message?.includes(field)]).toEqual([field, 400, true]);
    }
    expect(await trailOf(one)).toEqual([]);
  });
});

describe("an adjustment", () => {
  test("adds and takes, each once", async () => {
    const one = await account({ paid: "5" });
    const [up, down] = [nextId(), nextId()];
    for (const [id, amount_usd] of [
      [up, "2"],
      [up, "2"],
      [down, "-1.5"],
      [down, "-1.5"],
    ] as const) {
      expect((await act(one, "adjust", { id, amount_usd })).status).toBe(200);
    }
    expect(await paidOf(one)).toBe("5.5");
    expect((await trailOf(one)).map(({ about }) => about)).toEqual([
      "up to $1.5 taken from the paid balance",
      "$2 added to the paid balance",
    ]);
  });
});

describe("a refund", () => {
  test("of a payment that was recorded by hand takes its credit back once", async () => {
    const one = await account();
    await act(one, "credit", { id: nextId(), amount_usd: "20" });
    const { body } = await operators.get<BillingReply>("operator", `/accounts/${one}/billing`);
    const payment = body.payments[0]?.id;
    const part = { id: nextId(), payment, amount_usd: "5" };
    const answers = await Promise.all([act(one, "refund", part), act(one, "refund", part)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await paidOf(one)).toBe("15");
    const rest = { id: nextId(), payment };
    expect((await act(one, "refund", rest)).body.done.subject).toBe(payment ?? "");
    expect((await act(one, "refund", rest)).body.repeated).toBe(true);
    expect(await paidOf(one)).toBe("0");
    expect(await act(one, "refund", { ...rest, id: nextId() })).toMatchObject({
      status: 409,
      code: "wrong_state",
    });
  });

  test("of another account's payment is not found", async () => {
    const [one, other] = [await account(), await account()];
    await act(other, "credit", { id: nextId(), amount_usd: "20" });
    const { body } = await operators.get<BillingReply>("operator", `/accounts/${other}/billing`);
    const refused = await act(one, "refund", { id: nextId(), payment: body.payments[0]?.id });
    expect([refused.status, refused.code]).toEqual([404, "not_found"]);
    expect(await paidOf(other)).toBe("20");
  });
});

describe("the state of an account", () => {
  test("a repeated suspension does not undo a resumption", async () => {
    const one = await account({ paid: "5" });
    const suspend = { id: nextId() };
    await act(one, "suspend", suspend);
    expect(await stateOf(one)).toBe("suspended");
    await act(one, "resume", { id: nextId() });
    const again = await act(one, "suspend", suspend);
    expect([again.body.repeated, await stateOf(one)]).toEqual([true, "active"]);
    const outcomes = (await trailOf(one)).map(({ action, outcome }) => [action, outcome]);
    expect(outcomes).toEqual([
      ["resume", "done"],
      ["suspend", "done"],
    ]);
  });

  test("a state that is set already is recorded as unchanged, and stays", async () => {
    const one = await account({ paid: "5" });
    const id = nextId();
    expect((await act(one, "resume", { id })).body.done.outcome).toBe("unchanged");
    await act(one, "suspend", { id: nextId() });
    expect((await act(one, "resume", { id })).body.repeated).toBe(true);
    expect(await stateOf(one)).toBe("suspended");
    const { body } = await operators.get<ActivityReply>("operator", `/accounts/${one}/activity`);
    expect(body.entries.map(({ action }) => action)).toEqual(["operator_suspend"]);
  });

  test("closed is permanent, and its keys are revoked", async () => {
    const made = await operators.account({ paid: "5" });
    await act(made.id, "close", { id: nextId() });
    expect(await stateOf(made.id)).toBe("closed");
    const refused = await act(made.id, "credit", { id: nextId(), amount_usd: "5" });
    expect([refused.status, refused.code]).toEqual([409, "closed"]);
    const call = await operators.api.postTo("/v1/search", made, { query: "a" });
    expect(call.status).toBe(401);
    expect((await trailOf(made.id)).map(({ action }) => action)).toEqual(["close"]);
  });

  test("plan and contract each belong to one surface", async () => {
    const one = await account();
    const contract = { id: nextId(), contract: "enterprise" };
    expect((await act(one, "contract", contract)).status).toBe(200);
    const { body } = await operators.get<OperatorAccountReply>("operator", `/accounts/${one}`);
    expect([body.contract, body.overview.tier.name]).toEqual(["enterprise", "enterprise"]);
    const refused = await act(one, "plan", { id: nextId(), plan: "pro" });
    expect([refused.status, refused.code]).toEqual([400, "wrong_surface"]);
  });

  test("free credit is granted once in the life of an account", async () => {
    const one = await account();
    const refused = await act(one, "grant-free", { id: nextId() });
    const again = await act(one, "grant-free", { id: nextId() });
    const codes = [refused, again].map(({ code }) => code ?? "granted");
    expect(codes[1]).toBe("wrong_state");
  });
});
