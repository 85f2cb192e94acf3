// Tests how a stopping process closes its connections.

import { expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { Drain } from "../../../src/http/drain.ts";
import { type BunServer, LISTEN_OPTIONS } from "../../../src/http/server.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fakes/fake-clock.ts";
import { silent } from "../../support/fakes/silent-log.ts";

const BODY_BYTES = 8_000_000;
const PIECE = "y".repeat(16_000);
/** The kernel gives a connection to the server when its first bytes arrive. */
const BEGUN = "GET /plain HTTP/1.1\r\nHost: x\r\n";

function serve(): BunServer {
  return Bun.serve({
    ...LISTEN_OPTIONS,
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) => new Response(url.endsWith("/plain") ? "x".repeat(BODY_BYTES) : streamed()),
  });
}

function streamed(): ReadableStream {
  let left = BODY_BYTES / PIECE.length;
  return new ReadableStream(
    {
      pull(controller) {
        controller.enqueue(PIECE);
        left -= 1;
        if (left === 0) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

/** Opens a connection on which the server has received these bytes. */
async function opened(server: BunServer, bytes: string): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = connect(server.port ?? 0, "127.0.0.1", () => {
    socket.write(bytes, () => resolve(socket));
  });
  socket.on("error", reject);
  await promise;
  // An answer on a later connection shows that the server has read the bytes.
  await (await fetch(new URL("/plain", server.url))).text();
  return socket;
}

/** Begins to stop a server; `pass` advances the clock. */
function beginStop(server: BunServer) {
  const clock = new FakeClock();
  const warnings: string[] = [];
  const over = new Drain().run({
    server,
    noticeMs: 0,
    callsMs: 60_000,
    interrupt: () => {},
    log: { ...silent, warn: (_, message) => void warnings.push(message) },
    sleep: (ms) => new Promise((resolve) => clock.after(ms, resolve)),
  });
  return { over, warnings, pass: (ms: number) => clock.advance(ms) };
}

/** The length of the body in a partial answer; the lengths of chunks are not part of it. */
function bodyLength(answer: string): number {
  const body = answer.slice(answer.indexOf("\r\n\r\n"));
  return [...body.matchAll(/[xy]+/g)].reduce((sum, [run]) => sum + run.length, 0);
}

test("a connection without a request does not delay the stop, and is no call", async () => {
  const server = serve();
  const unused = await opened(server, BEGUN);
  const { over, warnings, pass } = beginStop(server);
  pass(1_000);
  await over;
  expect(warnings).toEqual([]);
  unused.destroy();
});

test("a request that was on its way when the stop began is answered", async () => {
  const server = serve();
  const socket = await opened(server, BEGUN);
  let answer = "";
  socket.on("data", (data) => {
    answer += data.toString("latin1");
  });
  const { over, pass } = beginStop(server);
  socket.write("\r\n");
  await eventually("it is answered whole", () => bodyLength(answer) === BODY_BYTES);
  pass(1_000);
  await over;
});

for (const path of ["/plain", "/stream"]) {
  test(`a client that reads slowly gets its whole answer: ${path}`, async () => {
    const server = serve();
    const unused = await opened(server, BEGUN);
    const socket = await opened(server, `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const { over, warnings, pass } = beginStop(server);
    let answer = "";
    socket.on("data", (data) => {
      answer += data.toString("latin1");
      socket.pause();
      pass(100);
      setImmediate(() => socket.resume());
    });
    await eventually("all of it came", () => bodyLength(answer) === BODY_BYTES);
    pass(1_000);
    await over;
    expect(warnings).toEqual([]);
    unused.destroy();
  });
}
