// Tests that the charges of an account are the same wherever they are read: in the ledger, in the
// month's statement, in the receipts of the calls and in the FOCUS file. Random calls are charged
// at once, by the sweep, late, or in two parts.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { fromUuid } from "../../../src/core/ids.ts";
import { nano, ofCents, usd } from "../../../src/core/money/money.ts";
import { monthText } from "../../../src/core/money/months.ts";
import { verifyReceipt } from "../../../src/core/receipts/receipt-jws.ts";
import { csvRows } from "../../../src/core/text/csv-rows.ts";
import type { IssuedReceiptReply } from "../../../src/readings/signed/issued-receipt.ts";
import type { StatementReply } from "../../../src/readings/signed/signed-statement.ts";
import { chatBody, RECEIPT_KEY } from "../../support/api/api-world.ts";
import { ConsoleWorld } from "../../support/api/console-world.ts";
import { MODEL, PAID_ONLY_MODEL } from "../../support/api/models.ts";
import { shared } from "../../support/shared.ts";
import { signedUsd } from "../../support/signed-usd.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { sweepHold } from "../../support/stores/late-calls.ts";
import { DONE, hold } from "../../support/stores/world.ts";

const world = await shared(ConsoleWorld.start());
const { stores } = world.api.parts;
const { sql } = stores.database;
const MONTH = monthText(Date.now());
const LISTS = 3;
const COMMANDS = 24;

type Command =
  | { readonly kind: "call"; readonly model: string; readonly stream: boolean }
  | { readonly kind: "search" }
  | {
      readonly kind: "late";
      readonly isFree: boolean;
      readonly cents: number;
      /** The quarters of the hold that the sweep finds, and those that the call cost. */
      readonly seen: number;
      readonly cost: number;
      /** True if the receipt is issued in between. */
      readonly isAsked: boolean;
    };

const quarters = fc.integer({ min: 0, max: 4 });
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("call" as const),
      model: fc.constantFrom(MODEL.id, PAID_ONLY_MODEL.id, "no-such-model"),
      stream: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "search" as const }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("late" as const),
      isFree: fc.boolean(),
      cents: fc.integer({ min: 1, max: 40 }),
      seen: quarters,
      cost: quarters,
      isAsked: fc.boolean(),
    }),
  },
);

interface Cost {
  readonly all: bigint;
  readonly free: bigint;
}

async function receiptOf({ id }: TestAccount, request: string): Promise<IssuedReceiptReply> {
  const path = `/accounts/${id}/requests/${request}/receipt`;
  const { status, body } = await world.get<IssuedReceiptReply>("viewer", path);
  expect(status).toBe(200);
  return body;
}

/** A call whose hold is swept before it ends. Returns the request. */
async function callLate(
  account: TestAccount,
  { isFree, cents, seen, cost, isAsked }: Extract<Command, { kind: "late" }>,
): Promise<string> {
  const bound = ofCents(cents);
  const share = (count: number) => nano((bound * BigInt(count)) / 4n);
  const model = isFree ? MODEL : PAID_ONLY_MODEL;
  const terms = { model: model.id, priceVersion: model.prices.version, freeEligible: isFree };
  const open = await hold(account, bound, terms);
  await sweepHold(stores, open, share(seen));
  if (isAsked) expect((await receiptOf(account, open.id)).number).toBe(1);
  await open.settle(share(cost), DONE);
  await stores.flush();
  if (isAsked) expect(await receiptOf(account, open.id)).toMatchObject({ number: 2, corrects: 1 });
  return open.id;
}

/** Makes the calls; returns their requests. */
async function play(account: TestAccount, commands: readonly Command[]): Promise<string[]> {
  const requests: string[] = [];
  for (const step of commands) {
    if (step.kind === "late") {
      requests.push(await callLate(account, step));
      continue;
    }
    const response =
      step.kind === "search"
        ? await world.api.postTo("/v1/search", account, { query: "fares" })
        : await world.api.post(account, chatBody({ model: step.model, stream: step.stream }));
    await response.text();
    requests.push(response.headers.get("x-request-id") ?? "");
  }
  await stores.flush();
  return requests;
}

/** The charges of the ledger, by request, and the number of those that came late. */
async function chargesOf({ row }: TestAccount) {
  const rows = await sql<{ request: string; all: string; free: string; late: number }[]>`
    SELECT request::text, (-sum(paid_delta + free_delta))::text AS all,
      (-sum(free_delta))::text AS free,
      count(*) FILTER (WHERE kind = 'late_charge')::int AS late
    FROM ledger_entries WHERE account = ${row.number} AND kind IN ('charge', 'late_charge')
    GROUP BY request`;
  const charges = new Map<string, Cost>();
  for (const { request, all, free } of rows) {
    charges.set(fromUuid("request", request), { all: BigInt(all), free: BigInt(free) });
  }
  return { charges, late: rows.reduce((sum, one) => sum + one.late, 0) };
}

/** The sums of the FOCUS file: of its usage, and of the credits that paid for a share. */
async function focusOf({ id }: TestAccount): Promise<Cost> {
  const url = `${world.api.parts.url}/console/api/accounts/${id}/focus.csv?month=${MONTH}`;
  const response = await fetch(url, { headers: { cookie: "session=viewer" } });
  const [head, ...rows] = csvRows(await response.text(), "focus.csv");
  const [category = 0, billed = 0] = ["ChargeCategory", "BilledCost"].map((name) =>
    (head?.cells ?? []).indexOf(name),
  );
  const sum = (of: string) =>
    rows
      .filter(({ cells }) => cells[category] === of)
      .reduce((total, { cells }) => total + signedUsd(cells[billed] ?? ""), 0n);
  return { all: sum("Usage"), free: -sum("Credit") };
}

async function statementOf({ id }: TestAccount): Promise<Cost> {
  const path = `/accounts/${id}/statement?month=${MONTH}`;
  const { calls } = (await world.get<StatementReply>("viewer", path)).body.statement;
  return { all: usd(calls.cost_usd), free: usd(calls.free_usd) };
}

function sumOf(costs: Iterable<Cost>): Cost {
  let [all, free] = [0n, 0n];
  for (const one of costs) [all, free] = [all + one.all, free + one.free];
  return { all, free };
}

test("ledger, statement, receipts and FOCUS file agree on charges of random calls", async () => {
  let late = 0;
  const lists = fc.array(command, { minLength: COMMANDS, maxLength: COMMANDS });
  const agree = fc.asyncProperty(lists, async (commands) => {
    const account = await world.account({ paid: "30", free: "0.4", contract: "enterprise" });
    const requests = await play(account, commands);
    const booked = await chargesOf(account);
    late += booked.late;
    const receipts = new Map<string, Cost>();
    for (const request of requests) {
      const { jws } = await receiptOf(account, request);
      const { receipt } = await verifyReceipt(jws, [RECEIPT_KEY.publicJwk]);
      const cost = { all: usd(receipt.cost_usd), free: usd(receipt.free_usd) };
      if (booked.charges.has(request) || cost.all > 0n) receipts.set(request, cost);
    }
    expect(new Map([...receipts].sort())).toEqual(new Map([...booked.charges].sort()));
    const sum = sumOf(booked.charges.values());
    expect(sum.all).toBeGreaterThan(0n);
    expect(await statementOf(account)).toEqual(sum);
    expect(await focusOf(account)).toEqual(sum);
  });
  await fc.assert(agree, { numRuns: LISTS, endOnFailure: true });
  expect(late).toBeGreaterThan(0);
});
