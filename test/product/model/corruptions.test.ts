// Tests that the audit names every corruption of the books, one at a time: each row of this table
// changes one fact in Postgres or in Redis, and the audit names the account and the fact.
// Undamaged, the books are clean.

import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { keyStateKey } from "../../../actors/records/keys.ts";
import { newId, toUuid } from "../../../src/core/ids.ts";
import { random } from "../../support/random.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { addToRecord, damageLedger, foundAtOnce } from "../../support/stores/audit-lab.ts";
import {
  DONE,
  hold,
  openAccountAlone,
  openWorld,
  usd,
  type World,
} from "../../support/stores/world.ts";

setDefaultTimeout(300_000);

interface Books {
  readonly world: World;
  readonly account: TestAccount;
  /** Another account, which stays undamaged. */
  readonly other: TestAccount;
}

type Damage = (books: Books) => Promise<unknown>;
type DamageCase = readonly [name: string, fact: string, damage: Damage];

/**
 * An account with a top-up, a part refunded, an adjustment, a debt repaid, calls of free and paid
 * credit, one without cost, a mail, and an open stream.
 */
async function wholeAccount(world: World): Promise<TestAccount> {
  const account = await openAccountAlone(world, {
    paid: "20",
    keyBudgets: { day: "50" },
    budgets: { total: "90" },
  });
  const { row, actor } = account;
  const { sql } = world.database;
  const [payment] = await world.payments.list(row);
  await sql`UPDATE payments SET provider = 'stripe', provider_ref = ${`pi_${row.number}`}
    WHERE account = ${row.number}`;
  await sql`
    INSERT INTO top_ups (id, account, provider, kind, amount, status, intent, payment, created_at)
    VALUES (${newId("topUp", random)}, ${row.number}, 'stripe', 'checkout', 20000000000,
      'succeeded', ${`pi_${row.number}`}, ${payment?.number ?? 0}, now())`;
  await actor.applyOperations();
  await actor.configure();
  for (const cost of ["4.5", "1.25", "0.000000001"]) {
    await (await hold(account, usd("5"))).settle(usd(cost), { ...DONE, cachedTokens: 2 });
  }
  await (await hold(account, usd("1"))).release(DONE);
  const mailed = { service: "mail", model: null, freeEligible: false } as const;
  const mail = await hold(account, usd("1"), mailed);
  await mail.settle(usd("0.5"), DONE);
  await sql`
    INSERT INTO mail_messages (id, account, request, hold, status, recipients, domains, cost,
      settled_at)
    VALUES (${toUuid(newId("message", random))}, ${row.number}, ${toUuid(mail.id)}, '{}', 'sent', 1,
      '{example.org}', 500000000, now())`;
  const terms = { actor: "operator", reason: "refund", reference: "ticket" };
  await world.payments.change(payment?.id ?? "", {
    terms,
    decide: () => ({ refunded: usd("18") }),
  });
  const adjustment = { kind: "adjustment", amount: usd("-30"), reference: null } as const;
  await world.store.adjust(row, { ...adjustment, reason: "goodwill" });
  await actor.applyOperations();
  await world.payments.change(payment?.id ?? "", {
    terms: { ...terms, reference: null },
    decide: () => ({
      refunded: usd("19"),
    }),
  });
  await actor.applyOperations();
  await world.payments.record(row, { amount: usd("9"), paidAt: new Date() });
  await actor.applyOperations();
  await actor.configure();
  await hold(account, usd("2"), { stream: true });
  await world.flush();
  return account;
}

/** A statement on the account's rows, run while the guards of the tables are off. */
function sql(name: string, fact: string, statement: string): DamageCase {
  return [
    name,
    fact,
    ({ world, account, other }) =>
      damageLedger(world, account, (number) =>
        statement.replaceAll("$a", `${number}`).replaceAll("$o", `${other.row.number}`),
      ),
  ];
}

function columns(
  table: string,
  where: string,
  changes: Readonly<Record<string, readonly [fact: string, assignment: string]>>,
): readonly DamageCase[] {
  return Object.entries(changes).map(([change, [fact, value]]) =>
    sql(
      `${table}: ${change} (${where})`,
      fact,
      `UPDATE ${table} SET ${value} WHERE account = $a AND ${where}`,
    ),
  );
}

