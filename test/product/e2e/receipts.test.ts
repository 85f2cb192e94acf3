// Tests of receipts on a started product: two processes that issue the same receipt at once give
// the same bytes, and streams carry it, whichever process serves them.

import { expect, test } from "bun:test";
import { verifyReceipt } from "../../../src/core/receipts/receipt-jws.ts";
import type { PublicJwk } from "../../../src/core/receipts/receipt-keys.ts";
import { postChat } from "../../support/api/chat-client.ts";
import { startProduct } from "../../support/product/product.ts";
import { shared } from "../../support/shared.ts";

const product = await shared(startProduct({ apis: 2 }));
const urls = [product.api(0).url, product.api(1).url];
const ASKERS = 20;

interface ReceiptJson {
  readonly jws: string;
  readonly number: number;
}

async function keysAt(url: string): Promise<readonly PublicJwk[]> {
  const response = await fetch(`${url}/.well-known/jwks.json`);
  return ((await response.json()) as { keys: PublicJwk[] }).keys;
}

test("many askers of two processes at once get the same bytes of one receipt", async () => {
  const account = await product.account({ paid: "20", contract: "enterprise" });
  for (let call = 0; call < 5; call += 1) {
    const response = await postChat(urls[call % 2] ?? "", account.key, { model: "ok" });
    const { svc } = (await response.json()) as { svc: { request_id: string } };
    await product.booked();
    const asked = Array.from({ length: ASKERS }, async (_, n) => {
      const path = `/v1/receipts/${svc.request_id}`;
      const answer = await fetch(`${urls[n % 2]}${path}`, {
        headers: { authorization: `Bearer ${account.key}` },
      });
      expect(answer.status).toBe(200);
      return (await answer.json()) as ReceiptJson;
    });
    const receipts = await Promise.all(asked);
    expect(new Set(receipts.map(({ jws }) => jws)).size).toBe(1);
    expect(new Set(receipts.map(({ number }) => number))).toEqual(new Set([1]));
    for (const url of urls) {
      const { jti } = await verifyReceipt(receipts[0]?.jws ?? "", await keysAt(url));
      expect(jti).toBe(svc.request_id);
    }
  }
});

test("a stream of either process ends with the receipt that the other one shows", async () => {
  const account = await product.account({ paid: "20", contract: "enterprise" });
  for (const [here, there] of [urls, urls.toReversed()] as [string, string][]) {
    const response = await fetch(`${here}/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${account.key}`,
        "content-type": "application/json",
        "x-svc-receipt": "inline",
      },
      body: JSON.stringify({
        model: "ok",
        stream: true,
        messages: [{ role: "user", content: "Hello" }],
      }),
    });
    const frames = (await response.text()).split("\n").filter((line) => line.includes('"svc"'));
    const { svc } = JSON.parse((frames.at(-1) ?? "").slice("data: ".length));
    const { jti, receipt } = await verifyReceipt(svc.receipt, await keysAt(there));
    expect([jti, Number(receipt.cost_usd)]).toEqual([svc.request_id, svc.cost_usd]);
    const answer = await fetch(`${there}/v1/receipts/${svc.request_id}`, {
      headers: { authorization: `Bearer ${account.key}` },
    });
    expect(((await answer.json()) as ReceiptJson).jws).toBe(svc.receipt);
  }
});
