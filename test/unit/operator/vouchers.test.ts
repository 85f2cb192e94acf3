// Tests vouchers in the operators' console: the codes that a page made are valid once the batch is
// stored, whole or not at all, and each change has its line in the trail.

import { expect, test } from "bun:test";
import { newVoucherCode } from "../../../src/core/access/voucher-codes.ts";
import type { ActionReply } from "../../../src/operator/act.ts";
import type { VouchersReply } from "../../../src/readings/offers/vouchers.ts";
import type { TrailReply } from "../../../src/readings/trail.ts";
import { ConsoleWorld } from "../../support/api/console-world.ts";
import { random } from "../../support/random.ts";
import { shared } from "../../support/shared.ts";

const operators = await shared(ConsoleWorld.startForOperators());
const { database } = operators.api.parts.stores;

let asked = 0;
const ask = () => ({ id: `op_voucher_test_${asked++}`, reason: "A campaign" });
const codes = (count: number) => Array.from({ length: count }, () => newVoucherCode(random));

type Refused = { readonly error: { readonly message: string } };

const make = <Reply = ActionReply>(body: object) =>
  operators.post<Reply>("operator", "/vouchers", { ...ask(), amount_usd: "5", ...body });

async function batchOf(name: string) {
  const { body } = await operators.get<VouchersReply>("operator", "/vouchers");
  return body.batches.find(({ batch }) => batch === name);
}

test("the codes of a batch are digests in the database, and the batch is listed", async () => {
  const three = codes(3);
  const order = { batch: "spring", codes: three, uses: 2, tiers: ["free"], once_per_person: true };
  const { status, body } = await make({ ...order, ends_at: "2999-01-01T00:00:00Z" });
  expect(status).toBe(200);
  expect(body.done).toMatchObject({
    about: expect.stringContaining(
      "3 vouchers of $5, batch spring, made: 2 uses of each, tiers free",
    ),
    outcome: "done",
    reason: "A campaign",
  });
  expect(await batchOf("spring")).toMatchObject({
    codes: 3,
    amount_usd: "5",
    used: 0,
    uses_max: 6,
    tiers: ["free"],
    once_per_person: true,
    ends_at: "2999-01-01T00:00:00.000Z",
    ended_at: null,
  });
  const rows = await database.sql`SELECT row_to_json(v)::text AS row FROM vouchers v`;
  const stored = rows.map(({ row }) => String(row)).join();
  for (const code of three) {
    expect(stored).not.toContain(code);
    expect(stored).not.toContain(code.replaceAll("-", ""));
  }
  const { body: trail } = await operators.get<TrailReply>("operator", "/trail");
  expect(trail.entries[0]).toMatchObject({ about: body.done.about, account: null });
});

test("a batch is made once for its id, and its name or a code of it never again", async () => {
  const order = { ...ask(), amount_usd: "5", batch: "once", codes: codes(2) };
  const send = () => operators.post<ActionReply>("operator", "/vouchers", order);
  const twice = await Promise.all([send(), send()]);
  expect(twice.map(({ status }) => status)).toEqual([200, 200]);
  expect(twice.map(({ body }) => body.repeated).toSorted()).toEqual([false, true]);
  expect(await batchOf("once")).toMatchObject({ codes: 2 });
  for (const again of [
    { batch: "once", codes: codes(1) },
    { batch: "another", codes: [...codes(1), ...order.codes] },
  ]) {
    const { status, body } = await make<Refused>(again);
    expect([status, body.error.message]).toEqual([
      409,
      `There is a batch '${again.batch}', or one of its codes: none of them is valid`,
    ]);
  }
  expect(await batchOf("another")).toBeUndefined();
});

test("an order of a used id that differs in a term is refused, and no repeat", async () => {
  const order = { ...ask(), amount_usd: "5", batch: "terms", codes: codes(1) };
  const send = (more: object) =>
    operators.post<ActionReply & Refused>("operator", "/vouchers", { ...order, ...more });
  expect((await send({})).body.repeated).toBe(false);
  for (const other of [
    { uses: 1_000 },
    { tiers: ["free"] },
    { once_per_person: true },
    { free_days: 30 },
    { amount_usd: null, plan: "pro" },
    { ends_at: "2999-01-01T00:00:00Z" },
    { codes: codes(1) },
    { amount_usd: "6" },
  ]) {
    const { status, body } = await send(other);
    expect([other, status, body.error.message]).toEqual([
      other,
      409,
      expect.stringContaining("belongs to another action"),
    ]);
  }
  expect((await send({})).body.repeated).toBe(true);
  expect(await batchOf("terms")).toMatchObject({ codes: 1, uses_max: 1, ends_at: null });
});

