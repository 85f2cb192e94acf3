// Tests of signed receipts: their claims, that they are verified without us, and that they stay.

import { describe, expect, test } from "bun:test";
import { createPublicKey, verify } from "node:crypto";
import { newTimedId, timeOfId, toUuid } from "../../../src/core/ids.ts";
import { type ReceiptClaims, signReceipt } from "../../../src/core/receipts/receipt-jws.ts";
import { receiptKeyOf } from "../../../src/core/receipts/receipt-keys.ts";
import { SignedReceipts } from "../../../src/readings/signed/signed-receipts.ts";
import { LogUpkeep } from "../../../src/store/usage/log-upkeep.ts";
import { adoptReceiptKeys } from "../../../src/store/usage/receipts.ts";
import { chatBody, completionOf, errorOf, RECEIPT_KEY } from "../../support/api/api-world.ts";
import { MODEL } from "../../support/api/models.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { realClock } from "../../support/fakes/fake-clock.ts";
import { batchesOf, endBatch, textBatch } from "../../support/fakes/scripted-chat.ts";
import { random } from "../../support/random.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { createTestKey } from "../../support/stores/accounts.ts";

interface ReceiptJson {
  readonly request_id: string;
  readonly number: number;
  readonly corrects: number | null;
  readonly jws: string;
  readonly claims: ReceiptClaims;
}

const api = await sharedApi();
const { stores } = api.parts;
const pathOf = (request: string) => `/v1/receipts/${request}`;

async function chatted(account: TestAccount, fields: object = {}) {
  const { svc } = await completionOf(await api.post(account, chatBody(fields)));
  await stores.flush();
  return svc;
}

async function receiptOf(account: TestAccount, request: string): Promise<ReceiptJson> {
  const response = await api.get(pathOf(request), account);
  expect(response.status).toBe(200);
  return (await response.json()) as ReceiptJson;
}

/** Another key of this account. */
async function siblingOf(account: TestAccount): Promise<{ readonly key: string }> {
  const sibling = await createTestKey(stores.accounts, account.row, {});
  await stores.actors.of(account.id, account.bucket).configure();
  return { key: sibling.secret };
}

/** Verifies with Node's own cryptography only, as a customer's program would. */
async function claimsBy(jws: string): Promise<ReceiptClaims> {
  const [head = "", payload = "", signature = ""] = jws.split(".");
  const { kid, alg, typ } = JSON.parse(Buffer.from(head, "base64url").toString());
  expect([alg, typ]).toEqual(["EdDSA", "farebox-receipt+jwt"]);
  const response = await fetch(`${api.parts.url}/.well-known/jwks.json`);
  const { keys } = (await response.json()) as { keys: { kid: string; kty: string }[] };
  const jwk = keys.find((one) => one.kid === kid);
  expect(jwk).toBeDefined();
  const key = createPublicKey({ key: { ...jwk }, format: "jwk" });
  const signed = Buffer.from(`${head}.${payload}`);
  expect(verify(null, signed, key, Buffer.from(signature, "base64url"))).toBe(true);
  return JSON.parse(Buffer.from(payload, "base64url").toString());
}

