// Tests requests as raw bytes, not through a client library: bodies that lie, invalid hosts, and
// proxies.

import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { CHAT } from "../../../src/core/access/limits.ts";
import { BODY_BYTES_AT_ONCE } from "../../../src/http/body/body-shares.ts";
import { chatBody, until } from "../../support/api/api-world.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { FakeClock } from "../../support/fakes/fake-clock.ts";

const clock = new FakeClock();
const api = await sharedApi({ clock, trustedProxies: ["127.0.0.0/8", "10.0.0.0/8"] });
const account = await api.account({ contract: "enterprise", free: "5" });

interface Answer {
  readonly status: number;
  readonly body: string;
}

interface Talk {
  /** Waits until the service hangs up, and not only for its whole answer. */
  readonly untilClosed?: boolean;
}

const BODY = JSON.stringify(chatBody());

function head(lines: readonly string[], host = "Host: x", caller = account): string {
  const key = `Authorization: Bearer ${caller.key}`;
  const all = ["POST /v1/chat/completions HTTP/1.1", host, key, ...lines].filter(
    (line) => line !== "",
  );
  return `${all.join("\r\n")}\r\n\r\n`;
}

/** Writes bytes and reads the answer. */
function talk(bytes: string, { untilClosed = false }: Talk = {}): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const socket = connect(api.parts.port, "127.0.0.1");
  let text = "";
  const finish = () => {
    socket.destroy();
    const { status, body } = answerIn(text);
    resolve({ status, body });
  };
  socket.on("connect", () => socket.write(bytes));
  socket.on("data", (data) => {
    text += data.toString("latin1");
    if (!untilClosed && answerIn(text).isWhole) finish();
  });
  socket.on("close", finish);
  socket.on("error", (error) => (text === "" ? reject(error) : finish()));
  return promise;
}

function answerIn(text: string) {
  const answer = text.replace("HTTP/1.1 100 Continue\r\n\r\n", "");
  const end = answer.indexOf("\r\n\r\n");
  const body = end < 0 ? "" : answer.slice(end + 4);
  const length = /\r\ncontent-length: (\d+)/i.exec(answer)?.[1];
  const isWhole = end >= 0 && length !== undefined && body.length >= Number(length);
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]), body, isWhole };
}

function statusesIn(text: string): readonly number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
}

describe("a body over the limit", () => {
  const tooLarge = "x".repeat(5 * CHAT.bodyBytesMax);
  const chunk = `${tooLarge.length.toString(16)}\r\n${tooLarge}\r\n0\r\n\r\n`;

  test("that declares its length is refused with a JSON body before any of it came", async () => {
    const answer = await talk(head(["Content-Length: 200000000"]));
    expect(answer.status).toBe(413);
    expect(JSON.parse(answer.body).error.code).toBe("body_too_large");
  });

  for (const [form, request] of [
    ["declares its length", head([`Content-Length: ${tooLarge.length}`]) + tooLarge],
    ["does not", head(["Transfer-Encoding: chunked"]) + chunk],
  ] as const) {
    test(`that ${form} is refused even if the client reads only after all of it`, async () => {
      const socket = connect(api.parts.port, "127.0.0.1");
      socket.pause();
      const sent = Promise.withResolvers<void>();
      socket.on("error", sent.reject);
      socket.write(request, () => sent.resolve());
      await sent.promise;
      // The connection serves the next call.
      socket.write(`${head([`Content-Length: ${BODY.length}`])}${BODY}`);
      let text = "";
      socket.on("data", (data) => {
        text += data.toString("latin1");
      });
      socket.resume();
      await until(() => statusesIn(text).length === 2, "both calls were answered");
      expect(statusesIn(text)).toEqual([413, 200]);
      socket.destroy();
    });
  }
});

describe("a body that does not arrive", () => {
  for (const lines of [
    ["Content-Length: 100"],
    ["Transfer-Encoding: chunked"],
    ["Expect: 100-continue", "Content-Length: 100"],
  ]) {
    test(`is given up after 10 seconds, without a hold: ${lines.join(", ")}`, async () => {
      const answer = talk(head(lines), { untilClosed: true });
      await until(() => clock.pending > 0, "the body was waited for");
      clock.advance(10_000);
      expect((await answer).status).toBe(400);
      expect((await answer).body).toContain("invalid_json");
      expect(api.openCalls).toBe(0);
    });
  }
});

test("unarrived bodies of one account keep no other account out, and end", async () => {
  const bytes = CHAT.bodyBytesMax;
  const declared = `Content-Length: ${bytes}`;
  const room = BODY_BYTES_AT_ONCE / bytes;
  const slow = Array.from({ length: room }, () => talk(head([declared])));
  await until(() => clock.pending === room, "all bodies were waited for");
  const one = `${head([`Content-Length: ${BODY.length}`])}${BODY}`;
  const more = await talk(one);
  expect([more.status, JSON.parse(more.body).error.code]).toEqual([429, "rate_limit_exceeded"]);
  const chunked = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;
  const undeclared = `${head(["Transfer-Encoding: chunked"])}${chunked}`;
  expect((await talk(undeclared)).status).toBe(429);
  const other = await api.account({ contract: "enterprise", free: "5" });
  const theirs = head([`Content-Length: ${BODY.length}`], "Host: x", other);
  expect((await talk(`${theirs}${BODY}`)).status).toBe(200);
  clock.advance(10_000);
  expect((await Promise.all(slow)).map(({ status }) => status)).toEqual(Array(room).fill(400));
  expect((await talk(one)).status).toBe(200);
  expect((await talk(undeclared)).status).toBe(200);
});

