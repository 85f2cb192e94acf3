// Tests five hundred calls at the same moment on a balance that pays for a few: over HTTP, on two
// processes, chats and batches of searches.

import { expect, test } from "bun:test";
import { nano, toDecimal } from "../../../src/core/money/money.ts";
import { askChat } from "../../support/api/chat-client.ts";
import { startFakeSearch } from "../../support/fakes/fake-search.ts";
import { replyWith } from "../../support/fakes/search-replies.ts";
import { startProduct } from "../../support/product/product.ts";
import { shared } from "../../support/shared.ts";

const CALLS = 500;
const ROUNDS = 5;
/** Only output costs, and a call uses its maximum: each costs exactly its hold. */
const MODEL = { id: "exact", mood: "ok", input: "0", output: "1000", freeEligible: false };
const FREE_MODEL = { ...MODEL, id: "free", freeEligible: true };
const TOKENS = 8;
const COST = 8_000_000n;
/** The calls that the Max plan lets through in a minute. */
const PLAN_CALLS = 120;

/** A batch of two searches, each of which returns its maximum. */
const BATCH = [
  { query: "a", max_results: 3 },
  { query: "b", max_results: 5 },
];
const BATCH_COST = 8n * 500_000n;

const service = await shared(startFakeSearch("searxng"));
const found = Array.from({ length: 5 }, (_, index) => `https://a.example/${index}`);
service.answer = () => Response.json(replyWith("searxng", found));
const providers = [{ kind: "searxng", base_url: service.baseUrl, concurrency: 10_000 }];
const product = await shared(
  startProduct({ models: [MODEL, FREE_MODEL], record: false, search: { providers } }),
);

test("500 parallel calls on a balance worth K over two processes: exactly K pass", async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const pass = 30 + round * 47;
    const paid = toDecimal(nano(COST * BigInt(pass) + COST - 1n));
    const account = await product.account({ paid, contract: "enterprise" });
    const answers = await Promise.all(
      Array.from({ length: CALLS }, (_, index) =>
        askChat(product.api(index % 2).url, account.key, { model: "exact", maxTokens: TOKENS }),
      ),
    );
    const served = answers.filter(({ status }) => status === 200);
    expect(served).toHaveLength(pass);
    expect(served.every(({ cost }) => cost === COST)).toBe(true);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(new Set(refused.map(({ status, code }) => `${status} ${code}`))).toEqual(
      new Set(["402 insufficient_credits"]),
    );
    const { actors } = product.operator;
    const { wallet } = await actors.of(account.id, account.bucket).state();
    expect(wallet).toMatchObject({ paid: COST - 1n, heldPaid: 0n, heldFree: 0n });
  }
  expect(await product.audit()).toMatchObject({ difference: null, openHolds: 0 });
  const [lowest] = await product.operator.database.sql`
    SELECT min(paid_after) AS paid FROM ledger_entries WHERE kind = 'charge'`;
  expect(lowest?.paid).toBe(COST - 1n);
});

test("500 parallel batches on a balance worth K over two processes: exactly K pass", async () => {
  const pass = 77;
  const paid = toDecimal(nano(BATCH_COST * BigInt(pass) + BATCH_COST - 1n));
  const scopes = ["search"] as const;
  const account = await product.account({ paid, contract: "enterprise", scopes });
  const answers = await Promise.all(
    Array.from({ length: CALLS }, async (_, index) => {
      const response = await fetch(`${product.api(index % 2).url}/v1/search/batch`, {
        method: "POST",
        headers: { authorization: `Bearer ${account.key}` },
        body: JSON.stringify(BATCH),
        keepalive: false,
      });
      const cost = response.headers.get("x-svc-cost-usd");
      return { status: response.status, cost, body: await response.text() };
    }),
  );
  const served = answers.filter(({ status }) => status === 200);
  expect(served).toHaveLength(pass);
  expect(new Set(served.map(({ cost }) => cost))).toEqual(new Set(["0.004"]));
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.every(({ body }) => body.includes("insufficient_credits"))).toBe(true);
  const { actors } = product.operator;
  const { wallet } = await actors.of(account.id, account.bucket).state();
  expect(wallet).toMatchObject({ paid: BATCH_COST - 1n, heldPaid: 0n, heldFree: 0n });
  expect(await product.audit()).toMatchObject({ difference: null, openHolds: 0 });
  const [logged] = await product.operator.database.sql`
    SELECT sum(requests)::int AS queries FROM request_log WHERE endpoint = '/v1/search/batch'
    AND status = 200`;
  expect(logged?.queries).toBe(2 * pass);
});

test("an application account's calls pass as often as its credits pay, over all keys", async () => {
  const pass = 47;
  const paid = toDecimal(nano(COST * BigInt(pass) + COST - 1n));
  const account = await product.account({ surface: "application", plan: "max", paid });
  const { key: second } = await product.newKey(account.id);
  const keys = [account.key, second];
  const answers = await Promise.all(
    Array.from({ length: PLAN_CALLS }, (_, index) =>
      askChat(`${product.api(index % 2).url}/api`, keys[(index >> 1) % 2] ?? "", {
        model: index % 3 === 0 ? "auto" : "exact",
        maxTokens: TOKENS,
      }),
    ),
  );
  const told = answers.map(({ status, code }) => `${status} ${code}`);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(pass);
  expect(told.filter((one) => one === "402 insufficient_credits")).toHaveLength(PLAN_CALLS - pass);
  const { actors } = product.operator;
  const { wallet } = await actors.of(account.id, account.bucket).state();
  expect(wallet).toMatchObject({ paid: COST - 1n, heldPaid: 0n, free: 0n, heldFree: 0n });
  expect(await product.audit()).toMatchObject({ difference: null, openHolds: 0 });
});

test("the first calls of a month share one allowance, over all processes", async () => {
  const account = await product.account({ surface: "application" });
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      askChat(`${product.api(index % 2).url}/api`, account.key, { model: "free", maxTokens: 300 }),
    ),
  );
  // Each holds 30 cents until it is answered, and then costs 8 tenths of a cent.
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(3);
  const rows = await product.operator.database.sql`
    SELECT amount::text FROM operations o JOIN accounts a ON a.number = o.account
    WHERE a.id = ${account.id}`;
  expect([...rows]).toEqual([{ amount: "1000000000" }]);
  expect(await product.audit()).toMatchObject({ difference: null, openHolds: 0 });
});
