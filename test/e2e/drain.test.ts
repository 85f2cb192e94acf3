// Five hundred calls at the same moment on a balance that pays for a few: over HTTP, on two
// processes.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { nano, toDecimal } from "../../src/core/money.ts";
import { askChat } from "../support/chat-client.ts";
import { type Product, startProduct } from "../support/product.ts";

const CALLS = 500;
const ROUNDS = 5;
/** Only output costs, and a call uses all that it may: each costs exactly what it holds. */
const MODEL = { id: "exact", mood: "ok", input: "0", output: "1000", freeEligible: false };
const TOKENS = 8;
const COST = 8_000_000n;

let product: Product;
beforeAll(async () => {
  product = await startProduct({ models: [MODEL], record: false });
}, 60_000);
afterAll(() => product[Symbol.asyncDispose]());

test("500 parallel calls on a balance worth K over two processes: exactly K pass", async () => {
  const timesMs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const pass = 30 + round * 47;
    const paid = toDecimal(nano(COST * BigInt(pass) + COST - 1n));
    const account = await product.account({ paid, contract: "enterprise" });
    const startMs = performance.now();
    const answers = await Promise.all(
      Array.from({ length: CALLS }, (_, index) =>
        askChat(product.api(index % 2).url, account.key, { model: "exact", maxTokens: TOKENS }),
      ),
    );
    timesMs.push(performance.now() - startMs);
    const served = answers.filter(({ status }) => status === 200);
    expect(served).toHaveLength(pass);
    expect(served.every(({ cost }) => cost === COST)).toBe(true);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(new Set(refused.map(({ status, code }) => `${status} ${code}`))).toEqual(
      new Set(["402 insufficient_credits"]),
    );
    const { actors } = product.operator;
    const state = await actors.of(account.id, account.bucket).state();
    expect(state).toMatchObject({ paid: COST - 1n, heldPaid: 0n, heldFree: 0n });
  }
  console.log(`each round: ${timesMs.map((ms) => ms.toFixed(0)).join(", ")} ms`);
  expect(await product.audit()).toMatchObject({ difference: null, openHolds: 0 });
  const [lowest] = await product.operator.database.sql`
    SELECT min(paid_after) AS paid FROM ledger_entries WHERE kind = 'charge'`;
  expect(lowest?.paid).toBe(COST - 1n);
}, 60_000);
