// Tests that spans of calls reach a collector by OTLP over HTTP, with the call's metadata and never
// its content.

import { beforeEach, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { SeldomLog } from "../../../../src/core/log.ts";
import {
  type CallTracerOptions,
  type OpenCallTracer,
  openCallTracer,
} from "../../../../src/http/telemetry/call-tracer.ts";
import { openTracer } from "../../../../src/http/telemetry/open-tracer.ts";
import { loadServerConfig } from "../../../../src/settings/config.ts";
import { chatBody } from "../../../support/api/api-world.ts";
import { MODEL } from "../../../support/api/models.ts";
import { sharedApi } from "../../../support/api/shared-api.ts";
import { FakeClock, realClock } from "../../../support/fakes/fake-clock.ts";
import { LANE, USAGE } from "../../../support/fakes/scripted-chat.ts";
import { silent } from "../../../support/fakes/silent-log.ts";
import { sharedServer } from "../../../support/shared.ts";
import { daysAgo, type TestAccount } from "../../../support/stores/accounts.ts";

interface Span {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
}

const SERVER = 2;
const CLIENT = 3;
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = "00f067aa0ba902b7";

/** The requests that the collector received. */
const received: { readonly headers: Headers; readonly text: string }[] = [];
let account: TestAccount;
/** Each test opens its own tracer, because closing it sends its spans. */
let tracer: OpenCallTracer;

let answer: () => Response;
/** The last refused call that was traced. */
let refused: Parameters<OpenCallTracer["refused"]>;

const collector = sharedServer(async (request) => {
  if (new URL(request.url).pathname !== "/v1/traces") return new Response("", { status: 404 });
  received.push({ headers: request.headers, text: await request.text() });
  return answer();
});
const api = await sharedApi({
  tracer: {
    contextOf: (headers) => tracer.contextOf(headers),
    admitted: (...args) => tracer.admitted(...args),
    refused(...args) {
      refused = args;
      tracer.refused(...args);
    },
    ended: (...args) => tracer.ended(...args),
  },
});
beforeEach(async () => {
  received.length = 0;
  answer = () => Response.json({});
  account = await api.account({ paid: "5", paidAt: daysAgo(10), scopes: ["models", "search"] });
});

function opened(more: Partial<CallTracerOptions> = {}): void {
  tracer = openCallTracer({
    url: `http://127.0.0.1:${collector.port}/v1/traces`,
    headers: { "x-team": "fares" },
    followsCallers: true,
    ratio: 1,
    serviceName: "farebox-test",
    version: "1.2.3",
    clock: realClock,
    log: silent,
    ...more,
  });
}

/** Closes the tracer, and returns all its spans. */
async function spans(): Promise<Span[]> {
  await tracer.close();
  return received.flatMap(({ text }) =>
    JSON.parse(text).resourceSpans.flatMap((one: { scopeSpans: { spans: Span[] }[] }) =>
      one.scopeSpans.flatMap((scope) => scope.spans),
    ),
  );
}

function attributesOf(span: Span | undefined): Record<string, unknown> {
  return Object.fromEntries(
    (span?.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]]),
  );
}

