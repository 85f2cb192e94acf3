// Tests the HTTP client over TLS, and as a part of a program. A process reads trusted certificates
// when it starts, so separate processes send the requests.

import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { HttpClient } from "../../../src/upstream/http/http-client.ts";
import { rejection } from "../../support/api/rejection.ts";
import { eventLoopTurns, eventually } from "../../support/eventually.ts";
import { ByteServer, newClient, reply, upstreamInit } from "../../support/fakes/byte-server.ts";
import { makeCertificates } from "../../support/fakes/certificates.ts";
import { runHttpProgram } from "../../support/product/http-program.ts";
import { atEnd, sharedFolder } from "../../support/shared.ts";

const certificates = makeCertificates(sharedFolder("tls"));
const TRUST = { NODE_EXTRA_CA_CERTS: certificates.ca };
const hashOf = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");

/** Answers with the number of the connection, the host, and the body of a request. */
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  tls: { cert: Bun.file(certificates.cert), key: Bun.file(certificates.key) },
  maxRequestBodySize: 100_000_000,
  async fetch(request, self): Promise<Response> {
    const body = await request.bytes();
    return Response.json({
      port: self.requestIP(request)?.port,
      host: request.headers.get("host"),
      hash: hashOf(body),
    });
  },
});
atEnd(() => server.stop(true));
const URL_BY_ADDRESS = `https://127.0.0.1:${server.port}/`;
const URL_BY_NAME = `https://localhost:${server.port}/`;

describe("TLS", () => {
  test("a connection is used by one request after the other, after a large one too", async () => {
    const [first, second, third] = await runHttpProgram(
      [
        { url: URL_BY_ADDRESS, bodyLength: 20_000_000 },
        { url: URL_BY_ADDRESS },
        { url: URL_BY_ADDRESS },
      ],
      TRUST,
    );
    const one = answered(second);
    expect(one).toMatchObject({ host: `127.0.0.1:${server.port}`, hash: hashOf("") });
    expect(answered(first)).toEqual({ ...one, hash: hashOf("ü".repeat(10_000_000)) });
    expect(answered(third)).toEqual(one);
  });

  test("a certificate of an unknown authority is refused", async () => {
    const sent = newClient().fetch(URL_BY_ADDRESS, upstreamInit());
    expect(await rejection(sent)).toMatchObject({
      name: "HttpError",
      code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    });
  });

  test("a certificate for another name is refused", async () => {
    const refused = { code: "ERR_TLS_CERT_ALTNAME_INVALID" };
    const requests = [
      { url: URL_BY_NAME },
      { url: URL_BY_ADDRESS, serverName: "example.com" },
      { url: URL_BY_ADDRESS, serverName: "127.0.0.2" },
    ];
    expect(await runHttpProgram(requests, TRUST)).toEqual([refused, refused, refused]);
  });

  test("a certificate is checked against the name that the request gives", async () => {
    const [outcome] = await runHttpProgram([{ url: URL_BY_NAME, serverName: "127.0.0.1" }], TRUST);
    expect(answered(outcome)).toMatchObject({ host: `localhost:${server.port}` });
  });

  test.each([
    ["closes", "end"],
    ["resets", "resetAndDestroy"],
  ] as const)("a server that %s the connection in the handshake is a failure", async (_, close) => {
    using rude = await ByteServer.startRaw((socket) => {
      socket.once("data", () => socket[close]());
    });
    const sent = newClient().fetch(`https://127.0.0.1:${rude.port}/`, upstreamInit());
    expect(await rejection(sent)).toMatchObject({ name: "HttpError", code: "ECONNRESET" });
    expect(rude.opened).toBe(1);
  });

  test("a server that answers without TLS is a failure", async () => {
    using plain = await ByteServer.startRaw((socket) => {
      socket.once("data", () => socket.write(reply("done")));
    });
    const sent = newClient().fetch(`https://127.0.0.1:${plain.port}/`, upstreamInit());
    expect(await rejection(sent)).toMatchObject({ name: "HttpError", code: "EPROTO" });
    await eventually("the connection is closed", () => plain.open === 0);
  });

  test.each([
    ["whole with a length", "content-length: 4\r\n", { status: 200, text: "done" }],
    ["broken off without one: anybody can have ended it", "", { code: "ECONNRESET" }],
  ])("a body that ends with the connection is %s", async (_, header, outcome) => {
    using cutting = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      tls: { cert: Bun.file(certificates.cert), key: Bun.file(certificates.key) },
      socket: { data: (socket) => void socket.end(`HTTP/1.1 200 OK\r\n${header}\r\ndone`) },
    });
    const url = `https://127.0.0.1:${cutting.port}/`;
    expect(await runHttpProgram([{ url }], TRUST)).toEqual([outcome]);
  });

  test("a handshake that takes too long is given up, and nothing was sent", async () => {
    using silent = await ByteServer.startRaw((socket) => void socket.resume());
    const client = new HttpClient({ monotonicMs: () => performance.now(), connectMs: 50 });
    const url = `https://127.0.0.1:${silent.port}/`;
    expect(await rejection(client.fetch(url, upstreamInit()))).toMatchObject({
      code: "ETIMEDOUT",
      isUnsent: true,
    });
    await eventually("the connection is closed", () => silent.open === 0);
  });

  test("a request is sent once although its server asks for another handshake", async () => {
    const port = await freePort();
    const { cert, key } = certificates;
    const command = ["openssl", "s_server", "-accept", String(port), "-cert", cert, "-key", key];
    await using openssl = Bun.spawn([...command, "-tls1_2"], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "ignore",
    });
    let output = "";
    const reading = (async () => {
      for await (const bytes of openssl.stdout) output += Buffer.from(bytes).toString();
    })();
    await eventually("it listens", () => output.includes("ACCEPT"));
    const request = { url: `https://127.0.0.1:${port}/`, bodyLength: 2 };
    const outcome = runHttpProgram([request], TRUST);
    await eventually("the request is there", () => output.includes("POST /"));
    openssl.stdin.write("R\n");
    await openssl.stdin.flush();
    await eventually("the handshake was repeated", () => output.includes("SSL_do_handshake -> 1"));
    await eventLoopTurns(1_000);
    openssl.stdin.write("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 4\r\n\r\ndone\n");
    await openssl.stdin.flush();
    expect(await outcome).toEqual([{ status: 200, text: "done" }]);
    openssl.kill();
    await reading;
    expect(output.split("POST /").length - 1).toBe(1);
  });
});

describe("a program", () => {
  test("is not kept running by an idle connection", async () => {
    using plain = await ByteServer.start(({ socket }) => socket.write(reply("done")));
    expect(await runHttpProgram([{ url: plain.url }])).toEqual([{ status: 200, text: "done" }]);
    await eventually("the connection is closed", () => plain.open === 0);
  });

  test("waits for a response on a connection that was idle", async () => {
    using plain = await ByteServer.start(async ({ socket, turn }) => {
      if (turn > 1) await eventLoopTurns(20_000);
      socket.write(reply(`reply ${turn}`));
    });
    expect(await runHttpProgram([{ url: plain.url }, { url: plain.url }])).toEqual([
      { status: 200, text: "reply 1" },
      { status: 200, text: "reply 2" },
    ]);
    expect(plain.opened).toBe(1);
  });
});

function answered(outcome: Awaited<ReturnType<typeof runHttpProgram>>[number] | undefined): object {
  if (outcome === undefined || !("text" in outcome)) throw new Error("No response came");
  return JSON.parse(outcome.text);
}

async function freePort(): Promise<number> {
  using probe = await ByteServer.startRaw(() => {});
  return probe.port;
}