test("an order that is not right names the field, and makes nothing", async () => {
  const [code = ""] = codes(1);
  const wrong = [
    [{ codes: [code, "guessable"] }, "codes[1]"],
    [{ codes: [code, code.toUpperCase().replaceAll("-", " ")] }, "codes"],
    [{ codes: [] }, "codes"],
    [{ codes: [code], amount_usd: "0" }, "amount_usd"],
    [{ codes: [code], amount_usd: "-5" }, "amount_usd"],
    [{ codes: [code], uses: 0 }, "uses"],
    [{ codes: [code], free_days: 0 }, "free_days"],
    [{ codes: [code], free_days: 30, once_per_person: false }, "once_per_person"],
    [{ codes: [code], tiers: ["none"] }, "tiers"],
    [{ codes: [code], amount_usd: null }, "amount_usd"],
    [{ codes: [code], months: 3 }, "months"],
    [{ codes: [code], plan: "pro" }, "amount_usd"],
    [{ codes: [code], amount_usd: null, plan: "free" }, "plan"],
    [{ codes: [code], amount_usd: null, plan: "pro", months: 37 }, "months"],
    [{ codes: [code], amount_usd: null, plan: "pro", free_days: 3 }, "free_days"],
    [{ codes: [code], amount_usd: null, plan: "pro", tiers: ["free"] }, "tiers"],
    [{ codes: [code], amount_usd: null, plan: "pro", once_per_person: false }, "once_per_person"],
    [{ codes: [code], ends_at: "2020-01-01T00:00:00Z" }, "ends_at"],
    [{ codes: [code], batch: "not a name" }, "batch"],
  ] as const;
  for (const [more, field] of wrong) {
    const { status, body } = await make<Refused>({ batch: "wrong", ...more });
    expect([status, body.error.message]).toEqual([400, expect.stringContaining(field)]);
  }
  expect(await batchOf("wrong")).toBeUndefined();
});

test("a batch of free credit is listed with its days, and is once per person", async () => {
  const { body } = await make({ batch: "trial", codes: codes(1), free_days: 30 });
  expect(body.done.about).toContain("1 vouchers of $5, free for 30 days, batch trial, made");
  expect(await batchOf("trial")).toMatchObject({ free_days: 30, once_per_person: true });
});

test("a batch of a plan is listed with its months, and is once per person", async () => {
  const order = { batch: "quarter", codes: codes(1), amount_usd: null, plan: "pro", months: 3 };
  const { body } = await make(order);
  expect(body.done.about).toContain("vouchers of 3 months of Pro, batch quarter, made");
  expect(await batchOf("quarter")).toMatchObject({
    amount_usd: null,
    plan: "pro",
    months: 3,
    once_per_person: true,
  });
});

test("a batch of the most codes is taken in one piece", async () => {
  const { status } = await make({ batch: "large", codes: codes(5_000) });
  expect(status).toBe(200);
  expect(await batchOf("large")).toMatchObject({ codes: 5_000 });
});

test("a batch is ended once, and one that is over or unknown is refused", async () => {
  await make({ batch: "over", codes: codes(2) });
  const end = () =>
    operators.post<ActionReply & Refused>("operator", "/vouchers/end", { ...ask(), batch: "over" });
  const { body } = await end();
  expect(body.done).toMatchObject({ about: "vouchers of batch over ended", outcome: "done" });
  expect((await batchOf("over"))?.ended_at).not.toBeNull();
  const { status, body: refused } = await end();
  expect([status, refused.error.message]).toEqual([404, "There is no batch 'over' that goes on"]);
});

test("two requests of one id at once end a batch once, and both are told so", async () => {
  await make({ batch: "ended-twice", codes: codes(2) });
  const order = { ...ask(), batch: "ended-twice" };
  const send = () => operators.post<ActionReply>("operator", "/vouchers/end", order);
  const replies = await Promise.all(Array.from({ length: 8 }, send));
  expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
  expect(replies.filter(({ body }) => !body.repeated)).toHaveLength(1);
});

test("the batches come page by page, and nobody else sees them", async () => {
  const { status } = await operators.get("owner", "/vouchers");
  expect(status).toBe(404);
  const { body } = await operators.get<VouchersReply>("operator", "/vouchers");
  const second = body.batches[1];
  const rest = await operators.get<VouchersReply>("operator", `/vouchers?before=${second?.number}`);
  expect(rest.body.batches).toEqual(body.batches.slice(2));
});
