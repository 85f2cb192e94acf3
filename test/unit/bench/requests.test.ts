import { expect, test } from "bun:test";
import { MODEL_SUFFIXES, requestOf, VARIANTS } from "../../../bench/load/requests.ts";
import { CHAT_REPLIES, STREAM_SCRIPTS } from "../../../bench/load/stub-replies.ts";

const KIND = { model: "plain", stream: false } as const;
const all = Array.from({ length: VARIANTS }, (_, number) => requestOf(KIND, number));

test("the load has 3,000 different bodies, of several models, agents and addresses", () => {
  expect(new Set(all.map(({ body }) => body)).size).toBe(VARIANTS);
  const models = new Set(all.map(({ body }) => JSON.parse(body).model));
  expect([...models].sort()).toEqual(MODEL_SUFFIXES.map((suffix) => `plain${suffix}`).sort());
  expect(new Set(all.map(({ headers }) => headers["user-agent"])).size).toBeGreaterThan(3);
  expect(new Set(all.map(({ headers }) => headers["x-forwarded-for"])).size).toBeGreaterThan(500);
});

test("a request is the same in each run and for each program that is compared", () => {
  expect(all.map((_, number) => requestOf(KIND, number))).toEqual(all);
});

test("a quote has the call of the same number as its body", () => {
  const { body } = requestOf({ ...KIND, form: "quote" }, 7);
  const call = { path: "/v1/chat/completions", body: JSON.parse(requestOf(KIND, 7).body) };
  expect(JSON.parse(body)).toEqual(call);
});

test("the last message of a chat is the user's", () => {
  for (const { body } of all) expect(JSON.parse(body).messages.at(-1).role).toBe("user");
});

test("chunks of a stream differ, and each has an obfuscation", () => {
  for (const { chunks } of STREAM_SCRIPTS) {
    const texts = chunks.map(String);
    expect(new Set(texts).size).toBe(chunks.length);
    for (const text of texts) expect(text).toMatch(/"obfuscation":"\w+"/);
  }
});

test("the length of a reply is that of its body", () => {
  for (const reply of CHAT_REPLIES) {
    const [head = "", body = ""] = reply.toString().split("\r\n\r\n");
    expect(head).toContain(`content-length: ${Buffer.byteLength(body)}\r\n`);
    expect(JSON.parse(body).usage.completion_tokens).toBeGreaterThan(0);
  }
});
