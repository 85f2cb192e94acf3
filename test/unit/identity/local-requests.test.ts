// Tests that a request from this machine's address counts as local only if it was not forwarded.

import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { mailsShown } from "../../../src/console/people/open-people.ts";
import { isForwarded } from "../../../src/http/local-request.ts";
import { UntrustedProxies } from "../../../src/store/servers/untrusted-proxies.ts";
import { ApiWorld } from "../../support/api/api-world.ts";
import { servicesOf } from "../../support/api/console-world.ts";
import { eventually } from "../../support/eventually.ts";
import { identityOf } from "../../support/product/identity-of.ts";
import { shared } from "../../support/shared.ts";
import { tokenIn } from "./people-lab.ts";

interface Body {
  readonly development?: { readonly link?: string; readonly code?: string };
}

const PASSWORD = "a good long password";

const api = await shared(
  ApiWorld.start((stores) => {
    const identity = identityOf(stores, { showsMailsTo: mailsShown(true) });
    const proxies = new UntrustedProxies(stores.database, Date.now);
    const log = { warn: (fields: object, message: string) => warned.push({ fields, message }) };
    return {
      console: { ...servicesOf(stores), people: identity, identity },
      onUntrustedProxy: (address) => proxies.report(address, log),
    };
  }),
);
const warned: { readonly fields: object; readonly message: string }[] = [];
const { port, stores } = api.parts;

let people = 0;
const newEmail = () => `local${++people}@example.com`;

async function post(path: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      // A client that is not a browser can send any headers here.
      origin: `http://${headers.host ?? `127.0.0.1:${port}`}`,
      ...headers,
    },
    body: JSON.stringify(body),
  });
  const cookie = response.headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ");
  return { status: response.status, body: (await response.json()) as Body, cookie };
}

const askForAccount = (headers: Record<string, string>) =>
  post(
    "/console/auth/sign-up/email",
    { email: newEmail(), name: "A", password: PASSWORD },
    headers,
  );

/**
 * A person and their cookies, who signed up on this machine or through a proxy that adds the
 * headers.
 */
async function signUp(headers: Record<string, string> = {}) {
  const email = newEmail();
  const path = "/console/auth/email-otp/send-verification-otp";
  const asked = await post(path, { email });
  const otp = asked.body.development?.code;
  const signed = await post("/console/auth/sign-in/email-otp", { email, otp }, headers);
  expect(signed.status).toBe(200);
  return { email, cookie: signed.cookie };
}

/** The server's answer to these bytes. */
function answerTo(request: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect(port, "127.0.0.1", () => void socket.write(request));
  let answer = "";
  socket.on("data", (piece) => {
    answer += String(piece);
    if (answer.includes("}")) socket.destroy();
  });
  socket.on("error", reject);
  socket.on("close", () => resolve(answer));
  return promise;
}

/** Headers of proxies, tunnels and content networks, and names that lead here from elsewhere. */
const HANDED_ON: readonly (readonly [string, Record<string, string>])[] = [
  ["X-Forwarded-For", { "x-forwarded-for": "203.0.113.7" }],
  ["X-Forwarded-For of this machine", { "x-forwarded-for": "127.0.0.1" }],
  ["an empty X-Forwarded-For", { "x-forwarded-for": "" }],
  ["X-Forwarded-Host", { "x-forwarded-host": "console.example" }],
  ["X-Forwarded-Proto", { "x-forwarded-proto": "https" }],
  ["Forwarded", { forwarded: "for=203.0.113.7" }],
  ["X-Real-IP", { "x-real-ip": "203.0.113.7" }],
  ["Via", { via: "1.1 proxy" }],
  ["X-Client-IP", { "x-client-ip": "203.0.113.7" }],
  ["True-Client-IP", { "true-client-ip": "203.0.113.7" }],
  ["CF-Connecting-IP", { "cf-connecting-ip": "203.0.113.7" }],
  ["X-Original-Host", { "x-original-host": "console.example" }],
  ["X-Envoy-External-Address", { "x-envoy-external-address": "203.0.113.7" }],
  ["the connection of a proxy that adds no header", { connection: "close" }],
];

/** Other names of the same headers: each product has its own. */
const HEADERS_OF_PROXIES = [
  "X-Forwarded",
  "Forwarded-For",
  "X-Forward-For",
  "X-Vercel-Forwarded-For",
  "X-True-Client-IP",
  "Incap-Client-IP",
  "X-Azure-ClientIP",
  "X-Sucuri-ClientIP",
  "Ali-CDN-Real-IP",
  "Cdn-Src-Ip",
  "DO-Connecting-IP",
  "X-Originating-IP",
  "X-Appengine-User-IP",
  "Proxy-Client-IP",
  "WL-Proxy-Client-IP",
  "X-NginX-Proxy",
  "Proxy-Connection",
  "X-Via",
  "CDN-Loop",
  "CF-Ray",
  "Fly-Region",
  "CloudFront-Viewer-Address",
  "X-Amz-Cf-Id",
  "X-Varnish",
  "Akamai-Origin-Hop",
  "Tailscale-User-Login",
  "Ngrok-Trace-Id",
  "X-Railway-Edge",
  "X-ARR-LOG-ID",
  "Front-End-Https",
  "X-Cloud-Trace-Context",
  "X-Host",
  "X-Scheme",
  "X-Request-Start",
];

