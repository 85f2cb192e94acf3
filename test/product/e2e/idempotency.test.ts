// Tests idempotency keys on a started product: over two processes, and through the death of one
// between admission and settlement. The chaos suite kills at every point of a call.

import { expect, test } from "bun:test";
import { eventually } from "../../support/eventually.ts";
import { type Api, startProduct } from "../../support/product/product.ts";
import { sweepDead } from "../../support/product/product-checks.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

const product = await shared(startProduct({ apis: 2, models: [{ id: "ok" }] }));
const [first, second] = [product.api(0), product.api(1)];
const RACERS = 60;

async function send(api: Api, { key }: TestAccount, idempotencyKey: string) {
  const response = await fetch(`${api.url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "idempotency-key": idempotencyKey,
    },
    body: JSON.stringify({
      model: "ok",
      max_tokens: 20,
      messages: [{ role: "user", content: "Hello" }],
    }),
    keepalive: false,
  });
  const { status, headers } = response;
  const body = (await response.json()) as {
    readonly error?: { readonly code: string; readonly message: string };
    readonly svc?: { readonly request_id: string; readonly cost_usd: number };
  };
  const isReplay = headers.get("idempotent-replayed") === "true";
  return { status, isReplay, retryAfter: headers.get("retry-after"), ...body };
}

/** The charges of an account in the ledger. */
async function chargesOf({ row }: TestAccount): Promise<number> {
  await product.booked();
  const [charges] = await product.operator.database.sql`
    SELECT count(*)::int AS count FROM ledger_entries
    WHERE account = ${row.number} AND kind IN ('charge', 'late_charge')`;
  return Number(charges?.count);
}

test("of many at once over two processes one is charged, and the others are told so", async () => {
  const account = await product.account({ paid: "100", contract: "enterprise" });
  const racing = Array.from({ length: RACERS }, (_, n) =>
    send(n % 2 === 0 ? first : second, account, "raced"),
  );
  const answers = await Promise.all(racing);
  const fresh = answers.filter(({ status, isReplay }) => status === 200 && !isReplay);
  expect(fresh).toHaveLength(1);
  for (const { status } of answers) expect([200, 409]).toContain(status);
  expect(await chargesOf(account)).toBe(1);
  // One process has the answer; the other one names the receipt.
  const repeats = await Promise.all([first, second].map((api) => send(api, account, "raced")));
  const statuses = repeats.map(({ status }) => status).sort();
  expect(statuses).toEqual([200, 409]);
  const told = repeats.find(({ status }) => status === 409)?.error;
  expect(told?.code).toBe("idempotency_already_charged");
  const [, request] = /\/v1\/receipts\/(req_\w+)/.exec(told?.message ?? "") ?? [];
  expect(request).toBe(fresh[0]?.svc?.request_id);
  const receipt = await fetch(`${second.url}/v1/receipts/${request}`, {
    headers: { authorization: `Bearer ${account.key}` },
  });
  const { claims } = (await receipt.json()) as { claims: { receipt: { cost_usd: string } } };
  expect(Number(claims.receipt.cost_usd)).toBe(fresh[0]?.svc?.cost_usd ?? 0);
  expect(await chargesOf(account)).toBe(1);
});

test("a process that dies before it settles leaves the key in progress, then free", async () => {
  const account = await product.account({ paid: "100", contract: "enterprise" });
  const { upstream } = product;
  const before = upstream.requests.length;
  upstream.queue("hang-before-headers");
  const dying = send(first, account, "killed").catch(() => null);
  await eventually("the call reached the model", () => upstream.requests.length > before);
  await first.kill9();
  expect(await dying).toBeNull();
  const early = await send(second, account, "killed");
  expect([early.status, early.error?.code]).toEqual([409, "idempotency_in_progress"]);
  expect(Number(early.retryAfter)).toBeGreaterThan(0);
  expect(await sweepDead(product)).toBeGreaterThan(0);
  const again = await send(second, account, "killed");
  expect([again.status, again.isReplay]).toEqual([200, false]);
  expect((await send(second, account, "killed")).isReplay).toBe(true);
  await first.start();
  const elsewhere = await send(first, account, "killed");
  expect(elsewhere.error?.code).toBe("idempotency_already_charged");
  expect(await chargesOf(account)).toBe(1);
});
