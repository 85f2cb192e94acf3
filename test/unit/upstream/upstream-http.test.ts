// Tests one request to an upstream: its result, and which side is to blame for a failure.

import { describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import { platformFetch } from "../../../src/upstream/open-fetch.ts";
import { RouteFailure } from "../../../src/upstream/route-failure.ts";
import { TimeLimit } from "../../../src/upstream/time-limit.ts";
import {
  exchange,
  type Fetch,
  readBytes,
  readText,
  type UpstreamRequest,
  unreadFailure,
} from "../../../src/upstream/upstream-http.ts";
import { upstreamFetch } from "../../support/fakes/upstream-fetch.ts";
import { sharedServer } from "../../support/shared.ts";

const SECRET = "the-key-in-the-address";
const seen: string[] = [];
const server = sharedServer(async (request) => {
  const { pathname } = new URL(request.url);
  seen.push(`${request.method} ${pathname} ${await request.text()}`);
  const status = Number(/^\/status\/(\d+)/.exec(pathname)?.[1] ?? 200);
  if (pathname === "/hang") return await new Promise<Response>(() => {});
  if (pathname === "/large") return new Response(endless());
  const headers = { location: "/elsewhere", "retry-after": "7" };
  return new Response("said", status === 200 ? {} : { status, headers });
});

/** A body of one chunk that never ends. */
function endless(): ReadableStream<Uint8Array> {
  return new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(2_000)) });
}

function send(path: string, more: Partial<UpstreamRequest> = {}): Promise<string> {
  const url = new URL(`${path}?key=${SECRET}`, server.url).href;
  return exchange(
    { fetch: upstreamFetch, url, method: "GET", headers: {}, ...more },
    async (response) => {
      if (response.status === 200) return await readText(response, 1_000);
      throw await unreadFailure(response);
    },
  );
}

async function failureOf(sent: Promise<unknown>): Promise<RouteFailure> {
  const error = await sent.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof RouteFailure)) throw new Error(`No RouteFailure, but ${error}`);
  expect(error.message).not.toContain(SECRET);
  expect(error.message).not.toContain("127.0.0.1");
  return error;
}

test("a request and its reply arrive unchanged", async () => {
  expect(await send("/reply", { method: "POST", body: "asked" })).toBe("said");
  expect(seen.at(-1)).toBe("POST /reply asked");
});

/** Answers this many requests of each connection, and closes it at the next one. */
async function startClosing(answersMax: number) {
  let requests = 0;
  const closing = createServer((socket) => {
    let answers = 0;
    socket.on("data", () => {
      requests += 1;
      answers += 1;
      if (answers > answersMax) socket.end();
      else socket.write("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nsaid");
    });
  });
  await new Promise<void>((resolve) => closing.listen(0, "127.0.0.1", resolve));
  const address = closing.address();
  if (address === null || typeof address === "string") throw new Error("It does not listen");
  return {
    url: `http://127.0.0.1:${address.port}/`,
    get requests() {
      return requests;
    },
    [Symbol.dispose]: () => void closing.close(),
  };
}

test("a request on a connection that the server just closed is sent on another", async () => {
  using closing = await startClosing(1);
  for (let count = 1; count <= 3; count += 1) {
    expect(await send(closing.url, { method: "POST", body: "asked" })).toBe("said");
  }
  expect(closing.requests).toBe(5);
});

test("a server that closes a new connection gets a request once, and is blamed", async () => {
  using closing = await startClosing(0);
  const failure = await failureOf(send(closing.url, { method: "POST", body: "asked" }));
  expect(failure).toMatchObject({
    message: "The server did not answer (ECONNRESET)",
    blames: "server",
  });
  expect(closing.requests).toBe(1);
});

describe("through a proxy", () => {
  test("a request is sent once, and its server may have failed by it", async () => {
    using closing = await startClosing(0);
    const sent = send(closing.url, { fetch: platformFetch, method: "POST", body: "asked" });
    expect((await failureOf(sent)).blames).toBe("server");
    expect(closing.requests).toBe(1);
  });

  test("each request of an account has its own connection", async () => {
    using closing = await startClosing(1);
    for (let count = 1; count <= 3; count += 1) {
      expect(await send(closing.url, { fetch: platformFetch, account: "acct_1" })).toBe("said");
    }
    expect(closing.requests).toBe(3);
  });
});

