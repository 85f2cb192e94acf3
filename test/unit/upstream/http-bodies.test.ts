// Tests the HTTP client's bodies of requests and responses.

import { describe, expect, test } from "bun:test";
import type { Socket } from "node:net";
import { brotliCompressSync, constants, createGzip, deflateSync, gzipSync } from "node:zlib";
import { RouteFailure } from "../../../src/upstream/route-failure.ts";
import { exchange, readBytes, readText } from "../../../src/upstream/upstream-http.ts";
import type { UpstreamResponse } from "../../../src/upstream/upstream-response.ts";
import { rejection } from "../../support/api/rejection.ts";
import { eventLoopTurns, eventually } from "../../support/eventually.ts";
import { ByteServer, newClient, reply, upstreamInit } from "../../support/fakes/byte-server.ts";

const HEAD = "HTTP/1.1 200 OK\r\n";
const MB = 1_000_000;

/** Waits until a number no longer changes. */
async function settled(what: string, read: () => number): Promise<number> {
  let last = read();
  let looks = 0;
  await eventually(what, () => {
    looks = read() === last ? looks + 1 : 0;
    last = read();
    return looks >= 20;
  });
  return last;
}

async function outcomeOf(server: ByteServer, client = newClient()): Promise<string> {
  const response = await client.fetch(server.url, upstreamInit());
  return `${response.status} ${await response.text()}`;
}

