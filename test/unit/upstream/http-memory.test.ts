// Tests which parts of a request the HTTP client keeps in memory while its server works on it.

import { expect, test } from "bun:test";
import { exchange } from "../../../src/upstream/upstream-http.ts";
import { rejection } from "../../support/api/rejection.ts";
import { eventually } from "../../support/eventually.ts";
import { ByteServer, newClient } from "../../support/fakes/byte-server.ts";
import { heapBytes } from "../../support/heap-bytes.ts";

const BODY_BYTES = 2_000_000;
const REQUESTS = 16;

test("a request that its server has received keeps nothing of its body", async () => {
  let received = 0;
  using server = await ByteServer.startRaw((socket) => {
    socket.on("data", ({ length }) => {
      received += length;
    });
  });
  const { fetch } = newClient();
  const caller = new AbortController();
  const bytesBefore = heapBytes();
  const failures = Array.from({ length: REQUESTS }, (_, at) => {
    const body = String(at).padEnd(BODY_BYTES, "x");
    const request = { fetch, url: server.url, method: "POST", headers: {}, body } as const;
    return rejection(
      exchange({ ...request, signal: caller.signal }, (response) => response.text()),
    );
  });
  await eventually("the server has them", () => received > REQUESTS * BODY_BYTES);
  await eventually("the bodies are free", () => heapBytes() - bytesBefore < BODY_BYTES);
  const left = new Error("The caller left");
  caller.abort(left);
  expect(await Promise.all(failures)).toEqual(Array(REQUESTS).fill(left));
});