test.each([
  [302, "server"],
  [400, "nobody"],
  [401, "server"],
  [402, "server"],
  [403, "server"],
  [404, "nobody"],
  [405, "server"],
  [406, "nobody"],
  [408, "server"],
  [409, "nobody"],
  [413, "nobody"],
  [414, "nobody"],
  [415, "nobody"],
  [416, "nobody"],
  [417, "nobody"],
  [422, "nobody"],
  [424, "nobody"],
  [429, "nobody"],
  [431, "nobody"],
  [451, "nobody"],
  [500, "server"],
  [503, "server"],
] as const)("status %d blames: %s", async (status, blames) => {
  const failure = await failureOf(send(`/status/${status}`));
  const message = `The server answered ${status}`;
  expect(failure).toMatchObject({ message, blames, retryAfterSeconds: 7 });
});

/** A server that answers each request with these bytes and closes the connection. */
function answering(bytes: string) {
  return Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { data: (socket) => void socket.end(bytes) },
  });
}

test.each([
  ["is cut off", "content-length: 40\r\n\r\nsaid", "ECONNRESET"],
  ["ends before its last chunk", "transfer-encoding: chunked\r\n\r\n4\r\nsaid\r\n", "ECONNRESET"],
  ["cannot be unpacked", "content-encoding: gzip\r\ncontent-length: 4\r\n\r\nsaid", "Z_DATA_ERROR"],
])("a reply that %s is a failure of the server, which did answer", async (_, rest, code) => {
  using server = answering(`HTTP/1.1 200 OK\r\n${rest}`);
  const failure = await failureOf(send("/", { url: `http://127.0.0.1:${server.port}/` }));
  expect(failure).toMatchObject({ message: `The reply broke off (${code})`, blames: "server" });
});

test("a status counts although its body is cut off", async () => {
  using server = answering("HTTP/1.1 429 Many\r\nretry-after: 7\r\ncontent-length: 40\r\n\r\nsa");
  const failure = await failureOf(send("/", { url: `http://127.0.0.1:${server.port}/` }));
  expect(failure).toMatchObject({ message: "The server answered 429", retryAfterSeconds: 7 });
});

test("a redirect is a failure, and is not followed", async () => {
  expect((await failureOf(send("/status/302"))).message).toBe("The server answered 302");
  expect(seen.join()).not.toContain("/elsewhere");
});

test("a reply that is too large is given up while it arrives", async () => {
  expect((await failureOf(send("/large"))).message).toContain("larger than any reply may be");
  const url = new URL("/large", server.url).href;
  const request = { fetch: upstreamFetch, url, method: "GET", headers: {} } as const;
  const bytes = exchange(request, (response) => readBytes(response, 1_000));
  expect((await failureOf(bytes)).message).toContain("larger than any reply may be");
});

test("a reply is measured, whatever length it declares", async () => {
  const chunk = "x".repeat(16_000);
  const head = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n";
  using liar = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data: (socket) => {
        socket.end(`${head}${chunk.length.toString(16)}\r\n${chunk}\r\n0\r\n\r\n`);
      },
    },
  });
  const failure = await failureOf(send("/", { url: `http://127.0.0.1:${liar.port}/` }));
  expect(failure.message).toContain("larger than any reply may be");
});

test("the time limit is the server's fault", async () => {
  const { signal } = new TimeLimit(50);
  const failure = await failureOf(send("/hang", { signal }));
  expect(failure).toMatchObject({ message: "The server did not answer in time", blames: "server" });
});

test("a reply is waited for as long as its limit allows, not six minutes", async () => {
  const waits: unknown[] = [];
  const noting: Fetch = async (_url, init) => {
    // The platform's own limit, which only this option removes.
    waits.push(init.timeout);
    return new Response("said");
  };
  expect(await send("/", { fetch: noting })).toBe("said");
  expect(waits).toEqual([false]);
});

test("a caller who leaves blames no server: their own reason is thrown", async () => {
  const caller = new AbortController();
  const limit = new TimeLimit(60_000, caller.signal);
  const sent = send("/hang", { signal: limit.signal });
  const reason = new Error("the caller left");
  caller.abort(reason);
  await expect(sent).rejects.toBe(reason);
  limit.end();
});

test("an unreachable server blames the connection, without its address", async () => {
  const url = `http://127.0.0.1:1/?key=${SECRET}`;
  const failure = await failureOf(send("/", { url }));
  expect(failure.blames).toBe("connection");
  expect(failure.message).toMatch(/^The server did not answer \(\w+\)$/);
});
