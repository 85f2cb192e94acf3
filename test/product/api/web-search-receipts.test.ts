// Tests the receipts in a response whose model searches: each of its calls has its own, whole and
// streamed, and their sum is the cost of the response.

import { describe, expect, test } from "bun:test";
import { verifyReceipt } from "../../../src/core/receipts/receipt-jws.ts";
import { RECEIPT_KEY } from "../../support/api/api-world.ts";
import { flushing } from "../../support/api/flushing.ts";
import {
  FORMS,
  inForm,
  readResponse,
  saying,
  searchBody,
  searching,
  searchToolWorld,
  WAYS,
} from "../../support/api/search-tool-world.ts";

const world = await searchToolWorld();
const { api, server, payer } = world;

interface PaidCall {
  readonly request_id: string;
  readonly service: string;
  readonly cost_usd: number;
  readonly receipt?: string | null;
}

describe("a response of several calls", () => {
  for (const { form, stream, model } of WAYS) {
    const name = `${model}, ${stream ? "streamed" : "whole"}`;
    test(`has the receipt of each (${name})`, async () => {
      const account = await payer();
      server.queue(inForm(form, searching("fares")), inForm(form, saying("Found.")));
      const body = searchBody(model, { stream });
      const headers = { "x-svc-receipt": "inline" };
      const { response } = await flushing(api.parts.stores, async () =>
        readResponse(await world.post(account, body, { headers })),
      );
      const svc = response.svc as { cost_usd: number; calls: readonly PaidCall[] };
      expect(svc).not.toHaveProperty("receipt");
      expect(svc.calls.map(({ service }) => service)).toEqual(["models", "models", "search"]);
      let sum = 0n;
      for (const call of svc.calls) {
        const claims = await verifyReceipt(call.receipt ?? "", [RECEIPT_KEY.publicJwk]);
        expect([claims.jti, claims.sub]).toEqual([call.request_id, account.id]);
        expect(Number(claims.receipt.cost_usd)).toBe(call.cost_usd);
        sum += BigInt(Math.round(call.cost_usd * 1e9));
      }
      expect(Number(sum) / 1e9).toBe(svc.cost_usd);
    });
  }

  test("that nobody asked receipts for has none", async () => {
    const account = await payer();
    const [form] = FORMS;
    server.queue(inForm(form, searching("fares")), inForm(form, saying("Found.")));
    const { response } = await readResponse(await world.post(account, searchBody(form.model)));
    const { calls } = response.svc as { calls: readonly PaidCall[] };
    expect(calls.some((call) => "receipt" in call)).toBe(false);
  });
});