describe("a receipt", () => {
  test("has hold, cost and balance of the call in decimal strings, and is verified", async () => {
    const account = await api.account({ paid: "5" });
    const svc = await chatted(account, { max_tokens: 100 });
    const { jws, claims } = await receiptOf(account, svc.request_id);
    expect(await claimsBy(jws)).toEqual(claims);
    expect(claims).toMatchObject({ sub: account.id, jti: svc.request_id, iss: "test" });
    expect(claims.receipt).toMatchObject({
      number: 1,
      corrects: null,
      key: account.keyId,
      endpoint: "/v1/chat/completions",
      service: "chat",
      model: MODEL.id,
      price_version: MODEL.prices.version,
      units: { uncached: "10", text: "5" },
      usage_source: "provider",
      cost_usd: "0.00002",
      free_usd: "0",
      balance_after_usd: "4.99998",
      status: 200,
      error_code: null,
    });
    expect(claims.receipt.cost_usd).toBe(String(svc.cost_usd));
    const held = Number(claims.receipt.hold_usd);
    expect(held).toBeGreaterThan(svc.cost_usd);
  });

  test("has the same bytes each time, also from many askers at once", async () => {
    const account = await api.account({ paid: "5" });
    const { request_id } = await chatted(account);
    const all = await Promise.all(Array.from({ length: 12 }, () => receiptOf(account, request_id)));
    expect(new Set(all.map(({ jws }) => jws)).size).toBe(1);
    const [{ count } = {}] = await stores.database.sql`
      SELECT count(*)::int AS count FROM receipts WHERE request = ${toUuid(request_id)}`;
    expect(count).toBe(1);
  });

  test("of a refused call says that nothing was charged, and why", async () => {
    const account = await api.account({ free: "0.000001" });
    const refused = await api.post(account, chatBody());
    await stores.flush();
    const request = refused.headers.get("x-request-id") ?? "";
    const { receipt } = (await receiptOf(account, request)).claims;
    expect(receipt).toMatchObject({
      cost_usd: "0",
      hold_usd: null,
      balance_after_usd: null,
      status: 402,
      error_code: "insufficient_credits",
    });
  });

  test.each([false, true])("says that a cap ended the reply (stream: %p)", async (stream) => {
    const account = await api.account({ paid: "5" });
    const usage = { promptTokens: 10, cachedTokens: 0, completionTokens: 400 };
    const message = { role: "assistant", content: "cut" } as const;
    const choices = [{ index: 0, message, finish_reason: "length" }];
    api.chat.reply = async () => ({ choices, usage });
    api.chat.batches = () => batchesOf([textBatch("cut"), endBatch(usage, "length")]);
    const ask = async (cap: string) => {
      const headers = { "x-svc-max-cost-usd": cap };
      const body = chatBody({ max_tokens: 4_000, stream });
      const response = await api.post(account, body, { headers });
      await response.text();
      await stores.flush();
      const request = response.headers.get("x-request-id") ?? "";
      return (await receiptOf(account, request)).claims.receipt.stopped_by;
    };
    expect(await ask("0.001")).toBe("max_cost");
    expect(await ask("0.5")).toBeUndefined();
  });

  test("of a call that is corrected later is followed by one that names it", async () => {
    const account = await api.account({ paid: "5" });
    const { request_id } = await chatted(account);
    const first = await receiptOf(account, request_id);
    const { sql } = stores.database;
    await sql`UPDATE request_log SET completion_tokens = 6 WHERE request = ${toUuid(request_id)}`;
    const second = await receiptOf(account, request_id);
    expect([second.number, second.corrects]).toEqual([2, 1]);
    expect(second.claims.receipt.units).toEqual({ uncached: "10", text: "6" });
    expect(await receiptOf(account, request_id)).toMatchObject({ jws: second.jws });
    expect(await claimsBy(first.jws)).toEqual(first.claims);
  });

  test("that was issued before a claim existed is not corrected by that claim", async () => {
    const account = await api.account({ paid: "5" });
    const { request_id } = await chatted(account);
    const { claims } = await receiptOf(account, request_id);
    const { asked_model: _, ...receipt } = claims.receipt;
    const older = { ...claims, receipt } as ReceiptClaims;
    const jws = await signReceipt(RECEIPT_KEY, older);
    const { sql } = stores.database;
    await sql`UPDATE receipts SET jws = ${jws} WHERE request = ${toUuid(request_id)}`;
    expect(await receiptOf(account, request_id)).toMatchObject({ number: 1, jws });
  });

  test("outlives the log, if it was issued before", async () => {
    const account = await api.account({ paid: "5" });
    const { request_id } = await chatted(account);
    const { jws } = await receiptOf(account, request_id);
    await stores.database.sql`DELETE FROM request_log WHERE request = ${toUuid(request_id)}`;
    expect((await receiptOf(account, request_id)).jws).toBe(jws);
  });

  test("that outlives the log is still read only by the key of its call", async () => {
    const account = await api.account({ paid: "5" });
    const { request_id } = await chatted(account);
    await receiptOf(account, request_id);
    await stores.database.sql`DELETE FROM request_log WHERE request = ${toUuid(request_id)}`;
    const unread = await api.get(pathOf(request_id), await siblingOf(account));
    expect([unread.status, (await errorOf(unread)).code]).toEqual([404, "receipt_not_found"]);
  });
});

