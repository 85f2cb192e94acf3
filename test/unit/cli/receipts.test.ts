// Tests of `farebox receipt verify` and `farebox statement verify`, which need no store.

import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseCommandLine } from "../../../src/cli/commands.ts";
import type { Stores } from "../../../src/cli/stores.ts";
import { type ReceiptClaims, signReceipt } from "../../../src/core/receipts/receipt-jws.ts";
import { receiptKeyOf } from "../../../src/core/receipts/receipt-keys.ts";
import { type StatementClaims, signStatement } from "../../../src/core/receipts/statement-jws.ts";

const folder = mkdtempSync(join(tmpdir(), "receipts-"));
afterAll(() => rmSync(folder, { recursive: true }));

const key = receiptKeyOf("a secret of receipts");
const claims: ReceiptClaims = {
  iss: "https://api.example.com",
  sub: "acct_0351Ki6Po6Ze8c7RSniYDy",
  jti: "req_0351Ki6Po6Ze8c7RSniYDy",
  iat: 1_790_000_000,
  receipt: {
    number: 1,
    corrects: null,
    at: "2026-11-28T03:00:00.000Z",
    key: "key_0351Ki6Po6Ze8c7RSniYDy",
    endpoint: "/v1/chat/completions",
    service: "chat",
    model: "fast",
    asked_model: "auto",
    price_version: "3f9a1c",
    units: { uncached: "10", text: "5" },
    usage_source: "provider",
    hold_usd: "0.001",
    cost_usd: "0.00002",
    free_usd: "0",
    balance_after_usd: "4.99998",
    status: 200,
    error_code: null,
  },
};

function written(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const keys = written("keys.json", JSON.stringify({ keys: [key.publicJwk] }));

async function verified(signed: string, { what = "receipt", by = keys } = {}) {
  const file = written(what, signed);
  const invocation = parseCommandLine([what, "verify", file, "--keys", by, "--json"], 0);
  if (invocation.kind !== "run") throw new Error("The command was not run");
  // The command opens none of its stores.
  return await invocation.run({} as Stores);
}

test("a receipt is valid alone, and as the whole reply of the API", async () => {
  const jws = await signReceipt(key, claims);
  for (const text of [jws, `${jws}\n`, JSON.stringify({ object: "receipt", jws, claims: {} })]) {
    const { json, failed, text: words } = await verified(text);
    expect(json).toEqual({ valid: true, claims });
    expect([failed, words?.includes("$0.00002")]).toEqual([undefined, true]);
  }
});

test("a receipt with one digit changed, or of another key, is not valid", async () => {
  const jws = await signReceipt(key, claims);
  const [head, , signature] = jws.split(".");
  const cheaper = { ...claims, receipt: { ...claims.receipt, cost_usd: "0.00001" } };
  const payload = Buffer.from(JSON.stringify(cheaper)).toString("base64url");
  const other = await signReceipt(receiptKeyOf("a secret of somebody else"), claims);
  for (const forged of [`${head}.${payload}.${signature}`, other, `${jws}A`, "a.b.c", ""]) {
    const { json, failed } = await verified(forged);
    expect([json.valid, failed]).toEqual([false, true]);
  }
});

test("a token of another type, or without a signature, is no receipt", async () => {
  const [, payload] = (await signReceipt(key, claims)).split(".");
  for (const head of [
    { alg: "none", kid: key.publicJwk.kid, typ: "farebox-receipt+jwt" },
    { alg: "HS256", kid: key.publicJwk.kid, typ: "farebox-receipt+jwt" },
    { alg: "EdDSA", kid: key.publicJwk.kid, typ: "JWT" },
  ]) {
    const forged = `${Buffer.from(JSON.stringify(head)).toString("base64url")}.${payload}.`;
    expect((await verified(forged)).failed).toBe(true);
  }
});

test("a statement is valid as the whole reply, and neither passes as the other", async () => {
  const statement: StatementClaims["statement"] = {
    month: "2026-11",
    from: "2026-11-01T00:00:00.000Z",
    to: "2026-12-01T00:00:00.000Z",
    is_over: true,
    opening: { paid_usd: "5", free_usd: "0", owed_usd: "0" },
    entries: [{ kind: "charge", count: 2, paid_usd: "-0.5", free_usd: "0" }],
    closing: { paid_usd: "4.5", free_usd: "0", owed_usd: "0" },
    calls: { charged: 2, cost_usd: "0.5", paid_usd: "0.5", free_usd: "0" },
    charges: [{ service: "chat", model: "fast", cost_usd: "0.5", free_usd: "0" }],
  };
  const { iss, sub, iat } = claims;
  const jws = await signStatement(key, { iss, sub, iat, statement });
  const reply = JSON.stringify({ statement, jws });
  const { json, text } = await verified(reply, { what: "statement" });
  expect(json).toEqual({ valid: true, claims: { iss, sub, iat, statement } });
  expect(text).toContain("$0.5 in 2026-11, for 2 calls; the paid balance went from $5 to $4.5");
  expect((await verified(jws)).failed).toBe(true);
  const receipt = await signReceipt(key, claims);
  expect((await verified(receipt, { what: "statement" })).failed).toBe(true);
  const [head, , signature] = jws.split(".");
  const other = { iss, sub, iat, statement: { ...statement, month: "2026-10" } };
  const payload = Buffer.from(JSON.stringify(other)).toString("base64url");
  const forged = await verified(`${head}.${payload}.${signature}`, { what: "statement" });
  expect(forged.json.valid).toBe(false);
});