test("a call has a span of ours, below it one of the provider, in the caller's trace", async () => {
  opened();
  const headers = { traceparent: `00-${TRACE}-${PARENT}-01` };
  const response = await api.post(account, chatBody({}), { headers });
  await response.text();
  const [server, client, ...others] = (await spans()).sort((a, b) => a.kind - b.kind);
  expect(others).toEqual([]);
  expect(server).toMatchObject({
    name: "/v1/chat/completions",
    kind: SERVER,
    traceId: TRACE,
    parentSpanId: PARENT,
  });
  expect(attributesOf(server)).toMatchObject({
    "http.route": "/v1/chat/completions",
    "farebox.service": "models",
    "farebox.request_id": response.headers.get("x-request-id"),
    "farebox.cost_usd": Number(response.headers.get("x-svc-cost-usd")),
  });
  expect(client).toMatchObject({
    name: `chat ${MODEL.id}`,
    kind: CLIENT,
    traceId: TRACE,
    parentSpanId: server?.spanId,
  });
  expect(attributesOf(client)).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": LANE,
    "gen_ai.request.model": MODEL.id,
    "gen_ai.usage.input_tokens": expect.anything(),
  });
  const [start = 0n, end = 0n] = [server?.startTimeUnixNano, server?.endTimeUnixNano].map((text) =>
    BigInt(text ?? 0),
  );
  expect(end).toBeGreaterThanOrEqual(start);
  expect(Math.abs(Number(start / 1_000_000n) - Date.now())).toBeLessThan(60_000);
  const [{ headers: sent, text }] = received as [(typeof received)[number]];
  expect([sent.get("x-team"), text.includes("farebox-test")]).toEqual(["fares", true]);
});

test("a stream's span has its tokens and the time to its first one", async () => {
  opened();
  await (await api.post(account, chatBody({ stream: true }))).text();
  const client = (await spans()).find(({ kind }) => kind === CLIENT);
  expect(attributesOf(client)).toMatchObject({
    "gen_ai.usage.output_tokens": USAGE.completionTokens,
    "gen_ai.response.time_to_first_chunk": expect.any(Number),
  });
});

test("no span has any part of a prompt, an answer or a search", async () => {
  opened();
  const secret = "the marmalade is in the attic";
  const messages = [{ role: "user", content: secret }];
  await (await api.post(account, chatBody({ messages }))).text();
  await (await api.post(account, chatBody({ messages, stream: true }))).text();
  await (await api.postTo("/v1/search", account, { query: secret })).text();
  const made = await spans();
  expect(made.filter(({ kind }) => kind === SERVER).length).toBe(3);
  const text = received.map((one) => one.text).join("");
  expect(text).not.toMatch(/marmalade|attic|Hello/);
  for (const hidden of [account.key, account.id, account.keyId, "127.0.0.1"]) {
    expect(text).not.toContain(hidden);
  }
});

test("a refused call has a span with its code, and no span of a provider", async () => {
  opened();
  const narrow = await api.account({ scopes: ["search"] });
  expect((await api.post(narrow, chatBody({}))).status).toBe(403);
  const made = await spans();
  expect(made.map(({ kind }) => kind)).toEqual([SERVER]);
  expect(attributesOf(made[0])).toMatchObject({ "farebox.refusal": "insufficient_scope" });
});

test("the caller's trace decides, unless callers must not decide", async () => {
  const call = async (flags: string) => {
    const headers = { traceparent: `00-${TRACE}-${PARENT}-${flags}` };
    await (await api.post(account, chatBody({}), { headers })).text();
  };
  opened({ ratio: 1 });
  await call("00");
  expect(await spans()).toEqual([]);
  opened({ ratio: 0 });
  await call("01");
  expect((await spans()).length).toBe(2);
  received.length = 0;
  opened({ ratio: 0, followsCallers: false });
  await call("01");
  expect(await spans()).toEqual([]);
});

test("an invalid traceparent begins a new trace", async () => {
  opened();
  const headers = { traceparent: "00-xyz" };
  await (await api.post(account, chatBody({}), { headers })).text();
  const [one] = await spans();
  expect([one?.traceId.length, one?.parentSpanId ?? ""]).toEqual([32, expect.any(String)]);
  expect(one?.traceId).not.toBe(TRACE);
});

test("a collector that is away does not affect any call", async () => {
  tracer = openCallTracer({
    url: "http://127.0.0.1:1/v1/traces",
    headers: {},
    followsCallers: true,
    ratio: 1,
    serviceName: "x",
    version: "1",
    clock: realClock,
    log: silent,
  });
  const response = await api.post(account, chatBody({}));
  expect(response.status).toBe(200);
  await response.text();
  await tracer.close();
});

/** More spans than are sent in one batch. */
const SPANS = 2_000;

