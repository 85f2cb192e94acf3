// Tests which parts of a request make it the same request as an earlier one.

import { expect, test } from "bun:test";
import type { Call } from "../../../src/calls/call.ts";
import { newKey } from "../../../src/core/access/keys.ts";
import type { RunRules } from "../../../src/core/access/runs.ts";
import { markerOf } from "../../../src/core/journal/marker.ts";
import { keyedRequest } from "../../../src/http/idempotency.ts";
import { random } from "../../support/random.ts";

const SECRET = "a secret of sixteen";
const BODY = '{"model":"fast"}';
const PATH = "/v1/chat/completions";
const KEY = newKey("gateway", random);
const call = { identity: { accountId: "acct_0351Ki6Po6Ze8c7RSniYDy" } } as Call;

function markerBy(headers: Record<string, string>, sessionHeaders: readonly string[] = []): string {
  const rules: RunRules = { sessionHeaders, max: null, seconds: 3_600 };
  const deps = { keyPeppers: [SECRET], surface: "gateway", runRules: () => rules } as const;
  const authorization = `Bearer ${KEY}`;
  const request = new Request(`http://127.0.0.1${PATH}`, {
    method: "POST",
    headers: { ...headers, authorization },
  });
  return keyedRequest({ deps, call, request }, "order-1", BODY).markers[0];
}

test("a request without run, end user and cap has the marker of earlier releases", () => {
  const digest = new Bun.CryptoHasher("sha256").update(`POST ${PATH}\n${BODY}`).digest("hex");
  const { accountId } = call.identity;
  const marker = markerOf(SECRET, { accountId, idempotencyKey: "order-1", digest });
  expect(markerBy({})).toBe(marker);
  expect(markerBy({ "x-svc-receipt": "inline", "user-agent": "curl" })).toBe(marker);
});

test("run, end user and cap each make another request, and never stand for each other", () => {
  const markers = ["x-svc-run", "x-svc-max-cost-usd", "x-svc-end-user"].flatMap((name) => [
    markerBy({ [name]: "1" }),
    markerBy({ [name]: "2" }),
  ]);
  expect(new Set([markerBy({}), ...markers]).size).toBe(7);
  expect(markerBy({ "x-svc-run": "1" })).toBe(markers[0] ?? "");
});

test("a session counts where it stands for the run, and nowhere else", () => {
  const session = { session_id: "one" };
  expect(markerBy(session)).toBe(markerBy({}));
  expect(markerBy(session, ["session_id"])).not.toBe(markerBy({}));
  expect(markerBy(session, ["session_id"])).not.toBe(
    markerBy({ session_id: "two" }, ["session_id"]),
  );
});
