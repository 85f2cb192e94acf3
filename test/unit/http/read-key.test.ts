import { describe, expect, test } from "bun:test";
import { newKey } from "../../../src/core/access/keys.ts";
import { ApiError } from "../../../src/core/errors.ts";
import { readKey } from "../../../src/http/read-key.ts";
import { random } from "../../support/random.ts";

const KEY = newKey("gateway", random);
const OTHER = newKey("gateway", random);

function codeOf(headers: Record<string, string>): string {
  try {
    return readKey(new Headers(headers), "gateway") === KEY ? "the key" : "another key";
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

describe("readKey()", () => {
  const cases: readonly (readonly [what: string, headers: Record<string, string>, is: string])[] = [
    ["takes a bearer key", { authorization: `Bearer ${KEY}` }, "the key"],
    ["takes the scheme in any case", { authorization: `bEaReR ${KEY}` }, "the key"],
    ["trims spaces around the key", { authorization: `  Bearer   ${KEY}  ` }, "the key"],
    ["takes x-api-key", { "x-api-key": ` ${KEY} ` }, "the key"],
    [
      "takes the same key in both headers",
      { authorization: `Bearer ${KEY}`, "x-api-key": KEY },
      "the key",
    ],
    [
      "refuses two different keys",
      { authorization: `Bearer ${KEY}`, "x-api-key": OTHER },
      "invalid_api_key",
    ],
    [
      "refuses two Authorization lines, even of one key",
      { authorization: `Bearer ${KEY}, Bearer ${KEY}` },
      "invalid_api_key",
    ],
    ["misses a key without any header", {}, "missing_api_key"],
    ["misses a key behind an empty bearer", { authorization: "Bearer" }, "missing_api_key"],
    ["misses a key behind a bearer of spaces", { authorization: "Bearer   " }, "missing_api_key"],
    ["misses a key in an empty x-api-key", { "x-api-key": " " }, "missing_api_key"],
    ["misses a key behind another scheme", { authorization: `Basic ${KEY}` }, "missing_api_key"],
    ["misses a key without a scheme", { authorization: KEY }, "missing_api_key"],
    [
      "takes x-api-key beside another scheme",
      { authorization: "Basic eDp5", "x-api-key": KEY },
      "the key",
    ],
    [
      "takes x-api-key beside an empty bearer",
      { authorization: "Bearer ", "x-api-key": KEY },
      "the key",
    ],
    [
      "refuses a wrong checksum",
      { authorization: `Bearer ${KEY.slice(0, -1)}${KEY.endsWith("0") ? "1" : "0"}` },
      "invalid_api_key",
    ],
    [
      "refuses a key of the other surface",
      { authorization: `Bearer ${newKey("application", random)}` },
      "invalid_api_key",
    ],
    ["refuses SQL", { authorization: "Bearer ' OR '1'='1" }, "invalid_api_key"],
    ["refuses 10 KB", { authorization: `Bearer ${"k".repeat(10_240)}` }, "invalid_api_key"],
    ["refuses 8-bit bytes", { authorization: "Bearer svc_live_\xe4\xff" }, "invalid_api_key"],
  ];
  for (const [what, headers, is] of cases) test(what, () => expect(codeOf(headers)).toBe(is));
});