describe("once the log of a month was dropped", () => {
  test("a receipt that was issued before stays, and any other is gone with 410", async () => {
    const account = await api.account({ paid: "5" });
    const [kept, lost] = [await chatted(account), await chatted(account)];
    const { jws } = await receiptOf(account, kept.request_id);
    const { sql } = stores.database;
    const upkeep = new LogUpkeep(stores.database);
    const old = new Date("2025-01-15T12:00:00Z");
    await upkeep.ensurePartitions(old, 1);
    const requests = [kept, lost].map(({ request_id }) => toUuid(request_id));
    await sql`UPDATE request_log SET at = ${old.toISOString()} WHERE request = ANY(${requests})`;
    expect(await upkeep.dropMonths("2025-02")).toEqual(["2025-01"]);
    expect((await receiptOf(account, kept.request_id)).jws).toBe(jws);
    const gone = await api.get(pathOf(lost.request_id), account);
    expect([gone.status, (await errorOf(gone)).code]).toEqual([410, "receipt_gone"]);
  });

  test("a call that was refused or free is gone too, by the time in its id", async () => {
    const account = await api.account();
    const upkeep = new LogUpkeep(stores.database);
    const old = new Date("2025-01-15T12:00:00Z");
    await upkeep.ensurePartitions(old, 1);
    const uncharged = newTimedId("request", random, old.getTime());
    const refusal = async () => {
      const response = await api.get(pathOf(uncharged), account);
      return [response.status, (await errorOf(response)).code];
    };
    expect(await refusal()).toEqual([404, "receipt_not_found"]);
    expect(await upkeep.dropMonths("2025-02")).toEqual(["2025-01"]);
    expect(await refusal()).toEqual([410, "receipt_gone"]);
  });
});

describe("a receipt that is not there", () => {
  test("is pending while its call is not final, and then there", async () => {
    const account = await api.account({ paid: "5" });
    const { svc } = await completionOf(await api.post(account, chatBody()));
    const early = await api.get(pathOf(svc.request_id), account);
    expect([early.status, early.headers.get("retry-after")]).toEqual([409, "2"]);
    expect(early.headers.get("x-should-retry")).toBe("true");
    await stores.flush();
    expect((await receiptOf(account, svc.request_id)).number).toBe(1);
  });

  test("of another account or key is not found", async () => {
    const account = await api.account({ paid: "5" });
    const { request_id } = await chatted(account);
    const other = await api.account({ paid: "5" });
    const foreign = await api.get(pathOf(request_id), other);
    expect(foreign.status).toBe(409);
    const unread = await api.get(pathOf(request_id), await siblingOf(account));
    expect([unread.status, (await errorOf(unread)).code]).toEqual([404, "receipt_not_found"]);
  });

  test("of an id of before, or of no form, is not found", async () => {
    const account = await api.account();
    const old = newTimedId("request", random, Date.now() - 50 * 3_600_000);
    await new LogUpkeep(stores.database).ensurePartitions(new Date(timeOfId(old)), 0);
    for (const id of [old, "req_x", "msg_0351Ki6Po6Ze8c7RSniYDy", "%00", "a b"]) {
      const response = await api.get(pathOf(encodeURIComponent(id)), account);
      expect(response.status).toBe(404);
    }
  });
});

describe("the keys", () => {
  test("stay when another secret takes over, marked with the time", async () => {
    const account = await api.account({ paid: "5" });
    const { request_id } = await chatted(account);
    const { jws } = await receiptOf(account, request_id);
    const next = receiptKeyOf("another secret of receipts");
    await adoptReceiptKeys(stores.database, [next.publicJwk.x, RECEIPT_KEY.publicJwk.x]);
    try {
      const response = await fetch(`${api.parts.url}/.well-known/jwks.json`);
      const { keys } = (await response.json()) as { keys: { x: string; retired_at?: string }[] };
      expect(keys.map(({ x, retired_at }) => [x, retired_at !== undefined])).toEqual([
        [next.publicJwk.x, false],
        [RECEIPT_KEY.publicJwk.x, true],
      ]);
      expect((await claimsBy(jws)).jti).toBe(request_id);
      const { database } = stores;
      const issuing = new SignedReceipts({ database, clock: realClock, key: next, issuer: "test" });
      const question = { account: account.id, keyId: account.keyId, request: request_id };
      expect((await issuing.of(question)).jws).toBe(jws);
    } finally {
      await adoptReceiptKeys(stores.database, [RECEIPT_KEY.publicJwk.x]);
    }
  });

  test("never show a private half", async () => {
    const text = await (await fetch(`${api.parts.url}/.well-known/jwks.json`)).text();
    expect(text).not.toContain('"d"');
  });
});
