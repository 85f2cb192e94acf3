// Tests the reading of a response's head.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { endOfHead, HEAD_BYTES_MAX, parseHead } from "../../../../src/upstream/http/http-head.ts";
import { rejection } from "../../../support/api/rejection.ts";
import { ByteServer, newClient, upstreamInit } from "../../../support/fakes/byte-server.ts";

const KEPT_MS = 55_000;

const parse = (...lines: string[]) => parseHead(`${lines.join("\r\n")}\r\n\r\n`);

describe("the end of a head", () => {
  const lineEnd = fc.constantFrom("\r\n", "\n");
  const line = fc.tuple(fc.stringMatching(/^[ -~]{1,20}$/), lineEnd).map((parts) => parts.join(""));
  const head = fc
    .tuple(fc.array(line, { minLength: 1, maxLength: 6 }), lineEnd)
    .map(([lines, end]) => Buffer.from(lines.join("") + end));
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array)),
    fc.constantFrom("\r\n\r\n", "\n\n", "a\r\n\r\nb", "\n\r\n").map((text) => Buffer.from(text)),
  );

  test("is its first empty line, whatever its lines end with and its body contains", () => {
    fc.assert(
      fc.property(head, body, (lines, after) => {
        expect(endOfHead(Buffer.concat([lines, after]))).toBe(lines.length);
      }),
    );
  });

  test("is not found before it has arrived", () => {
    fc.assert(
      fc.property(head, fc.nat(), (lines, length) => {
        expect(endOfHead(lines.subarray(0, length % lines.length))).toBe(-1);
      }),
    );
  });
});

test.each([
  ["HTTP/1.1 200 OK", 200],
  ["HTTP/1.1 200 ", 200],
  ["HTTP/1.1 200", 200],
  ["HTTP/1.0 404 Not Found", 404],
  ["HTTP/1.1 599 Ünlike any 200", 599],
  ["HTTP/1.1 100 Continue", 100],
])("'%s' has the status %d", (line, status) => {
  expect(parse(line).status).toBe(status);
});

test.each([
  [""],
  ["HTTP/1.1"],
  ["HTTP/1.1 20 OK"],
  ["HTTP/1.1 2000 OK"],
  ["HTTP/1.1 000 Nothing"],
  ["HTTP/1.1 099 Nothing"],
  ["HTTP/1.1  200 OK"],
  ["HTTP/1.1 200OK"],
  ["HTTP/1.10 200 OK"],
  ["HTTP/2 200 OK"],
  ["HTTP/2.0 200 OK"],
  ["http/1.1 200 OK"],
  [" HTTP/1.1 200 OK"],
  ["ICY 200 OK"],
  ["<html>"],
])("'%s' is no status line", (line) => {
  expect(() => parse(line)).toThrow("no status line");
});

test("header names are in lower case, and values have no spaces around them", () => {
  const { headers } = parse("HTTP/1.1 200 OK", "X-One:1", "x-TWO:  2 b \t", "X-Three:", "X-4: a:b");
  expect(headers.get("x-one")).toBe("1");
  expect(headers.get("x-two")).toBe("2 b");
  expect(headers.get("x-three")).toBe("");
  expect(headers.get("x-4")).toBe("a:b");
  expect(headers.has("x-three")).toBe(true);
  expect(headers.has("x-five")).toBe(false);
  expect(headers.get("constructor")).toBeNull();
});

test("the values of a repeated header are joined by commas", () => {
  const { headers } = parse("HTTP/1.1 200 OK", "Via: a", "x: y", "via: b", "VIA: c");
  expect(headers.get("via")).toBe("a, b, c");
});

test("a head may have lines that end with LF alone", () => {
  const { status, headers } = parseHead("HTTP/1.1 200 OK\nContent-Length: 5\nX: y\r\n\n");
  expect(status).toBe(200);
  expect(headers.get("content-length")).toBe("5");
  expect(headers.get("x")).toBe("y");
});

test.each([
  ["no colon", "broken"],
  ["no name", ": value"],
  ["a space before its colon", "name : value"],
  ["a space in its name", "a name: value"],
  ["a letter that names must not have", "nämé: value"],
  ["a value that goes on in the next line", "name: value\r\n more: x"],
  ["a next line without a colon", "name: value\r\n\tmore"],
  ["a carriage return in its value", "name: value\rother: x"],
  ["a carriage return at its end", "name: value\r"],
  ["a zero byte", "name: a\0b"],
])("a header with %s is refused", (_, line) => {
  expect(() => parse("HTTP/1.1 200 OK", line)).toThrow("a broken header");
});

describe("a connection is kept", () => {
  test.each([
    ["HTTP/1.1", []],
    ["HTTP/1.1", ["connection: keep-alive"]],
    ["HTTP/1.1", ["connection: closed, x-close"]],
    ["HTTP/1.0", ["connection: Keep-Alive"]],
    ["HTTP/1.0", ["connection: x, keep-alive"]],
  ])("after %s with %p", (version, lines) => {
    expect(parse(`${version} 200 OK`, ...lines).keepMs).toBe(KEPT_MS);
  });

  test.each([
    ["HTTP/1.0", []],
    ["HTTP/1.0", ["connection: x-keep-alive"]],
    ["HTTP/1.0", ["connection: keep-alive, close"]],
    ["HTTP/1.0", ["connection: keep-alive", "transfer-encoding: chunked"]],
    ["HTTP/1.1", ["connection: close"]],
    ["HTTP/1.1", ["Connection: Close"]],
    ["HTTP/1.1", ["connection: keep-alive", "connection: close"]],
    ["HTTP/1.1", ["connection: x , close , y"]],
  ])("but not after %s with %p", (version, lines) => {
    expect(parse(`${version} 200 OK`, ...lines).keepMs).toBe(0);
  });

  test.each([
    ["timeout=5", 4_000],
    ["timeout=5, max=100", 4_000],
    ["max=100, Timeout=5", 4_000],
    ["timeout=1", 0],
    ["timeout=0", 0],
    ["timeout=600", KEPT_MS],
    ["timeout=99999999999999", KEPT_MS],
    ["timeout=", KEPT_MS],
    ["max=100", KEPT_MS],
  ])("with 'Keep-Alive: %s' for %d ms", (value, keepMs) => {
    expect(parse("HTTP/1.1 200 OK", `Keep-Alive: ${value}`).keepMs).toBe(keepMs);
  });
});

/** A response whose head, up to its empty line, has this many bytes. */
function withHead(length: number): string {
  const start = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\nx: ";
  return `${start}${"x".repeat(length - start.length - 4)}\r\n\r\nhello`;
}

test("a head of 64 KB is read, and a longer one is refused while it comes", async () => {
  const responses = [withHead(HEAD_BYTES_MAX), withHead(HEAD_BYTES_MAX + 1), "x".repeat(100_000)];
  using server = await ByteServer.start(({ socket, number }) => {
    socket.write(responses[number - 1] ?? "");
  });
  const client = newClient();
  const response = await client.fetch(server.url, upstreamInit());
  expect(await response.text()).toBe("hello");
  for (const _ of [2, 3]) {
    const error = await rejection(client.fetch(server.url, upstreamInit()));
    expect(error).toMatchObject({ code: "EBADRESPONSE" });
    expect(String(error)).toContain("too long");
  }
  client.close();
});