const OPERATIONS = [
  ...columns("operations", "number = 2", {
    kind: ["the kind of operation 2", "kind = 'bonus'"],
    balance: ["the payment of operation 2", "kind = 'credit', balance = 'free'"],
    "more amount": ["the credit of payment pay_", "amount = amount + 1"],
    "less amount": ["the credit of payment pay_", "amount = amount - 1"],
    "no payment": ["the payment of operation 2", "payment = NULL"],
    "a payment of another": [
      "the payment of operation 2",
      "payment = (SELECT min(number) FROM payments WHERE account = $o)",
    ],
    actor: ["operation 2: who asked for it", "actor = 'somebody'"],
    time: ["operation 2: who asked for it", "created_at = created_at - interval '1 s'"],
    number: ["numbered without gaps", "number = 20"],
    "time of application": [
      "the time of ledger entry 2",
      "applied_at = applied_at + interval '1 s'",
    ],
  }),
  ...columns("operations", "number = 4", {
    reason: ["operation 4: who asked for it", "reason = 'another'"],
    "no reason": ["operation 4: who asked for it", "reason = NULL"],
    reference: ["operation 4: who asked for it", "reference = 'another'"],
    actor: ["operation 4: who asked for it", "actor = 'system'"],
    "set aside": ["operation 4 (adjustment), which is set aside", "set_aside_at = now()"],
  }),
  ...columns("operations", "number = 1", {
    end: ["the end of free credit in Redis", "expires_at = expires_at + interval '1 day'"],
    "month of an allowance": ["operation 1: who asked for it", "allowance_month = 202601"],
  }),
  sql(
    "operations: one more",
    "operation 7 (adjustment",
    `INSERT INTO operations (account, number, kind, balance, amount,
    created_at) VALUES ($a, 7, 'adjustment', 'paid', 5, now() - interval '1 hour')`,
  ),
  sql(
    "operations: one missing",
    "numbered without gaps",
    "DELETE FROM operations WHERE account = $a AND number = 4",
  ),
];

const PAYMENTS = [
  ...columns("payments", "provider = 'stripe'", {
    "more amount": ["the credit of payment pay_", "amount = amount + 1"],
    bonus: ["top-up topup_", "bonus = 1"],
    refunded: ["the credit of payment pay_", "refunded = refunded - 1"],
    disputed: ["the disputed amount of payment pay_", "disputed = 1"],
    dispute: ["the credit of payment pay_", "dispute = 'lost', disputed = 1, refunded = 0"],
    "an open dispute": ["the credit of payment pay_", "dispute = 'open'"],
    status: ["the credit of payment pay_", "status = 'failed'"],
    purpose: ["the credit of payment pay_", "purpose = 'plan', refunded = 0"],
    account: ["the payment of operation 2", "account = $o"],
    fee: ["top-up topup_", "fee = 5"],
    reference: ["top-up topup_", "provider_ref = 'pi_other' || $a"],
    provider: ["top-up topup_", "provider = 'other'"],
  }),
  sql(
    "payments: one without credit",
    "the credit of payment pay_none",
    `INSERT INTO payments (id, account, amount, paid_at)
    VALUES ('pay_none$a', $a, 9, now())`,
  ),
  ...columns("top_ups", "payment IS NOT NULL", {
    amount: ["top-up topup_", "amount = amount + 1"],
    fee: ["top-up topup_", "fee = 7"],
    bonus: ["top-up topup_", "bonus = 7"],
    provider: ["top-up topup_", "provider = 'sandbox'"],
    payment: ["top-up topup_", "intent = 'pi_another' || $a"],
    account: ["top-up topup_", "account = $o"],
  }),
];

