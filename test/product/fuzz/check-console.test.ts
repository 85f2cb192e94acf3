// Tests that the fuzzer of the console finds each of these faults.

import { expect, test } from "bun:test";
import { checkConsole } from "./check-console.ts";
import { MARK } from "./console-lab.ts";
import type { ConsoleRequest } from "./console-maker.ts";
import type { RawAnswer } from "./raw-client.ts";

const REQUEST: ConsoleRequest = {
  number: 0,
  endpoint: "POST /console/api/accounts/{account}/rename",
  method: "POST",
  target: "/console/api/accounts/KNOWN_account_0/rename",
  headers: [],
  body: null,
  framing: { kind: "length" },
  isHttp: true,
  hangUpMs: null,
  who: "admin",
  isOwnPage: true,
  isJsonType: true,
  fields: [],
};

function answerOf(status: number, body: object | string): RawAnswer {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const headers = new Headers({ "content-type": "application/json" });
  return { status, headers, body: Buffer.from(text), isWhole: true };
}

const refusal = (status: number, code: string, message = "No") =>
  answerOf(status, { error: { code, message } });

test("a right answer passes", () => {
  expect(checkConsole(REQUEST, answerOf(200, { ok: true }))).toBe(200);
  expect(checkConsole(REQUEST, refusal(403, "role_required"))).toBe(403);
  const named = refusal(400, "invalid_parameter", "name must be a string");
  expect(checkConsole(REQUEST, named)).toBe(400);
});

const WRONG: Readonly<Record<string, readonly [Partial<ConsoleRequest>, RawAnswer, string]>> = {
  "a fault of ours": [{}, refusal(500, "internal_error"), "A fault of ours"],
  "an unknown code": [{}, refusal(400, "odd"), "'odd' is no code"],
  "a code with another status": [{}, refusal(400, "role_required"), "is 403, not 400"],
  "a refusal of no field": [{}, refusal(400, "invalid_parameter", "No"), "names no field"],
  "a reply of another shape": [{}, answerOf(200, { ok: true, more: 1 }), "which differs at"],
  "a lower role": [{ who: "viewer" }, answerOf(200, { ok: true }), "needs the role 'admin'"],
  "a stranger": [{ who: "stranger" }, answerOf(200, { ok: true }), "account of others"],
  nobody: [{ who: null }, answerOf(200, { ok: true }), "without a session"],
  "a foreign page": [{ isOwnPage: false }, answerOf(200, { ok: true }), "a foreign page"],
  "another type": [{ isJsonType: false }, answerOf(200, { ok: true }), "another type"],
  "a name of others": [{}, refusal(404, "not_found", `${MARK} is`), "another organisation"],
  "an operator's path": [
    { method: "GET", target: "/console/operator/health", who: "owner" },
    answerOf(200, {}),
    "acted as an operator",
  ],
};

for (const [name, [change, answer, problem]] of Object.entries(WRONG)) {
  test(`served wrongly: ${name}`, () => {
    expect(() => checkConsole({ ...REQUEST, ...change }, answer)).toThrow(problem);
  });
}
