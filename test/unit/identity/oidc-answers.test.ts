// Tests a provider of single sign-on that breaks off, hangs or answers without an end: it counts as
// away, and costs neither memory nor time.

import { beforeEach, expect, test } from "bun:test";
import { OidcClient } from "../../../src/identity/providers/oidc-client.ts";
import { eventually } from "../../support/eventually.ts";
import { sharedServer } from "../../support/shared.ts";

const SECRETS = { state: "a state", nonce: "a nonce", verifier: "v".repeat(43) };
const RETURNED = new URL(`http://127.0.0.1/dashboard/sso?code=a&state=${SECRETS.state}`);
const PIECE = Buffer.alloc(64 * 1024, " ");

/** The answer of its token endpoint. */
let answer: () => Response;
/** The address of the token endpoint in its metadata; null: at this server. */
let tokenEndpoint: string | null;
let sent = 0;
let isLeft = false;

const provider = sharedServer((request) => {
  const { origin, pathname } = new URL(request.url);
  if (pathname === "/token") return answer();
  return Response.json({
    issuer: origin,
    authorization_endpoint: `${origin}/page`,
    jwks_uri: `${origin}/keys`,
    token_endpoint: tokenEndpoint ?? `${origin}/token`,
  });
});

beforeEach(() => {
  tokenEndpoint = null;
});

/** The name and the message of the error that ends a sign-in. */
async function finish(answerMs?: number): Promise<string> {
  const issuer = `http://127.0.0.1:${provider.port}/`;
  const config = { issuer, clientId: "farebox", clientSecret: "a secret" };
  const client = new OidcClient(config, Date.now, answerMs);
  return await client.finish(RETURNED, SECRETS).then(
    () => "no error",
    (error: Error) => `${error.name}: ${error.message}`,
  );
}

test("a provider that refuses the connection is away", async () => {
  tokenEndpoint = "http://127.0.0.1:1/token";
  expect(await finish()).toStartWith("OidcUnavailable: ");
});

test("a provider whose answer breaks off is away", async () => {
  using server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket) {
        socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n");
        socket.end("content-length: 100\r\n\r\n{");
      },
    },
  });
  tokenEndpoint = `http://127.0.0.1:${server.port}/token`;
  expect(await finish()).toStartWith("OidcUnavailable: ");
});

test("a provider whose answer does not end in time is away", async () => {
  answer = () => pieces(1);
  expect(await finish(300)).toStartWith("OidcUnavailable: ");
});

test("an answer without an end is given up after a megabyte", async () => {
  answer = () => pieces(Number.POSITIVE_INFINITY);
  expect(await finish()).toBe("OidcUnavailable: the answer is larger than 1 MiB");
  await eventually("the provider sees that nobody reads", () => isLeft);
  expect(sent).toBeLessThan(64 * 1024 * 1024);
});

/** A JSON body of this many pieces, which never ends. */
function pieces(count: number): Response {
  sent = 0;
  isLeft = false;
  const body = new ReadableStream({
    async pull(controller) {
      if (sent >= count * PIECE.length) await new Promise(() => {});
      sent += PIECE.length;
      controller.enqueue(PIECE);
    },
    cancel() {
      isLeft = true;
    },
  });
  return new Response(body, { headers: { "content-type": "application/json" } });
}
