// Tests requests that the HTTP client gives up while their server takes no connection.

import { expect, test } from "bun:test";
import { connect } from "node:net";
import { rejection } from "../../support/api/rejection.ts";
import { eventually } from "../../support/eventually.ts";
import { newClient, upstreamInit } from "../../support/fakes/byte-server.ts";
import { heapBytes } from "../../support/heap-bytes.ts";

/** Listens with the shortest queue of connections that the kernel has, and prints its port. */
const SHORT_QUEUE = `
  const server = require("node:net").createServer();
  server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
    process.stdout.write(String(server.address().port));
  });`;
/** More than the queue takes. */
const QUEUED = 8;
const BODY_BYTES = 2_000_000;
const REQUESTS = 32;

/** Starts a stopped server with a full queue: the kernel drops further connections. */
async function startFullServer() {
  const child = Bun.spawn(["node", "-e", SHORT_QUEUE], { stdout: "pipe" });
  const { value } = await child.stdout.getReader().read();
  const port = Number(Buffer.from(value ?? []).toString());
  child.kill("SIGSTOP");
  const queued = Array.from({ length: QUEUED }, () => connect(port, "127.0.0.1"));
  // The waiting connections are refused at the end.
  for (const socket of queued) socket.on("error", () => {});
  return {
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
      for (const socket of queued) socket.destroy();
    },
  };
}

test("a request that is given up while it connects keeps nothing of its body", async () => {
  await using server = await startFullServer();
  const client = newClient();
  const aborter = new AbortController();
  const bytesBefore = heapBytes();
  const failures = Array.from({ length: REQUESTS }, (_, at) => {
    const body = String(at).padEnd(BODY_BYTES, "x");
    const init = upstreamInit({ method: "POST", body, signal: aborter.signal });
    return rejection(client.fetch(server.url, init));
  });
  const kept = () => heapBytes() - bytesBefore;
  expect(kept()).toBeGreaterThan(REQUESTS * BODY_BYTES);
  aborter.abort(new Error("The caller left"));
  await Promise.all(failures);
  await eventually("the bodies are free", () => kept() < BODY_BYTES);
});