const LEDGER = [
  ...columns("ledger_entries", "seq = 3", {
    seq: ["numbered without gaps", "seq = 1000"],
    "paid delta": ["the paid balance after it", "paid_delta = paid_delta - 1"],
    "free delta": ["the free balance after it", "free_delta = free_delta + 1"],
    "paid and free after": ["the paid balance after it", "paid_after = paid_after + 1"],
    "free after": ["the free balance after it", "free_after = free_after + 1"],
    owed: ["what is owed after it", "owed_after = 1"],
    kind: ["when free credit ended", "kind = 'free_expired'"],
    "no request": ["the call charged", "request = NULL"],
    "another request": ["the request log's cost of req_", "request = gen_random_uuid()"],
    "no key": ["the key charged", "key = NULL"],
    "the key of another": [
      "the key charged",
      "key = (SELECT min(number) FROM keys WHERE account = $o)",
    ],
    month: ["the month charged", "month = 202001"],
    operation: ["a charge applies no operation", "operation = 99"],
    time: ["the free part and the time of req_", "at = at - interval '1 ms'"],
    account: ["numbered without gaps", "account = $o, seq = 9999"],
  }),
  ...columns("ledger_entries", "seq = 2", {
    "time of an operation": ["the time of ledger entry 2", "at = at - interval '1 s'"],
    operation: ["operations in order", "operation = NULL"],
    kind: ["the kind of operation 2", "kind = 'bonus'"],
  }),
  ...columns("ledger_entries", "kind = 'repayment'", {
    time: ["the time of ledger entry 11", "at = at - interval '1 s'"],
    kind: ["the repayment that is due", "kind = 'charge'"],
  }),
  ...[1, 3, 5].map((seq) =>
    sql(
      `ledger_entries: ${seq} missing`,
      "numbered without gaps",
      `DELETE FROM ledger_entries WHERE account = $a AND seq = ${seq}`,
    ),
  ),
  sql(
    "ledger_entries: the last missing",
    "the repayment that is due",
    `DELETE FROM ledger_entries WHERE account = $a AND seq =
    (SELECT max(seq) FROM ledger_entries WHERE account = $a)`,
  ),
  ...columns("ledger_entries", "seq = 3", {
    "no budgets": ["budget_spend of budget ", "budgets = NULL"],
    "another budget": ["budget_spend of budget ", "budgets = '1:0'"],
  }),
  sql("budget_spend: missing", "budget_spend of ", "DELETE FROM budget_spend WHERE account = $a"),
  sql(
    "budget_spend: one more",
    "budget_spend of budget 7 from 5",
    "INSERT INTO budget_spend (account, budget, start, spent) VALUES ($a, 7, 5, 9)",
  ),
  ...columns("budget_spend", "true", {
    more: ["budget_spend of ", "spent = spent + 1"],
    less: ["budget_spend of ", "spent = spent - 1"],
    start: ["budget_spend of ", "start = start + 1"],
  }),
  sql("month_spend: missing", "month_spend of 202", "DELETE FROM month_spend WHERE account = $a"),
  sql(
    "month_spend: one more",
    "month_spend of 202001",
    `INSERT INTO month_spend (account, month, key, spent)
    SELECT account, 202001, key, 7 FROM month_spend WHERE account = $a LIMIT 1`,
  ),
  ...columns("month_spend", "true", {
    more: ["month_spend of ", "spent = spent + 1"],
    less: ["month_spend of ", "spent = spent - 1"],
    month: ["month_spend of ", "month = 202001"],
    key: ["month_spend of ", "key = (SELECT min(number) FROM keys WHERE account = $o)"],
  }),
];

const CHARGED = "cost = 4500000000";
const LOG = [
  ...columns("request_log", CHARGED, {
    more: ["the request log's cost of req_", "cost = cost + 1"],
    less: ["the request log's cost of req_", "cost = cost - 1"],
    "free part": ["the free part and the time of req_", "free_cost = free_cost - 1"],
    "below its cost held": ["the charge of req_", "held = cost - 1"],
    "tokens of the prompt": ["the 15-minute sums of", "prompt_tokens = prompt_tokens + 1"],
    "cached tokens": ["the 15-minute sums of", "cached_tokens = cached_tokens - 1"],
    "tokens of the reply": ["the 15-minute sums of", "completion_tokens = completion_tokens + 1"],
    service: ["which is no chat", "service = 'search'"],
    model: ["the 15-minute sums of", "model = 'another'"],
    failure: ["the 15-minute sums of", "error_code = 'upstream_error'"],
    key: ["the 15-minute sums of", "key = (SELECT min(number) FROM keys WHERE account = $o)"],
    time: ["the free part and the time of req_", "at = at + interval '1 ms'"],
    request: ["the request log's cost of req_", "request = gen_random_uuid()"],
    account: ["the request log's cost of req_", "account = $o"],
  }),
  ...columns("request_log", "cost = 0", {
    cost: ["the request log's cost of req_", "cost = 1"],
    tokens: ["the 15-minute sums of", "completion_tokens = 0"],
    service: ["the 15-minute sums of", "service = 'maps'"],
    failure: ["the 15-minute sums of", "error_code = 'x'"],
    "a quarter of an hour": ["the 15-minute sums of", "at = at - interval '15 minutes'"],
  }),
  sql(
    "request_log: a charged row missing",
    "the request log's cost of req_",
    `DELETE FROM request_log WHERE account = $a AND ${CHARGED}`,
  ),
  sql(
    "request_log: a row without cost missing",
    "the 15-minute sums of",
    "DELETE FROM request_log WHERE account = $a AND cost = 0",
  ),
  ...columns("mail_messages", "true", {
    cost: ["the cost of the mail of req_", "cost = cost - 1"],
    request: ["the cost of the mail of req_", "request = gen_random_uuid()"],
  }),
  sql(
    "mail_messages: missing",
    "the cost of the mail of req_",
    "DELETE FROM mail_messages WHERE account = $a",
  ),
];

