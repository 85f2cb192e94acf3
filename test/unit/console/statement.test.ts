// Tests of a month's statement: that its balances and charges are those of the ledger, that its
// charges are the sum of the receipts, that it is signed, and who may read it.

import { expect, test } from "bun:test";
import { toUuid } from "../../../src/core/ids.ts";
import { nano, toDecimal } from "../../../src/core/money/money.ts";
import { addMonths, monthText } from "../../../src/core/money/months.ts";
import { verifyReceipt } from "../../../src/core/receipts/receipt-jws.ts";
import { verifyStatement } from "../../../src/core/receipts/statement-jws.ts";
import type { OverviewReply } from "../../../src/readings/overview.ts";
import type { IssuedReceiptReply } from "../../../src/readings/signed/issued-receipt.ts";
import type { StatementReply } from "../../../src/readings/signed/signed-statement.ts";
import { chatBody, RECEIPT_KEY } from "../../support/api/api-world.ts";
import { ConsoleWorld } from "../../support/api/console-world.ts";
import { shared } from "../../support/shared.ts";
import { signedUsd } from "../../support/signed-usd.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

const world = await shared(ConsoleWorld.start());
const operators = world.forOperators();
const { stores } = world.api.parts;
const { sql } = stores.database;
const MONTH = monthText(Date.now());
const KEYS = [RECEIPT_KEY.publicJwk];

async function statementOf({ id }: Pick<TestAccount, "id">, month = MONTH) {
  const path = `/accounts/${id}/statement?month=${month}`;
  return await world.get<StatementReply>("viewer", path);
}

async function receiptOf({ id }: TestAccount, request: string) {
  const path = `/accounts/${id}/requests/${request}/receipt`;
  return await world.get<IssuedReceiptReply>("viewer", path);
}

/** Signed amounts, in nano-USD. */
function sumOf(amounts: readonly string[]): bigint {
  return amounts.reduce((sum, text) => sum + signedUsd(text), 0n);
}

/** An account whose free credit pays for a part, and the ids of its calls. */
async function busyAccount() {
  const terms = { paid: "3", free: "0.00005", contract: "enterprise" } as const;
  const account = await world.account(terms);
  const requests: string[] = [];
  const note = (response: Response) => requests.push(response.headers.get("x-request-id") ?? "");
  for (const model of ["test-model", "paid-only", "test-model", "no-such-model", "test-model"]) {
    note(await world.api.post(account, chatBody({ model })));
  }
  note(await world.api.postTo("/v1/search", account, { query: "fares" }));
  await stores.flush();
  return { account, requests };
}

test("a statement adds up to the ledger and to the receipts of its calls", async () => {
  const { account, requests } = await busyAccount();
  const { status, body } = await statementOf(account);
  expect(status).toBe(200);
  const { statement, jws } = body;
  const { opening, entries, closing, calls, charges } = statement;
  for (const one of ["paid_usd", "free_usd"] as const) {
    const changes = sumOf(entries.map((entry) => entry[one]));
    expect(sumOf([opening[one]]) + changes).toBe(sumOf([closing[one]]));
  }
  const { balance } = (await world.get<OverviewReply>("viewer", `/accounts/${account.id}/overview`))
    .body;
  expect([closing.paid_usd, closing.free_usd]).toEqual([balance.paid_usd, balance.free_usd]);
  const receipts = await Promise.all(
    requests.map(async (request) => {
      const { body: issued } = await receiptOf(account, request);
      return (await verifyReceipt(issued.jws, KEYS)).receipt;
    }),
  );
  const sum = (name: "cost_usd" | "free_usd") => sumOf(receipts.map((receipt) => receipt[name]));
  expect(sumOf([calls.cost_usd])).toBe(sum("cost_usd"));
  expect(sumOf([calls.free_usd])).toBe(sum("free_usd"));
  expect(sum("free_usd")).toBeGreaterThan(0n);
  expect(sum("cost_usd")).toBeGreaterThan(sum("free_usd"));
  expect(sumOf([calls.paid_usd, calls.free_usd])).toBe(sumOf([calls.cost_usd]));
  expect(calls.charged).toBe(receipts.filter(({ cost_usd: cost }) => cost !== "0").length);
  const [row] = await sql`
    SELECT -sum(paid_delta + free_delta)::bigint AS charged FROM ledger_entries
    WHERE account = ${account.row.number} AND kind IN ('charge', 'late_charge')`;
  expect(sumOf([calls.cost_usd])).toBe(BigInt(row?.charged));
  expect(sumOf(charges.map((charge) => charge.cost_usd))).toBe(sumOf([calls.cost_usd]));
  expect(charges.map(({ service, model }) => [service, model])).toContainEqual(["search", null]);
  const claims = await verifyStatement(jws, KEYS);
  expect(claims).toMatchObject({ sub: account.id, iss: "test", statement });
  expect(statement).toMatchObject({ month: MONTH, is_over: false });
});