describe("a malformed or disguised request", () => {
  test("is refused when it is compressed or a form", async () => {
    for (const lines of [
      ["Content-Encoding: gzip", "Content-Length: 2", "", "{}"],
      ["Content-Type: application/x-www-form-urlencoded", "Content-Length: 16"],
    ]) {
      const answer = await talk(head(lines.slice(0, 2)) + (lines[3] ?? "__proto__[a]=1&b"));
      expect([answer.status, JSON.parse(answer.body).error.code]).toEqual([400, "invalid_json"]);
    }
  });

  test("is refused with two Authorization lines", async () => {
    const second = `Authorization: Bearer ${account.key}`;
    const answer = await talk(`${head([second, `Content-Length: ${BODY.length}`])}${BODY}`);
    expect([answer.status, JSON.parse(answer.body).error.code]).toEqual([401, "invalid_api_key"]);
  });

  test("is refused, and is no fault of ours, with an invalid Host", async () => {
    for (const host of [
      "Host: a/../..?x#",
      "Host: [bad",
      "Host: a b",
      "Host: a\r\nHost: b/c",
      "Host: ",
    ]) {
      const answer = await talk(`${head([`Content-Length: ${BODY.length}`], host)}${BODY}`);
      expect([host, answer.status]).toEqual([host, 400]);
    }
    for (const host of ["Host: [::1]:80", "Host: api.x.test:8080", "Host: 127.0.0.1"]) {
      const answer = await talk(`${head([`Content-Length: ${BODY.length}`], host)}${BODY}`);
      expect([host, answer.status]).toEqual([host, 200]);
    }
  });

  test("is refused for its Host even if that hides the path from the router", async () => {
    for (const path of [
      "/v1/models/a/b",
      "/api/v1/models/a/b",
      "/v1/me/../models",
      "/v1/nowhere",
    ]) {
      const answer = await talk(`GET ${path} HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n`);
      const { code, message } = JSON.parse(answer.body).error;
      expect([path, answer.status, code]).toEqual([path, 400, "invalid_parameter"]);
      expect(message).toContain("Host");
    }
  });

  test("is refused for its Host at pages and documentation, but not at probes", async () => {
    const ask = (path: string) =>
      talk(`GET ${path} HTTP/1.1\r\nHost: \r\nConnection: close\r\n\r\n`);
    // The router reads a path of these from the twelfth character on.
    for (const path of [
      "/dashboard/keys",
      "/docs/a/b/openapi.json",
      "/nothing-at/dashboard/keys",
      "/nothing-at/docs",
      "/docs",
    ]) {
      const { status, body } = await ask(path);
      expect([path, status, JSON.parse(body).error.message]).toEqual([
        path,
        400,
        "The header Host must name one host",
      ]);
    }
    for (const path of ["/healthz", "/readyz"]) {
      expect([path, (await ask(path)).status]).toEqual([path, 200]);
      const old = await talk(`GET ${path} HTTP/1.0\r\n\r\n`);
      expect([path, old.status]).toEqual([path, 200]);
    }
  });

  test("is refused without a Host, even where HTTP/1.0 needs none", async () => {
    const answer = await talk("GET /v1/models HTTP/1.0\r\n\r\n");
    expect(answer.status).toBe(400);
  });

  test("reaches no other route by a path in disguise", async () => {
    for (const path of ["/v1/%6dodels", "//v1/models", "/v1/models/", "/V1/models"]) {
      const answer = await talk(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      expect([path, answer.status]).toEqual([path, 404]);
      expect(JSON.parse(answer.body).error.code).toBe("not_found");
    }
  });
});

describe("the address of a caller", () => {
  const from = async (forwarded: readonly string[]) => {
    const limited = await api.account({ ip: ["198.51.100.0/24"] });
    const lines = forwarded.map((value) => `X-Forwarded-For: ${value}`);
    const request = head([...lines, `Content-Length: ${BODY.length}`]);
    return (await talk(request.replace(account.key, limited.key) + BODY)).status;
  };

  test("is the address in the trusted proxy's header", async () => {
    expect(await from(["198.51.100.7"])).toBe(200);
    expect(await from(["203.0.113.1"])).toBe(403);
  });

  test("is never an address that the client wrote left of that", async () => {
    expect(await from(["198.51.100.7, 203.0.113.1"])).toBe(403);
    expect(await from(["198.51.100.7", "203.0.113.1, 10.0.0.9"])).toBe(403);
    expect(await from([])).toBe(403);
  });
});