describe("a response is the same", () => {
  const responses: [string, string, string][] = [
    ["with a Content-Length", reply("Grüße, 世界"), "200 Grüße, 世界"],
    [
      "in chunks",
      `${HEAD}Transfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nx: y\r\n\r\n`,
      "200 hello world",
    ],
    [
      "with bare line feeds",
      "HTTP/1.1 200 OK\ncontent-length: 7\n\na\r\n\r\nb\n",
      "200 a\r\n\r\nb\n",
    ],
    ["without a body", "HTTP/1.1 204 No Content\r\n\r\n", "204 "],
    ["with an empty body", "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", "404 "],
    [
      "after informational ones",
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${reply("done")}`,
      "200 done",
    ],
  ];

  test.each(responses)("%s, whole or byte by byte", async (_, response, expected) => {
    using server = await ByteServer.start(async ({ socket, turn }) => {
      if (turn === 1) return socket.write(response);
      for (const byte of Buffer.from(response)) {
        socket.write(Buffer.from([byte]));
        await eventLoopTurns(1);
      }
    });
    const client = newClient();
    expect(await outcomeOf(server, client)).toBe(expected);
    expect(await outcomeOf(server, client)).toBe(expected);
    expect(server.opened).toBe(1);
  });

  test("if it ends with the connection", async () => {
    using server = await ByteServer.start(({ socket }) => socket.end(`${HEAD}\r\nto the end`));
    expect(await outcomeOf(server)).toBe("200 to the end");
  });
});

test.each([
  ["switches to another protocol", "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n"],
  ["is not HTTP", "220 mail.example.com ESMTP\r\n\r\n"],
  ["has a broken header", `${HEAD}broken\r\n\r\n`],
  ["has contradicting lengths", `${HEAD}content-length: 5\r\ncontent-length: 6\r\n\r\nhello`],
])("a response that %s is refused, and its connection closed", async (_, response) => {
  using server = await ByteServer.start(({ socket }) => socket.write(response));
  const error = await rejection(newClient().fetch(server.url, upstreamInit()));
  expect(error).toMatchObject({ name: "HttpError", code: "EBADRESPONSE" });
  await eventually("the connection is closed", () => server.open === 0);
});

test("a status counts although its body is broken, even if both come at once", async () => {
  using server = await ByteServer.start(({ socket }) => {
    socket.write("HTTP/1.1 429 Many\r\ntransfer-encoding: chunked\r\n\r\nbroken");
  });
  const response = await newClient().fetch(server.url, upstreamInit());
  expect(response.status).toBe(429);
  expect(await rejection(response.text())).toMatchObject({ code: "EBADRESPONSE" });
  await eventually("the connection is closed", () => server.open === 0);
});

describe("a body that breaks off is a failure", () => {
  test.each([
    ["with a length", "content-length: 9\r\n\r\nhalf"],
    ["in chunks", "transfer-encoding: chunked\r\n\r\n9\r\nhalf"],
    ["before its last chunk", "transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n"],
  ])("%s, if the connection is closed", async (_, rest) => {
    using server = await ByteServer.start(({ socket }) => socket.end(HEAD + rest));
    const response = await newClient().fetch(server.url, upstreamInit());
    expect(await rejection(response.text())).toMatchObject({ code: "ECONNRESET" });
  });

  test.each([
    ["with a length", "content-length: 9\r\n"],
    ["in chunks", "transfer-encoding: chunked\r\n"],
    ["that would end with the connection", ""],
  ])("%s, if the connection is reset", async (_, header) => {
    const body = header.startsWith("transfer") ? "9\r\nhalf" : "half";
    using server = await ByteServer.start(({ socket }) =>
      socket.write(`${HEAD}${header}\r\n${body}`),
    );
    const response = await newClient().fetch(server.url, upstreamInit());
    const reader = response.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("half");
    const next = rejection(reader?.read() ?? Promise.resolve());
    for (const socket of server.sockets) socket.resetAndDestroy();
    expect(await next).toMatchObject({ name: "HttpError", code: "ECONNRESET" });
  });

  test("if the connection is reset while the body is not read", async () => {
    using server = await ByteServer.start(({ socket }) => {
      socket.write(`${HEAD}\r\n`);
      socket.write(Buffer.alloc(20 * MB));
    });
    const response = await newClient().fetch(server.url, upstreamInit());
    await settled("the server must wait", () => socketsWritten(server));
    for (const socket of server.sockets) socket.resetAndDestroy();
    await eventually("the connection is closed", () => server.open === 0);
    expect(await rejection(response.text())).toMatchObject({ code: "ECONNRESET" });
  });
});

function socketsWritten({ sockets }: ByteServer): number {
  return [...sockets].reduce((sum, socket) => sum + socket.writableLength, 0);
}

describe("a large request arrives whole", () => {
  test("at a server that reads slowly", async () => {
    const body = "Grüße, 世界 🌍 ".repeat(700_000);
    const parts: Buffer[] = [];
    let length = 0;
    using server = await ByteServer.startRaw((socket) => {
      socket.on("data", (bytes: Buffer) => {
        parts.push(bytes);
        length += bytes.length;
        if (bytes.includes("the end")) socket.write(reply("done"));
        socket.pause();
        setImmediate(() => socket.resume());
      });
    });
    const client = newClient();
    const init = upstreamInit({ method: "POST", body: `${body}the end` });
    const response = await client.fetch(server.url, init);
    expect(await response.text()).toBe("done");
    expect(length).toBeGreaterThan(14 * MB);
    const received = Buffer.concat(parts);
    const start = received.indexOf("\r\n\r\n") + 4;
    expect(received.subarray(start).equals(Buffer.from(init.body ?? ""))).toBe(true);
    // The whole body was sent, so the connection can be used again.
    expect(server.open).toBe(1);
  });
});

describe("a server that floods is stopped while the body is not read", () => {
  const SENT_MAX = 16 * MB;
  const CHUNK = Buffer.alloc(65_536, "x");

  /** Writes this many bytes as fast as it can, and ends the connection. */
  function flood(socket: Socket, total: number): () => number {
    let written = 0;
    const go = () => {
      while (written < total) {
        written += CHUNK.length;
        if (!socket.write(CHUNK)) return void socket.once("drain", go);
      }
      socket.end();
    };
    socket.write(`${HEAD}\r\n`);
    go();
    return () => written;
  }

  test("and continues when it is read", async () => {
    const total = 800 * CHUNK.length;
    let written = () => 0;
    using server = await ByteServer.start(({ socket }) => {
      written = flood(socket, total);
    });
    const response = await newClient().fetch(server.url, upstreamInit());
    expect(await settled("the server must wait", () => written())).toBeLessThan(SENT_MAX);
    let received = 0;
    for await (const bytes of response.body ?? []) received += bytes.length;
    expect(received).toBe(total);
  });

  test("but not longer than until its last byte has come", async () => {
    // The last byte is the first one too many.
    const body = "x".repeat(256 * 1_024 + 1);
    using server = await ByteServer.start(({ socket }) => socket.write(reply(body)));
    const client = newClient();
    const unread = await client.fetch(server.url, upstreamInit());
    await eventually("the connection is used again", async () => {
      await client.fetch(server.url, upstreamInit());
      return server.opened < server.requests.length;
    });
    expect(await unread.text()).toBe(body);
  });

  test("even while the request is still being sent", async () => {
    let written = () => 0;
    let read = 0;
    using server = await ByteServer.startRaw((socket) => {
      socket.once("data", () => {
        written = flood(socket, 800 * CHUNK.length);
      });
      // Reads a little now and then, so that the client keeps writing.
      socket.on("data", (bytes) => {
        read += bytes.length;
        socket.pause();
        if (read < 10 * MB) setImmediate(() => socket.resume());
      });
    });
    const init = upstreamInit({ method: "POST", body: "x".repeat(40 * MB) });
    const response = await newClient().fetch(server.url, init);
    await settled("the server reads no more", () => read);
    expect(await settled("the server must wait", () => written())).toBeLessThan(SENT_MAX);
    await response.body?.cancel();
    await eventually("the connection is closed", () => server.open === 0);
  });
});

describe("a packed body", () => {
  const TEXT = "Grüße, 世界 ".repeat(1_000);

  /** Answers each request with this body. */
  const packing = (coding: string, body: Buffer) =>
    ByteServer.start(({ socket }) => {
      socket.write(`${HEAD}content-encoding: ${coding}\r\ncontent-length: ${body.length}\r\n\r\n`);
      socket.write(body);
    });

  const send = <T>({ url }: ByteServer, read: (response: UpstreamResponse) => Promise<T>) =>
    exchange({ fetch: newClient().fetch, url, method: "GET", headers: {} }, read);

  test.each([
    ["gzip", gzipSync(TEXT)],
    ["GZIP", gzipSync(TEXT)],
    ["x-gzip", gzipSync(TEXT)],
    ["deflate", deflateSync(TEXT)],
    ["br", brotliCompressSync(TEXT)],
    ["identity", Buffer.from(TEXT)],
  ])("is unpacked: %s", async (coding, body) => {
    using server = await packing(coding, body);
    expect(await send(server, (response) => readText(response, MB))).toBe(TEXT);
    const bytes = await send(server, (response) => readBytes(response, MB));
    expect(Buffer.from(bytes).toString()).toBe(TEXT);
    expect(await send(server, (response) => response.text())).toBe(TEXT);
    const client = newClient();
    expect([await outcomeOf(server, client), await outcomeOf(server, client)]).toEqual([
      `200 ${TEXT}`,
      `200 ${TEXT}`,
    ]);
    // The last two requests shared a connection.
    expect(server.opened).toBe(4);
  });

  test.each([["zstd"], ["gzip, br"], ["constructor"], ["__proto__"]])(
    "of an unknown coding is a failure, and closes its connection: %s",
    async (coding) => {
      using server = await packing(coding, gzipSync(TEXT));
      const failure = await rejection(send(server, (response) => readText(response, MB)));
      expect(failure).toBeInstanceOf(RouteFailure);
      expect(String(failure)).toContain("The reply broke off (EENCODING)");
      const response = await newClient().fetch(server.url, upstreamInit());
      expect(await rejection(response.text())).toMatchObject({ code: "EENCODING" });
    },
  );

  test.each([
    ["is cut off", gzipSync(TEXT).subarray(0, -20), "Z_BUF_ERROR"],
    ["is not packed", Buffer.from(TEXT), "Z_DATA_ERROR"],
    [
      "has a wrong checksum",
      Buffer.concat([gzipSync(TEXT).subarray(0, -8), Buffer.alloc(8)]),
      "Z_DATA_ERROR",
    ],
  ])("that %s is a failure", async (_, body, code) => {
    using server = await packing("gzip", body);
    const failure = await rejection(send(server, (response) => readText(response, MB)));
    expect(String(failure)).toContain(`The reply broke off (${code})`);
  });

  test("that its connection cuts off is a failure", async () => {
    using server = await ByteServer.start(({ socket }) => {
      socket.write(`${HEAD}content-encoding: gzip\r\ncontent-length: 999\r\n\r\n`);
      socket.end(gzipSync(TEXT).subarray(0, 40));
    });
    const failure = await rejection(send(server, (response) => readText(response, MB)));
    expect(String(failure)).toContain("The reply broke off (ECONNRESET)");
  });

  test("that is much larger when unpacked is stopped by the reader's limit", async () => {
    const bomb = gzipSync(Buffer.alloc(200 * MB));
    using server = await packing("gzip", bomb);
    const rssBefore = process.memoryUsage.rss();
    for (const read of [readText, readBytes]) {
      const failure = await rejection(send(server, async (response) => read(response, MB)));
      expect(String(failure)).toContain("larger than any reply may be");
    }
    expect(process.memoryUsage.rss() - rssBefore).toBeLessThan(100 * MB);
  });

  test("whose reader stops in the middle closes its connection", async () => {
    using server = await ByteServer.start(({ socket }) => {
      socket.write(`${HEAD}content-encoding: gzip\r\n\r\n`);
      const packer = createGzip();
      packer.on("data", (bytes) => socket.write(bytes));
      packer.write("begun");
      packer.flush(constants.Z_SYNC_FLUSH);
    });
    const response = await newClient().fetch(server.url, upstreamInit());
    for await (const bytes of response.body ?? []) {
      expect(Buffer.from(bytes).toString()).toBe("begun");
      break;
    }
    await eventually("the connection is closed", () => server.open === 0);
  });
});
