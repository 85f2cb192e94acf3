// Tests that any reply of an upstream either counts as a failure or becomes an answer with known
// fields of known types.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { EXAMPLES } from "../../../../../src/services/maps/maps-examples.ts";
import { RouteFailure } from "../../../../../src/upstream/route-failure.ts";
import { askServer, CASES, serverOf } from "../../../../support/fakes/maps-cases.ts";

const JSON_CASES = CASES.filter(({ reply }) => !(reply instanceof Uint8Array));
const RUNS = 150;

/** Values that may replace a field of a reply. */
const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(
    null,
    -1,
    0,
    1e308,
    91,
    "\u0000\u001b[31m\u2028",
    "\ud800",
    "9".repeat(5_000),
    "constructor",
    "__proto__",
    "javascript:alert(1)",
    "1970-01-01T00:00:00",
    [[13.4, 52.5]],
    { toString: "" },
    {},
    [],
  ),
);

/** The paths of all parts of a value. */
function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, one]) => pathsOf(one, [...path, key]))];
}

/** A copy with the value at a path replaced. */
function withJunk(value: unknown, [key, ...rest]: readonly string[], what: unknown): unknown {
  if (key === undefined) return what;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, one]) => [
    name,
    name === key ? withJunk(one, rest, what) : one,
  ]);
  return Array.isArray(value) ? entries.map(([, one]) => one) : Object.fromEntries(entries);
}

const KNOWN_FIELDS = new Set(fieldsOf(Object.values(EXAMPLES).map(({ data }) => data)));

function fieldsOf(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const names = Array.isArray(value) ? [] : Object.keys(value);
  return [...names, ...Object.values(value).flatMap(fieldsOf)];
}

/** Throws if an answer contains a forbidden value. */
function expectClean(value: unknown): void {
  if (typeof value === "number") expect(Number.isFinite(value)).toBe(true);
  if (typeof value === "string") {
    expect(value.length).toBeLessThanOrEqual(2_100);
    expect(value.isWellFormed()).toBe(true);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the characters that it must not have
    expect(value).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
  }
  expect(value).not.toBeUndefined();
  if (typeof value !== "object" || value === null) return;
  for (const [name, one] of Object.entries(value)) {
    if (name === "url" || name === "website") expect(one ?? "https:").toMatch(/^https?:/);
    expectClean(one);
  }
}

/** Serves a case with this reply, or returns why it cannot. */
async function outcome(one: (typeof CASES)[number], reply: unknown): Promise<unknown> {
  const { kind, action, query } = one;
  const fetch = async () => new Response(JSON.stringify(reply));
  const server = serverOf(kind, "http://upstream");
  return await askServer({ server, action, query, fetch }).catch((error: unknown) => error);
}

describe("a reply with junk in it", () => {
  for (const one of JSON_CASES) {
    test(`of ${one.kind} to ${one.action} becomes a clean answer or none`, async () => {
      const paths = pathsOf(one.reply);
      const change = fc.tuple(fc.constantFrom(...paths), junk);
      let served = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
          let reply: unknown = one.reply;
          for (const [path, what] of changes) reply = withJunk(reply, path, what);
          const answer = await outcome(one, reply);
          if (answer instanceof Error) {
            expect(answer).toBeInstanceOf(RouteFailure);
            return;
          }
          served += 1;
          expectClean(answer);
          const { data } = answer as { readonly data: unknown };
          expect(fieldsOf(data).filter((name) => !KNOWN_FIELDS.has(name))).toEqual([]);
        }),
        { numRuns: RUNS },
      );
      // Otherwise the changes would prove nothing.
      expect(served).toBeGreaterThan(0);
    });

    test(`of ${one.kind} to ${one.action} in any form is never used as an answer`, async () => {
      const form = fc.oneof(fc.jsonValue(), fc.array(junk), fc.dictionary(fc.string(), junk));
      await fc.assert(
        fc.asyncProperty(form, async (reply) => {
          const answer = await outcome(one, reply);
          if (!(answer instanceof Error)) expectClean(answer);
          else expect(answer).toBeInstanceOf(RouteFailure);
        }),
        { numRuns: RUNS },
      );
    });
  }
});