test("a collector that refuses spans keeps no process from its end, and fills no log", async () => {
  const logged: string[] = [];
  const warn = (fields: object) => logged.push(inspect(fields));
  opened({ log: new SeldomLog({ ...silent, warn }, new FakeClock()) });
  answer = () => new Response("the marmalade".repeat(10_000), { status: 413 });
  const narrow = await api.account({ scopes: ["search"] });
  expect((await api.post(narrow, chatBody({}))).status).toBe(403);
  for (let span = 1; span < SPANS; span += 1) tracer.refused(...refused);
  await tracer.close();
  expect(received.length).toBeGreaterThan(1);
  const [line = "", ...others] = logged;
  expect(others).toEqual([]);
  expect(line).toContain("413");
  expect(line).not.toContain("marmalade");
});

test("a collector that asks for patience is reported in words", async () => {
  const logged: object[] = [];
  opened({ log: { warn: (fields) => logged.push(fields) } });
  answer = () => new Response("", { status: 503, headers: { "retry-after": "3600" } });
  await (await api.post(account, chatBody({}))).text();
  await tracer.close();
  const reason = "spans were not taken: Export failed with retryable status";
  expect(logged).toEqual([{ reason }]);
});

test("the log has no password and no token of the collector's address", async () => {
  const { traces } = loadServerConfig(0, {
    ...SETTINGS,
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://fares:marmalade@127.0.0.1:4318/attic/",
  });
  const logged: object[] = [];
  const log = { info: (fields: object) => logged.push(fields), warn: () => {} };
  await (await openTracer(traces, { version: "1", clock: realClock, log }))?.close();
  expect(logged).toEqual([{ collector: "127.0.0.1:4318", ratio: 0.01 }]);
});

const SETTINGS = {
  REDIS_URL: "redis://127.0.0.1:1",
  DATABASE_URL: "postgres://127.0.0.1:1/none",
  KEY_PEPPER: "a pepper of sixteen",
  IP_HASH_SECRET: "a secret of sixteen",
};

test("traces are off without an endpoint, and the settings have OpenTelemetry's names", () => {
  expect(loadServerConfig(0, SETTINGS).traces).toBeNull();
  const env = {
    ...SETTINGS,
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318/",
    OTEL_EXPORTER_OTLP_HEADERS: "Authorization=Basic%20abc, x-team=a",
  };
  expect(loadServerConfig(0, env).traces).toEqual({
    url: "http://collector:4318/v1/traces",
    ratio: 0.01,
    followsCallers: true,
    headers: { authorization: "Basic abc", "x-team": "a" },
    serviceName: "farebox",
  });
  const wrong = (more: object) => () => loadServerConfig(0, { ...env, ...more });
  expect(wrong({ OTEL_TRACES_SAMPLER_ARG: "2" })).toThrow("OTEL_TRACES_SAMPLER_ARG");
  expect(wrong({ OTEL_TRACES_SAMPLER: "always_on" })).toThrow("OTEL_TRACES_SAMPLER");
  expect(wrong({ OTEL_EXPORTER_OTLP_HEADERS: "secret" })).toThrow(/^OTEL_EXPORTER_OTLP_HEADERS/);
});

test("only the tracer loads the packages, and only a process with traces loads it", () => {
  const project = join(import.meta.dir, "../../../..");
  const files = ["src", "workers", "actors"].flatMap((folder) =>
    readdirSync(join(project, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => join(folder, name)),
  );
  const having = (pattern: RegExp) =>
    files.filter((path) => pattern.test(readFileSync(join(project, path), "utf8")));
  expect(having(/from "@opentelemetry\//)).toEqual(["src/http/telemetry/call-tracer.ts"]);
  expect(having(/^import (?!type).*call-tracer\.ts"/m)).toEqual([]);
  expect(having(/await import\(".*call-tracer\.ts"\)/)).toEqual([
    "src/http/telemetry/open-tracer.ts",
  ]);
});
