// Tests parsing of bodies: the thread for large bodies gives the same results as the thread that
// serves requests, and unknown keys are bounded.

import { describe, expect, test } from "bun:test";
import { ApiError } from "../../../src/core/errors.ts";
import { BodyShares } from "../../../src/http/body/body-shares.ts";
import { type JsonBody, jsonBody } from "../../../src/http/body/json-body.ts";
import { packJson, unpackJson } from "../../../src/http/body/packed-json.ts";
import { type BodyParser, parseBody } from "../../../src/http/body/parse-body.ts";
import { ChatBody } from "../../../src/services/chat/doors/completions/chat-body.ts";
import { BatchBody } from "../../../src/services/search/search-schema.ts";
import { BodyThread } from "../../../src/start/body-threads.ts";
import { realClock } from "../../support/fakes/fake-clock.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { atEnd } from "../../support/shared.ts";

const MEBIBYTE = 1024 * 1024;
const chat = jsonBody(ChatBody, { bytesMax: 8 * MEBIBYTE });
const batch = jsonBody(BatchBody, { bytesMax: 8 * MEBIBYTE });
const thread = new BodyThread({ clock: realClock, log: silent });
atEnd(() => thread.close());

const share = () => new BodyShares().of("account");

type Told = { readonly value: unknown } | { readonly code: string; readonly param?: string };

async function parsed(
  kind: JsonBody<unknown>,
  body: string | Uint8Array,
  parser?: BodyParser,
): Promise<Told> {
  try {
    const source = { parser, sender: "account", share: share() };
    return { value: await parseBody(kind, body, source) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, message, param = "" } = error;
    const refusal = { code, param, message };
    return refusal;
  }
}

const keys = (count: number, name = "k") =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${name}${at}`, 1]));
const chatOf = (fields: object) => ({ messages: [{ role: "user", content: "Hi" }], ...fields });
const tools = (parameters: object) => [{ type: "function", function: { name: "f", parameters } }];

const BODIES: Readonly<Record<string, readonly [JsonBody<unknown>, string]>> = {
  "a long text": [chat, JSON.stringify(chatOf({ user: "ä€𝄞".repeat(100_000) }))],
  "a long text below __proto__": [chat, `{"__proto__":{"a":"${"x".repeat(5_000)}"}}`],
  "a number beyond all numbers": [chat, '{"temperature":1e999,"b":[-1e999]}'],
  "an array": [batch, JSON.stringify([{ query: "x".repeat(5_000) }, { query: "y" }])],
  "an array in place of an object": [chat, "[]"],
  "an object in place of an array": [batch, "{}"],
  "half of a pair": [chat, '{"model":"\\ud800"}'],
  "no JSON": [chat, '{"model":'],
  "deep nesting": [chat, "[".repeat(1_000)],
  "too many values": [chat, JSON.stringify({ a: Array(100_000).fill(1) })],
  "too many keys": [chat, JSON.stringify(chatOf({ tools: tools(keys(10_001)) }))],
  "too many unknown keys": [chat, JSON.stringify(chatOf(keys(9_000)))],
};

describe("the parsing thread gives the same result as parsing here:", () => {
  for (const [name, [kind, text]] of Object.entries(BODIES)) {
    test(name, async () => {
      const here = await parsed(kind, text);
      expect(await parsed(kind, new TextEncoder().encode(text), thread)).toEqual(here);
    });
  }

  test("bytes that are not UTF-8", async () => {
    expect(await parsed(chat, new Uint8Array([123, 34, 255, 34]), thread)).toMatchObject({
      code: "invalid_json",
    });
  });
});

test("a text with many keys or values is parsed in the thread, any other text here", async () => {
  const asked: string[] = [];
  const parser: BodyParser = {
    parse(sender, body) {
      asked.push(sender);
      return thread.parse(sender, body);
    },
  };
  const isApart = async (fields: object) => {
    asked.length = 0;
    await parsed(chat, JSON.stringify(chatOf(fields)), parser);
    return asked.length === 1;
  };
  expect(await isApart({ user: "x".repeat(200_000) })).toBe(false);
  expect(await isApart({ tools: tools(keys(400)) })).toBe(false);
  expect(await isApart({ tools: tools(keys(600)) })).toBe(true);
  expect(await isApart({ metadata: Array(6_000).fill(1) })).toBe(true);
});

test("a packed value is whole again", () => {
  const values = [{ a: ["x".repeat(3_000), { b: "y".repeat(3_000), c: null }] }, "z".repeat(3_000)];
  for (const value of values) {
    const copy = structuredClone(value);
    expect(unpackJson(packJson(copy))).toEqual(value);
  }
});

describe("keys that the schema does not know", () => {
  const told = async (fields: object) => await parsed(chat, JSON.stringify(chatOf(fields)));

  test("may be 256 in one object and 500 in all", async () => {
    expect(await told(keys(256))).toHaveProperty("value");
    const two = { ...keys(200), a: keys(249), b: keys(48) };
    expect(await told(two)).toHaveProperty("value");
  });

  test("are refused by the name of the first one too many", async () => {
    expect(await told(keys(257))).toMatchObject({ code: "invalid_parameter", param: "k256" });
    const nested = { metadata: { deep: [keys(300)] } };
    expect(await told(nested)).toMatchObject({ param: "metadata.deep[].k256" });
    const messages = [{ role: "user", content: "Hi", ...keys(300, "m") }];
    expect(await told({ messages })).toMatchObject({ param: "messages[].m256" });
    const three = { a: keys(200, "a"), b: keys(200, "b"), c: keys(200, "c") };
    expect(await told(three)).toMatchObject({ param: "c.c97" });
  });

  test("do not include those in a field of any form, such as a tool's schema", async () => {
    const many = { tools: tools({ properties: keys(1_000) }), logit_bias: keys(1_000, "1") };
    expect(await told(many)).toHaveProperty("value");
  });
});