const ROLLUPS = [15, 60, 1_440].flatMap((minutes) => {
  const sums = `the ${minutes}-minute sums of`;
  const total = "the sums of the request log";
  const where = `minutes = ${minutes} AND service = 'models' AND cost > 0`;
  return [
    ...columns("usage_rollups", where, {
      calls: [sums, "calls = calls + 1"],
      "tokens of prompts": [sums, "prompt_tokens = prompt_tokens + 1"],
      "cached tokens": [sums, "cached_tokens = cached_tokens + 1"],
      "tokens of replies": [sums, "completion_tokens = completion_tokens - 1"],
      cost: [total, "cost = cost + 1"],
      "free part": [total, "free_cost = free_cost - 1"],
      service: [sums, "service = 'search'"],
      model: [sums, "model = 'another'"],
      status: [sums, "status = 'failed'"],
      key: [sums, "key = 0"],
      time: [sums, "at = at - interval '1 day'"],
    }),
    sql(
      `usage_rollups: ${minutes} minutes missing`,
      total,
      `DELETE FROM usage_rollups WHERE account = $a AND ${where}`,
    ),
  ];
});

/**
 * The places of the doubles in a packed wallet that the audit proves, and the facts that it names.
 */
const WALLET: Readonly<Record<string, readonly [place: number, fact: string]>> = {
  version: [2, "the version of the access document"],
  seq: [3, "the ledger number"],
  paid: [4, "the available paid balance"],
  free: [5, "the available free balance"],
  "held paid": [6, "the held paid balance"],
  "held free": [7, "the held free balance"],
  owed: [8, "the available paid balance in Redis while $0.000000001 is owed"],
  operations: [9, "the last operation"],
  "end of free credit": [10, "the end of free credit"],
  "beginning of free credit": [11, "the beginning of free credit"],
  streams: [12, "the number of open streams"],
  calls: [13, "the number of open calls"],
  spent: [15, "the amount spent by all keys"],
  held: [16, "the amount held by all keys"],
};
const KEY_STATE: typeof WALLET = {
  spent: [3, "the amount spent by key_"],
  held: [4, "the amount held by key_"],
};

const REDIS: readonly DamageCase[] = [
  ...Object.entries(WALLET).map(
    ([name, [place, fact]]): DamageCase => [
      `wallet: ${name}`,
      fact,
      ({ world, account }) =>
        addToRecord(world, account.actor.keys.wallet, place, name === "version" ? -1 : 1),
    ],
  ),
  [
    "wallet: the document",
    "the access document in Redis",
    async ({ world, account: { actor } }) => {
      const document = await world.redis.get(actor.keys.document);
      await world.redis.set(actor.keys.document, `${document} `);
    },
  ],
  ...Object.entries(KEY_STATE).map(
    ([name, [place, fact]]): DamageCase => [
      `key: ${name}`,
      fact,
      ({ world, account }) =>
        addToRecord(world, keyStateKey(account.row.bucket, account.keyId), place, 1),
    ],
  ),
  ...Object.entries({ spent: 3, held: 4, "spent before": 6, "held before": 7 }).map(
    ([name, place]): DamageCase => [
      `budget: ${name}`,
      ` of budget `,
      async ({ world, account: { actor } }) => {
        const [[number = "", bytes] = []] = Object.entries(
          await world.redis.hgetallBuffer(actor.keys.budgets),
        );
        if (bytes === undefined) throw new Error("There is no budget");
        bytes.writeDoubleLE(bytes.readDoubleLE(place * 8) + 1, place * 8);
        await world.redis.hset(actor.keys.budgets, number, bytes);
      },
    ],
  ),
];

const ROWS = [...OPERATIONS, ...PAYMENTS, ...LEDGER, ...LOG, ...ROLLUPS, ...REDIS];
/** Each account has its own bucket of the 64: a flush may rebuild the bucket of damaged books. */
const ACCOUNTS_PER_WORLD = 40;

let opened: { readonly world: World; readonly other: TestAccount } | null = null;
let accounts = 0;

afterAll(() => opened?.world[Symbol.asyncDispose]());

async function openBooks(): Promise<Books> {
  if (opened === null || accounts % ACCOUNTS_PER_WORLD === 0) {
    await opened?.world[Symbol.asyncDispose]();
    const world = await openWorld();
    opened = { world, other: await openAccountAlone(world, { paid: "1" }) };
  }
  accounts += 1;
  return { ...opened, account: await wholeAccount(opened.world) };
}

test("the table has each kind of record", () => {
  expect(ROWS.length).toBeGreaterThanOrEqual(130);
  expect(new Set(ROWS.map(([name]) => name)).size).toBe(ROWS.length);
});

test("undamaged, these books are clean", async () => {
  const { world, account } = await openBooks();
  expect(await foundAtOnce(world, account)).toBe("");
});

for (const [name, fact, damage] of ROWS) {
  test(`${name}: the audit names it`, async () => {
    const books = await openBooks();
    await damage(books);
    const found = await foundAtOnce(books.world, books.account);
    expect(found).toContain(books.account.id);
    expect(found).toContain(fact);
  });
}