const HEADERS_OF_BROWSERS = [
  "Accept-Language",
  "Authorization",
  "Cookie",
  "DNT",
  "If-None-Match",
  "Referer",
  "Sec-CH-UA-Platform",
  "Sec-Fetch-Site",
  "Sec-GPC",
  "Upgrade-Insecure-Requests",
];

test("a header of any proxy shows that a request was forwarded; a browser's headers do not", () => {
  const isSeen = (name: string) => isForwarded(new Headers({ [name]: "" }));
  expect(HEADERS_OF_PROXIES.filter((name) => !isSeen(name))).toEqual([]);
  expect(HEADERS_OF_BROWSERS.filter(isSeen)).toEqual([]);
});

test.each([
  ["HTTP/1.0", "Connection: close\r\n"],
  ["HTTP/1.1", ""],
])(
  "a proxy whose connection says %s %j gets nothing of development",
  async (version, connection) => {
    const body = JSON.stringify({ email: newEmail() });
    const answer = await answerTo(
      `POST /console/auth/email-otp/send-verification-otp ${version}\r\n` +
        `Host: 127.0.0.1:${port}\r\nOrigin: http://127.0.0.1:${port}\r\n${connection}` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    expect(answer).toContain("200 OK");
    expect(answer).not.toContain("development");
  },
);

const FOREIGN_HOSTS = [
  "console.example",
  "127.0.0.1.evil.example",
  "203.0.113.7",
  "localhost.",
  "",
];

describe("mailed codes and links are in answers", () => {
  test("to a request of this machine", async () => {
    const { status, body } = await askForAccount({});
    expect(status).toBe(200);
    expect(tokenIn(body.development?.link ?? "")).not.toBeNull();
  });

  test.each(HANDED_ON)("but not with %s", async (_, headers) => {
    const { status, body } = await askForAccount(headers);
    expect([status, body.development]).toEqual([200, undefined]);
  });

  test.each(FOREIGN_HOSTS)("but not for the host %j, whose pages are not ours", async (host) => {
    const { body } = await askForAccount({ host });
    expect(body.development).toBeUndefined();
  });

  test("on no path to a forwarded request", async () => {
    const handedOn = { "x-forwarded-for": "203.0.113.7" };
    const { email, cookie } = await signUp();
    const me = await fetch(`http://127.0.0.1:${port}/console/api/me`, { headers: { cookie } });
    const { accounts } = (await me.json()) as { readonly accounts: { readonly id: string }[] };
    const asks: readonly (readonly [string, object])[] = [
      ["/console/auth/email-otp/send-verification-otp", { email }],
      ["/console/api/me/email", { email: newEmail() }],
      [
        `/console/api/accounts/${accounts[0]?.id}/invitations`,
        { email: newEmail(), role: "viewer" },
      ],
    ];
    for (const [path, body] of asks) {
      const here = await post(path, body, { cookie });
      expect([path, here.status, "development" in here.body]).toEqual([path, 200, true]);
      const there = await post(path, { ...body, email: newEmail() }, { cookie, ...handedOn });
      expect([path, there.status, "development" in there.body]).toEqual([path, 200, false]);
    }
  });
});

async function freeCreditOf(email: string): Promise<boolean> {
  const [row] = await stores.database.sql`
    SELECT count(*)::int AS granted FROM sign_up_grants
    WHERE account IN (SELECT account FROM memberships JOIN people ON people.id = person
      WHERE people.email = ${email})`;
  return row?.granted > 0;
}

test("people behind an untrusted proxy are one network for free credit", async () => {
  for (let at = 0; at < 2; at += 1) expect(await freeCreditOf((await signUp()).email)).toBe(true);
  const through = { "x-forwarded-for": "203.0.113.8" };
  expect(await freeCreditOf((await signUp(through)).email)).toBe(true);
  const again = { "x-forwarded-for": "198.51.100.9" };
  expect(await freeCreditOf((await signUp(again)).email)).toBe(false);
});

test("a proxy that TRUSTED_PROXIES does not name is reported once", async () => {
  await fetch(`http://127.0.0.1:${port}/v1/models`, { headers: { "x-forwarded-for": "1.2.3.4" } });
  expect(warned).toHaveLength(1);
  expect(warned[0]).toMatchObject({ fields: { address: "127.0.0.1" } });
  expect(warned[0]?.message).toContain("not in TRUSTED_PROXIES");
  const proxies = new UntrustedProxies(stores.database, Date.now);
  await eventually("it is remembered", async () => {
    return (await proxies.warnings(() => false)).length > 0;
  });
  expect((await proxies.warnings(() => false)).join()).toContain("TRUSTED_PROXIES=127.0.0.1");
  expect(await proxies.warnings((address) => address === "127.0.0.1")).toEqual([]);
});
