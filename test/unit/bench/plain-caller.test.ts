// Tests how the load generator reads an answer: a wrong count of bytes would measure something
// else.

import { expect, test } from "bun:test";
import {
  NumberedRequest,
  PlainCaller,
  readAnswer,
  requestBytes,
} from "../../../bench/load/plain-caller.ts";
import { atEnd } from "../../support/shared.ts";

const BODY = '{"text":"Grüße"}';
const COST = "X-Svc-Cost-Usd: 0.00002";
const LENGTH = `Content-Length: ${Buffer.byteLength(BODY)}`;
const WHOLE = Buffer.from(`HTTP/1.1 200 OK\r\n${COST}\r\n${LENGTH}\r\n\r\n${BODY}`);
const PIECES = Buffer.from(
  ["HTTP/1.1 402 No", "transfer-encoding: chunked", "", "4", '{"a"', "A", ':"bcdefg"}', "0", ""]
    .map((line) => `${line}\r\n`)
    .join(""),
);

test("an answer is complete with its last byte, and not before", () => {
  for (const [bytes, answer] of [
    [WHOLE, { status: 200, costUsd: "0.00002", body: BODY }],
    [PIECES, { status: 402, costUsd: null, body: '{"a":"bcdefg"}' }],
  ] as const) {
    for (let length = 0; length < bytes.length; length += 1) {
      expect(readAnswer(bytes.subarray(0, length))).toBeNull();
    }
    expect(readAnswer(bytes)).toEqual(answer);
  }
});

test("a numbered request has another value of its header each time, and nothing else", () => {
  const url = new URL("http://127.0.0.1:1/v1/chat/completions");
  const terms = { headers: { agent: "a" }, body: BODY, numbered: "idempotency-key" };
  const requests = [new NumberedRequest(url, terms), new NumberedRequest(url, terms)];
  const texts = [...requests, ...requests].map((request) => request.next().toString());
  const keys = texts.map((text) => /\r\nidempotency-key: (\S+)\r\n/.exec(text)?.[1] ?? "");
  expect(new Set(keys.filter((key) => key !== "")).size).toBe(4);
  const rests = texts.map((text, index) => text.replace(keys[index] ?? "", "*"));
  const plain = requestBytes(url, { agent: "a", "idempotency-key": "*" }, BODY).toString();
  expect(rests).toEqual([plain, plain, plain, plain]);
});

test("an answer without a length is invalid", () => {
  expect(() => readAnswer(Buffer.from("HTTP/1.1 200 OK\r\n\r\nhello\r\n"))).toThrow("no length");
});

test("calls follow each other on a connection, and a broken connection is replaced", async () => {
  const seen: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      seen.push(`${request.headers.get("authorization")} ${await request.text()}`);
      if (seen.length === 2) return new Response("last", { headers: { connection: "close" } });
      return new Response("x".repeat(100_000), { headers: { "x-svc-cost-usd": "1.5" } });
    },
  });
  atEnd(() => server.stop(true));
  const url = new URL("/v1/chat/completions", server.url);
  const caller = new PlainCaller(url);
  const request = requestBytes(url, { authorization: "Bearer a" }, BODY);
  const first = await caller.call(request);
  expect([first.status, first.costUsd, first.body.length]).toEqual([200, "1.5", 100_000]);
  expect((await caller.call(request)).body).toBe("last");
  // The connection ends before or during the next call, which may be lost too.
  await caller.call(request).catch(() => null);
  expect((await caller.call(request)).status).toBe(200);
  expect(new Set(seen)).toEqual(new Set([`Bearer a ${BODY}`]));
});