test("each month begins with the balances that the month before ended with", async () => {
  const { account } = await busyAccount();
  const [before, earlier] = [addMonths(MONTH, -1), addMonths(MONTH, -2)];
  const [first] = await sql`
    SELECT min(seq) AS seq FROM ledger_entries WHERE account = ${account.row.number}`;
  expect(Number(first?.seq)).toBe(1);
  // A call and a credit of the last instant of the month before, booked after those of this month.
  const at = new Date(Date.parse(`${MONTH}-01T00:00:00Z`) - 1).toISOString();
  const [last] = await sql`
    SELECT max(seq) AS seq FROM ledger_entries WHERE account = ${account.row.number}`;
  const seq = Number(last?.seq);
  await sql`
    INSERT INTO ledger_entries (account, seq, kind, paid_delta, free_delta, paid_after, free_after,
      request, at)
    VALUES (${account.row.number}, ${seq + 1}, 'adjustment', 7000000000, 0, 9000000000, 0, NULL,
        ${at}),
      (${account.row.number}, ${seq + 2}, 'charge', -250000000, 0, 8000000000, 0,
        gen_random_uuid(), ${at})`;
  const [now, then, none] = await Promise.all(
    [MONTH, before, earlier].map(
      async (month) => (await statementOf(account, month)).body.statement,
    ),
  );
  expect(then).toMatchObject({
    is_over: true,
    opening: { paid_usd: "0", free_usd: "0" },
    closing: { paid_usd: "6.75", free_usd: "0" },
    calls: { charged: 1, cost_usd: "0.25" },
    // No sum of usage has this charge, which the statement says.
    charges: [{ service: "unknown", model: null, cost_usd: "0.25", free_usd: "0" }],
  });
  expect(now?.opening).toMatchObject({ paid_usd: "6.75", free_usd: "0" });
  expect(none).toMatchObject({ entries: [], closing: { paid_usd: "0" }, charges: [] });
});

test("a receipt of the console is the one that the key of the call gets", async () => {
  const { account, requests } = await busyAccount();
  const [request = ""] = requests;
  const { body } = await receiptOf(account, request);
  expect(body).toMatchObject({ request_id: request, number: 1, corrects: null });
  const own = await world.api.get(`/v1/receipts/${request}`, account);
  expect(((await own.json()) as { jws: string }).jws).toBe(body.jws);
  const path = `/accounts/${account.id}/requests/${request}/receipt`;
  const seen = await operators.get<IssuedReceiptReply>("operator", path);
  expect(seen.body.jws).toBe(body.jws);
});

test("strangers read neither, and a request of another account has no receipt there", async () => {
  const { account, requests } = await busyAccount();
  const [request = ""] = requests;
  for (const rest of [`statement?month=${MONTH}`, `requests/${request}/receipt`]) {
    const told = await world.get("stranger", `/accounts/${account.id}/${rest}`);
    expect(told.status).toBe(404);
  }
  const other = await world.account();
  expect(await receiptOf(other, request)).toMatchObject({ status: 409, code: "receipt_pending" });
  expect(await receiptOf(other, "req_x")).toMatchObject({ status: 404 });
  await sql`DELETE FROM request_log WHERE request = ${toUuid(requests[1] ?? "")}`;
  expect(await receiptOf(account, requests[1] ?? "")).toMatchObject({
    status: 410,
    code: "receipt_gone",
  });
});

test.each([
  ["2026-13", "month must be one such as 2026-11"],
  ["november", "month must be one such as 2026-11"],
  [addMonths(MONTH, 1), "has not begun"],
])("a statement of '%s' is refused by name", async (month, words) => {
  const account = await world.account();
  const told = await statementOf(account, month);
  expect([told.status, told.code]).toEqual([400, "invalid_parameter"]);
  expect(told.message).toContain(words);
});

test("an account without any entry has a statement of nothing", async () => {
  const account = await world.account({ free: "0" });
  const { statement } = (await statementOf(account, addMonths(MONTH, -1))).body;
  const nothing = toDecimal(nano(0n));
  expect(statement.closing).toEqual({ paid_usd: nothing, free_usd: nothing, owed_usd: nothing });
  expect(statement.calls.charged).toBe(0);
});
