// Tests requests that the HTTP client gives up.

import { describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import {
  type CancelListener,
  Cancellation,
  type CancelSignal,
} from "../../../src/core/cancellation.ts";
import { rejection } from "../../support/api/rejection.ts";
import { eventLoopTurns, eventually } from "../../support/eventually.ts";
import { ByteServer, newClient, reply, upstreamInit } from "../../support/fakes/byte-server.ts";

const HEAD = "HTTP/1.1 200 OK\r\n";
const GZIPPED = gzipSync("x".repeat(1_000)).toString("latin1");

interface Aborter {
  readonly signal: CancelSignal;
  abort(reason?: unknown): void;
}

const aborters: [string, () => Aborter][] = [
  ["an AbortSignal", () => new AbortController()],
  [
    "a Cancellation",
    () => {
      const signal = new Cancellation();
      return { signal, abort: (reason) => signal.abort(reason) };
    },
  ],
];

describe.each(aborters)("a request that is aborted by %s", (_, newAborter) => {
  test("before it is sent is not sent", async () => {
    using server = await ByteServer.start(({ socket }) => socket.write(reply("done")));
    const aborter = newAborter();
    const reason = new Error("the caller left");
    aborter.abort(reason);
    const { signal } = aborter;
    expect(await rejection(newClient().fetch(server.url, upstreamInit({ signal })))).toBe(reason);
    await eventLoopTurns(10);
    expect(server.opened).toBe(0);
  });

  test("while it connects is not sent, and its connection is closed", async () => {
    using server = await ByteServer.start(({ socket }) => socket.write(reply("done")));
    const client = newClient();
    const aborter = newAborter();
    const sent = client.fetch(server.url, upstreamInit({ signal: aborter.signal }));
    const reason = new Error("the caller left");
    aborter.abort(reason);
    expect(await rejection(sent)).toBe(reason);
    await eventually(
      "the connection came and went",
      () => server.opened === 1 && server.open === 0,
    );
    expect(server.requests).toEqual([]);
    expect((await client.fetch(server.url, upstreamInit())).status).toBe(200);
  });

  test("within a TLS handshake that never ends has its connection closed", async () => {
    let received = 0;
    using server = await ByteServer.startRaw((socket) => {
      socket.on("data", (bytes) => {
        received += bytes.length;
      });
    });
    const aborter = newAborter();
    const url = `https://127.0.0.1:${server.port}/`;
    const sent = newClient().fetch(url, upstreamInit({ signal: aborter.signal }));
    await eventually("the handshake has begun", () => received > 0);
    const reason = new Error("the caller left");
    aborter.abort(reason);
    expect(await rejection(sent)).toBe(reason);
    await eventually("the connection is closed", () => server.open === 0);
  });

  test.each([
    ["a head", ""],
    ["the rest of a head", "HTTP/1.1 200"],
    ["a final response", "HTTP/1.1 100 Continue\r\n\r\n"],
  ])("while it waits for %s has its connection closed", async (_waits, begun) => {
    using server = await ByteServer.start(({ socket, number }) => {
      socket.write(number === 1 ? begun : reply("done"));
    });
    const client = newClient();
    const aborter = newAborter();
    const sent = client.fetch(server.url, upstreamInit({ signal: aborter.signal }));
    await eventually("the request is there", () => server.requests.length === 1);
    const reason = new Error("the caller left");
    aborter.abort(reason);
    expect(await rejection(sent)).toBe(reason);
    await eventually("the connection is closed", () => server.open === 0);
    expect(await (await client.fetch(server.url, upstreamInit())).text()).toBe("done");
    expect(server.opened).toBe(2);
  });

  test.each([
    ["a body", `${HEAD}content-length: 9\r\n\r\nhalf`],
    ["a body in chunks", `${HEAD}transfer-encoding: chunked\r\n\r\n9\r\nhalf`],
    ["a body that ends with the connection", `${HEAD}\r\nhalf`],
    ["a packed body", `${HEAD}content-encoding: gzip\r\n\r\n${GZIPPED.slice(0, 20)}`],
  ])("within %s has its connection closed", async (_body, begun) => {
    using server = await ByteServer.start(({ socket, number }) => {
      socket.write(number === 1 ? begun : reply("done"), "latin1");
    });
    const client = newClient();
    const aborter = newAborter();
    const response = await client.fetch(server.url, upstreamInit({ signal: aborter.signal }));
    const text = rejection(response.text());
    await eventLoopTurns(10);
    const reason = new Error("the caller left");
    aborter.abort(reason);
    expect(await text).toBe(reason);
    await eventually("the connection is closed", () => server.open === 0);
    expect(await (await client.fetch(server.url, upstreamInit())).text()).toBe("done");
    expect(server.opened).toBe(2);
  });

  test("within a body that is not read yet fails when it is read", async () => {
    using server = await ByteServer.start(({ socket }) => {
      socket.write(`${HEAD}content-length: 9\r\n\r\nhalf`);
    });
    const aborter = newAborter();
    const response = await newClient().fetch(server.url, upstreamInit({ signal: aborter.signal }));
    aborter.abort("a reason that is no error");
    await eventually("the connection is closed", () => server.open === 0);
    expect(await rejection(response.text())).toBe("a reason that is no error");
  });

  test("while its body is being sent has its connection closed", async () => {
    let received = 0;
    using server = await ByteServer.startRaw((socket) => {
      socket.once("data", (bytes) => {
        received += bytes.length;
        socket.pause();
      });
    });
    const aborter = newAborter();
    const init = { method: "POST", body: "x".repeat(20_000_000), signal: aborter.signal } as const;
    const sent = newClient().fetch(server.url, upstreamInit(init));
    await eventually("the request has begun", () => received > 0);
    const reason = new Error("the caller left");
    aborter.abort(reason);
    expect(await rejection(sent)).toBe(reason);
    for (const socket of server.sockets) socket.resume();
    await eventually("the connection is closed", () => server.open === 0);
  });

  test("after the end of its response leaves the response and connection unchanged", async () => {
    using server = await ByteServer.start(({ socket }) => socket.write(reply("done")));
    const client = newClient();
    const aborter = newAborter();
    const response = await client.fetch(server.url, upstreamInit({ signal: aborter.signal }));
    aborter.abort(new Error("the caller left"));
    expect(await response.text()).toBe("done");
    await client.fetch(server.url, upstreamInit());
    expect(server.opened).toBe(1);
  });
});

describe("a response that is given up closes its connection", () => {
  const begun = `${HEAD}content-length: 9\r\n\r\nhalf`;

  test("by cancel()", async () => {
    using server = await ByteServer.start(({ socket }) => socket.write(begun));
    const response = await newClient().fetch(server.url, upstreamInit());
    const reader = response.body?.getReader();
    await reader?.read();
    const waiting = rejection(reader?.read() ?? Promise.resolve());
    await response.body?.cancel();
    expect(await waiting).toMatchObject({ code: "ABORTED" });
    await response.body?.cancel();
    await eventually("the connection is closed", () => server.open === 0);
  });

  test("by leaving the loop that reads it", async () => {
    using server = await ByteServer.start(({ socket }) => socket.write(begun));
    const response = await newClient().fetch(server.url, upstreamInit());
    for await (const bytes of response.body ?? []) {
      expect(bytes.length).toBeGreaterThan(0);
      break;
    }
    await eventually("the connection is closed", () => server.open === 0);
  });

  test("but not if it was complete", async () => {
    using server = await ByteServer.start(({ socket }) => socket.write(reply("done")));
    const client = newClient();
    for (const _ of [1, 2]) {
      const response = await client.fetch(server.url, upstreamInit());
      await response.body?.cancel();
      expect(await response.text()).toBe("");
    }
    expect(server.opened).toBe(1);
  });
});

test("no request leaves a listener at its signal", async () => {
  class CountingCancellation extends Cancellation {
    listeners = new Set<CancelListener>();
    override addEventListener(type: "abort", listener: CancelListener): void {
      this.listeners.add(listener);
      super.addEventListener(type, listener);
    }
    override removeEventListener(type: "abort", listener: CancelListener): void {
      this.listeners.delete(listener);
      super.removeEventListener(type, listener);
    }
  }
  using server = await ByteServer.start(({ socket, number }) => {
    const responses = [reply("done"), `${HEAD}content-length: 9\r\n\r\n`, "nonsense\r\n\r\n", ""];
    const response = responses[number % 4] ?? "";
    if (response === "") socket.destroy();
    else socket.write(response);
  });
  const client = newClient();
  const signal = new CountingCancellation();
  const init = upstreamInit({ signal });
  for (let count = 0; count < 1_000; count += 1) {
    await client.fetch(server.url, init).then(
      (response) => response.body?.cancel(),
      () => {},
    );
  }
  expect(server.requests.length).toBeGreaterThanOrEqual(1_000);
  await rejection(client.fetch("http://127.0.0.1:1/", init));
  await rejection(client.fetch("nonsense", init));
  await rejection(client.fetch(server.url, upstreamInit({ signal, headers: { "x y": "" } })));
  expect(signal.listeners.size).toBe(0);
});
