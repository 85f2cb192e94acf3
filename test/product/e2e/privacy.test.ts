// Tests that callers' words and identities are in no store, no log and no queue. Each secret is a
// random word that is then searched for in the raw bytes of everything that the product wrote.

import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { Redis } from "ioredis";
import { freePort } from "../../../scripts/local/processes.mjs";
import { findAccount } from "../../../src/accounts/administration.ts";
import { changeEndUserBudget, endUserNamed } from "../../../src/accounts/end-users.ts";
import { noted } from "../../../src/cli/noted.ts";
import { SCOPES } from "../../../src/core/access/services.ts";
import { usd } from "../../../src/core/money/money.ts";
import { DOORS, type DoorName } from "../../support/api/doors.ts";
import { eventually } from "../../support/eventually.ts";
import { failureReport, mailTo } from "../../support/fakes/failure-report.ts";
import { moderationOf, replyTo } from "../../support/fakes/fake-vectors.ts";
import { ScriptedSmtp } from "../../support/fakes/scripted-smtp.ts";
import { anthropicWire } from "../../support/fakes/wire/anthropic-wire.ts";
import { CHAT_WIRES } from "../../support/fakes/wire/chat-wire.ts";
import { responsesWire } from "../../support/fakes/wire/responses-wire.ts";
import { eventsUpTo, type WireForm } from "../../support/fakes/wire/wire-answer.ts";
import { canary, SECRETS } from "../../support/product/canaries.ts";
import { startProduct } from "../../support/product/product.ts";
import { speakMcp } from "../../support/product/speak-mcp.ts";
import { toldCustomer } from "../../support/product/told-customer.ts";
import { inEachForm, modelFor, WAYS, type Way } from "../../support/product/ways.ts";
import { writtenBy } from "../../support/product/written.ts";
import { shared, sharedServer } from "../../support/shared.ts";

/** The events that the calls of the test give; each could quote its cause. */
const TOLD_TYPES = ["webhook.test", "key.burn_rate", "limit.reached", "mail.bounced"];
/** A word in the address of a webhook, which only Postgres keeps. */
const HOOK = canary("Hook");
/** Documentation addresses, so that no log of a network can have them by chance. */
const CLIENT = `198.51.100.${200 + ((randomBytes(1)[0] ?? 0) % 50)}`;
const REFUSED_CLIENT = "2001:db8:77:4242::99aa";
/** A word that may be kept, to show that the search finds existing words. */
const KEPT = canary("email");

/** Models that search first: for pages, and for what no service finds. */
const SEARCHING = ["searching", "nonsense"];
/** The questions of models that reached a service. */
let modelSearches = 0;

/** The spans that a collector received. */
let spans = "";
const collector = sharedServer(async (request) => {
  spans += await request.text();
  return Response.json({});
});
const upstream = sharedServer(answerUpstream);
const smtp = await shared(ScriptedSmtp.start());
const bouncePort = await freePort();
const product = await shared(
  startProduct({
    apis: 1,
    ownPostgres: true,
    upstreamUrl: `http://127.0.0.1:${upstream.port}/v1`,
    search: {
      tool: {},
      providers: ["brave", "searxng", "exa"].map((kind) => ({
        kind,
        base_url: `http://127.0.0.1:${upstream.port}/${kind}`,
        ...(kind === "searxng" ? {} : { api_key_env: "SEARCH_KEY" }),
      })),
    },
    models: [
      ...inEachForm(["echo", "400", "500", "junk", "cut", ...SEARCHING].map((id) => ({ id }))),
      { id: "vectors", serves: "embedding", mood: "echo" },
      { id: "ranks", serves: "rerank", mood: "echo" },
      { id: "moderator", serves: "moderation", mood: "echo", input: "0", output: "0" },
    ],
    maps: {
      providers: {
        places: { kind: "nominatim", base_url: `http://127.0.0.1:${upstream.port}/maps` },
      },
      actions: { geocode: ["places"], reverse: ["places"] },
    },
    // Redis must not compress its files.
    redisSettings: { rdbcompression: "no", loglevel: "debug" },
    env: {
      TRUSTED_PROXIES: "127.0.0.1",
      LOG_LEVEL: "trace",
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}`,
      OTEL_TRACES_SAMPLER_ARG: "1",
      SEARCH_KEY: SECRETS.searchKey,
      MAIL_DOMAIN: "mail.privacy.test",
      MAIL_SMTP_URL: `${smtp.url}?tls=none`,
      MAIL_WAIT_SECONDS: "5",
      MAIL_BOUNCE_PORT: String(bouncePort),
      WEBHOOK_ALLOW_PRIVATE: "true",
    },
  }),
);
const account = await product.account({
  paid: "50",
  contract: "enterprise",
  email: `${KEPT}@a.org`,
  scopes: ["models", "search", "mail"],
});
const customer = await toldCustomer(product, account, {
  address: HOOK,
  reply: SECRETS.hookReply,
});

/** An upstream that quotes the request, in replies and in errors. */
async function answerUpstream(request: Request): Promise<Response> {
  const asked = await request.text();
  const url = new URL(request.url);
  const { pathname, searchParams } = url;
  if (pathname.startsWith("/maps/")) return answerMaps(url);
  if (!pathname.startsWith("/v1/")) {
    return answerSearch(pathname, `${asked} ${searchParams.get("q") ?? ""}`);
  }
  const { model, stream } = JSON.parse(asked) as { model: string; stream?: boolean };
  const said = `${SECRETS.completion} ${asked}`;
  const message = `${SECRETS.upstreamError} ${asked}`;
  if (/^\d+$/.test(model)) return Response.json({ error: { message } }, { status: Number(model) });
  if (model === "junk") return new Response(message);
  if (pathname === "/v1/moderations") return Response.json({ ...moderationOf({ said }), said });
  const form = FORMS[pathname];
  if (form === undefined) return Response.json({ ...replyTo(JSON.parse(asked)), said });
  const call = SEARCHING.includes(model)
    ? { id: SEARCH_CALL, name: "web_search", input: { query: `${SECRETS.toolQuery} ${model}` } }
    : { id: "call_1", name: "look", input: { canary: SECRETS.toolArguments } };
  // The model has read what its search found.
  const calls = asked.includes(SEARCH_CALL) ? [] : [call];
  const usage = { uncached: 9, cacheRead: 0, cacheWrite: 0, output: 9, reasoning: 0 };
  const answer = { text: [said], calls, end: "stop", usage } as const;
  if (stream !== true) return new Response(form.whole(answer).body.join(""), JSON_REPLY);
  const { body, headers } = form.stream(answer);
  const begun = body.slice(0, eventsUpTo(body, SECRETS.completion));
  const sent = model === "cut" ? [...begun, "data: {broken\n\n"] : body;
  return new Response(sent.join(""), { headers: { ...headers } });
}

const SEARCH_CALL = "call_search";
const JSON_REPLY = { headers: { "content-type": "application/json" } };
const FORMS: Readonly<Record<string, WireForm>> = {
  "/v1/chat/completions": CHAT_WIRES.openai,
  "/v1/responses": responsesWire,
  "/v1/responses/compact": responsesWire,
  "/v1/messages": anthropicWire,
};

/** Search services: one is down, one quotes the request, one sends nonsense. */
function answerSearch(path: string, asked: string): Response {
  const title = `${SECRETS.result} ${asked}`;
  if (asked.includes(SECRETS.toolQuery)) modelSearches += 1;
  if (path.startsWith("/brave/")) return Response.json({ error: title }, { status: 500 });
  const isNonsense = path.startsWith("/exa/") || asked.includes("nonsense");
  if (isNonsense) return new Response(`<html>${title}`);
  const url = `https://${SECRETS.resultPage}.example/${asked.length}`;
  return Response.json({ results: [{ title, url, content: title }] });
}

/** A geocoder that answers, refuses and fails with the text of the request. */
function answerMaps({ pathname, search }: URL): Response {
  const said = `${SECRETS.mapsAnswer} ${decodeURIComponent(search)}`;
  if (search.includes("fail")) return Response.json({ error: said }, { status: 500 });
  if (search.includes("refuse")) return Response.json({ error: said }, { status: 400 });
  if (!pathname.endsWith("/search")) return new Response(said);
  const { latitude: lat, longitude: lon } = SECRETS;
  return Response.json([{ lat, lon, display_name: said, name: said, category: "place" }]);
}

async function post(
  body: string | object,
  headers: Record<string, string> = {},
  path = "/v1/chat/completions",
): Promise<number> {
  const reply = await fetch(product.api(0).url + path, {
    method: "POST",
    headers: {
      authorization: `Bearer ${account.key}`,
      "x-forwarded-for": CLIENT,
      "user-agent": SECRETS.header,
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  await reply.text().catch(() => "");
  return reply.status;
}

/** Budgets count the end users that calls name; two of them have a budget of their own. */
const BY_HEADER = { "x-svc-end-user": SECRETS.namedEndUser };
const { administration } = product.operator;
for (const [id, amount] of [
  [null, "40"],
  [SECRETS.namedEndUser, "40"],
  [SECRETS.poorEndUser, "0.000001"],
] as const) {
  const row = await findAccount(administration, account.id);
  await changeEndUserBudget(administration, row, {
    endUser: id === null ? null : endUserNamed(administration, row, id),
    key: null,
    span: "day",
    amount: usd(amount),
    note: (about) => noted(administration, "budget_changed", about),
  });
}

const { system, prompt, toolArguments, toolAnswer, toolSchema, endUser } = SECRETS;
const ASKED = { role: "user", content: prompt };
const CALLED = { name: "look", arguments: JSON.stringify({ canary: toolArguments }) };
const TOOL = { name: "look", description: toolSchema };
const SCHEMA = { type: "object", properties: { canary: { description: toolSchema } } };

/** The same conversation in the form of each door; a text completion has the prompt alone. */
const CONVERSATIONS: Readonly<Record<DoorName, object>> = {
  chat: {
    messages: [
      { role: "system", content: system },
      ASKED,
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "call_1", type: "function", function: CALLED }],
      },
      { role: "tool", tool_call_id: "call_1", content: toolAnswer },
    ],
    tools: [{ type: "function", function: { ...TOOL, parameters: SCHEMA } }],
    safety_identifier: endUser,
  },
  text: { prompt, user: endUser },
  responses: {
    user: endUser,
    instructions: system,
    input: [
      ASKED,
      { type: "function_call", call_id: "call_1", ...CALLED },
      { type: "function_call_output", call_id: "call_1", output: toolAnswer },
    ],
    tools: [{ type: "function", ...TOOL, parameters: SCHEMA }],
  },
  messages: {
    max_tokens: 100,
    metadata: { user_id: endUser },
    system,
    messages: [
      ASKED,
      {
        role: "assistant",
        content: [
          { type: "tool_use", id: "call_1", name: "look", input: { canary: toolArguments } },
        ],
      },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "call_1", content: toolAnswer }],
      },
    ],
    tools: [{ ...TOOL, input_schema: SCHEMA }],
  },
};

function chat(model: string, more: object = {}): object {
  return { model, ...CONVERSATIONS.chat, ...more };
}

async function askMaps(query: string, key = account.key): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, "x-forwarded-for": CLIENT };
  const reply = await fetch(`${product.api(0).url}/v1/maps?${query}`, { headers });
  await reply.arrayBuffer();
  return reply.status;
}

async function speakOfMaps(): Promise<void> {
  const { key } = await product.newKey(account.id, { scopes: ["maps"] });
  const ask = (query: string) => askMaps(query, key);
  const { mapsQuery, mapsAction, mapsValue, mapsName, latitude, longitude } = SECRETS;
  const site = `lat=${latitude}&lon=${longitude}`;
  for (const action of ["geocode", "poi"]) {
    const served = action === "geocode" ? `query=${mapsQuery}` : `${site}&category=airport`;
    expect(await ask(`action=${action}&${served}`)).toBe(200);
  }
  expect(await ask(`action=geocode&query=${mapsQuery}+fail`)).toBe(502);
  expect(await ask(`action=geocode&query=${mapsQuery}+refuse`)).toBeGreaterThanOrEqual(400);
  expect(await ask(`action=place_at&${site}`)).toBe(200);
  expect(await ask(`action=site_image&${site}`)).toBe(200);
  expect(await ask(`action=reverse&${site}`)).toBe(502);
  expect(await ask(`action=reverse&${site}1e5`)).toBe(400);
  expect(await ask(`action=reverse&lat=${mapsValue}&lon=${longitude}`)).toBe(400);
  expect(await ask(`action=reverse&${site}&${mapsName}=1`)).toBe(400);
  expect(await ask(`action=${mapsAction}&${site}`)).toBe(400);
  expect(await ask(`action=departures&stop_id=${SECRETS.mapsStop}`)).toBe(503);
  expect(await askMaps(`action=geocode&query=${mapsQuery}`)).toBe(403);
}

/** Calls the tools of agents, each with a secret in one argument after the other. */
async function speakByTools(): Promise<void> {
  const { key } = await product.newKey(account.id, { scopes: SCOPES });
  const headers = { "x-forwarded-for": CLIENT, "user-agent": SECRETS.header };
  const speaker = { url: product.api(0).url, key, word: SECRETS.mcp, headers };
  const ends = await speakMcp(speaker);
  for (const served of SERVED_ARGUMENTS) expect([served, ends.get(served)]).toEqual([served, null]);
  const refused = [...ends.values()].filter((code) => code === "invalid_parameter");
  expect(refused.length).toBeGreaterThan(20);
}

/** The arguments that take any text. */
const SERVED_ARGUMENTS = [
  "search query",
  "search_batch searches",
  "maps_geocode query",
  "send_mail to",
  "send_mail subject",
  "send_mail text",
  "send_mail html",
  "send_mail from_name",
  "send_mail reply_to",
  "send_mail idempotency_key",
  "quote body",
];

/** Makes calls that are served, refused and that fail, each with its secrets. */
async function speak(): Promise<void> {
  await speakOfMaps();
  await speakByTools();
  for (const way of WAYS) await speakAt(way);
  await speakOfVectors();
  await speakWithSearch();
  await speakBesideDoors();
  await quoteCalls();
  await repeatCalls();
  await readReceipts();
  expect(await post(chat("echo"), { "x-svc-end-user": SECRETS.poorEndUser })).toBe(402);
  expect(await post(chat(SECRETS.unknownModel))).toBe(404);
  expect(await post(chat("echo"), {}, `/v1/${SECRETS.path}`)).toBe(404);
  expect(await post(chat("echo"), {}, `/v1/chat/completions?q=${SECRETS.query}`)).toBe(200);
  await search();
  const authorization = `Bearer svc_live_${SECRETS.wrongKey}`;
  expect(await post(chat("echo"), { authorization })).toBe(401);
  const narrow = await product.newKey(account.id, { ip: ["192.0.2.1"] });
  const other = { authorization: `Bearer ${narrow.key}`, "x-forwarded-for": REFUSED_CLIENT };
  expect(await post(chat("echo"), other)).toBe(403);
}

/** Makes calls of chat models at one door. */
async function speakAt(way: Way): Promise<void> {
  const { path } = DOORS[way.door];
  const send = (id: string, more: object = {}) =>
    post({ model: modelFor(way, id), ...CONVERSATIONS[way.door], ...more }, {}, path);
  for (const stream of [false, true]) {
    expect(await send("echo", { stream })).toBe(200);
    expect(await send("400", { stream })).toBe(400);
    expect(await send("500", { stream })).toBe(502);
    expect(await send("junk", { stream })).toBe(502);
  }
  expect(await send("cut", { stream: true })).toBe(200);
  const { badField } = SECRETS;
  expect(await post(`{"model": "${SECRETS.badJson}`, {}, path)).toBe(400);
  expect(await send("echo", { temperature: badField })).toBe(400);
  expect(await send("echo", { [badField]: badField })).toBeDefined();
  const broken = {
    messages: [{ role: badField }],
    input: [{ type: badField }],
    prompt: [badField, 1],
  };
  expect(await send("echo", broken)).toBe(400);
}

/** Asks models that search by our own tool, and sends a search of an earlier turn back. */
async function speakWithSearch(): Promise<void> {
  const path = "/v1/responses";
  const { toolQuery, toolPage, toolCity, toolKey, resultPage, badField } = SECRETS;
  const tool = {
    type: "web_search",
    filters: { allowed_domains: [`${resultPage}.example`] },
    user_location: { type: "approximate", country: "CH", city: toolCity },
    [badField]: badField,
  };
  const earlier = {
    type: "web_search_call",
    action: { type: "search", query: toolQuery },
    results: [{ title: toolPage, url: `https://${toolPage}.example`, snippet: toolPage }],
  };
  const body = { ...CONVERSATIONS.responses, input: [ASKED, earlier, ASKED], tools: [tool] };
  const include = ["web_search_call.action.sources"];
  for (const form of [null, "responses"] as const) {
    for (const id of [...SEARCHING, "500", "junk"]) {
      for (const stream of [false, true]) {
        const asked = { ...body, model: modelFor({ form }, id), include, stream };
        const headers = { "idempotency-key": `${toolKey}-${asked.model}-${stream}` };
        const status = await post(asked, headers, path);
        expect([id, status]).toEqual([id, SEARCHING.includes(id) ? 200 : 502]);
      }
    }
  }
  expect(modelSearches).toBeGreaterThanOrEqual(SEARCHING.length * 4);
  const broken = { ...body, model: "searching", tools: [{ ...tool, filters: badField }] };
  expect(await post(broken, {}, path)).toBe(400);
}

async function speakOfVectors(): Promise<void> {
  const texts = { model: "vectors", input: [prompt, toolAnswer], user: endUser };
  expect(await post(texts, {}, "/v1/embeddings")).toBe(200);
  expect(await post({ ...texts, dimensions: SECRETS.badField }, {}, "/v1/embeddings")).toBe(400);
  const ranked = { model: "ranks", query: prompt, documents: [toolAnswer] };
  expect(await post(ranked, {}, "/v1/rerank")).toBe(200);
  expect(await post({ ...ranked, documents: SECRETS.badField }, {}, "/v1/rerank")).toBe(400);
}

/** Asks the endpoints beside the doors for text: counts, a compaction and a moderation. */
async function speakBesideDoors(): Promise<void> {
  const { badField } = SECRETS;
  const { responses, messages } = CONVERSATIONS;
  const form = "responses";
  for (const [path, id, asked, broken] of [
    ["/v1/responses/input_tokens", "echo", responses, { input: [{ type: badField }] }],
    ["/v1/messages/count_tokens", "echo", messages, { messages: [{ role: badField }] }],
    [
      "/v1/responses/compact",
      modelFor({ form }, "echo"),
      responses,
      { input: [{ type: badField }] },
    ],
    ["/v1/moderations", "moderator", { input: prompt }, { input: { [badField]: badField } }],
  ] as const) {
    const body = { model: id, ...asked, [badField]: badField };
    expect([path, await post(body, {}, path)]).toEqual([path, 200]);
    expect([path, await post({ ...body, ...broken }, {}, path)]).toEqual([path, 400]);
    expect(await post({ ...body, model: SECRETS.unknownModel }, {}, path)).toBe(404);
  }
  for (const [id, status] of [
    ["400", 400],
    ["500", 502],
    ["junk", 502],
  ] as const) {
    const body = { model: modelFor({ form }, id), ...responses };
    expect(await post(body, {}, "/v1/responses/compact")).toBe(status);
  }
}

/** Quotes calls that would be served, and calls that would be refused for their content. */
async function quoteCalls(): Promise<void> {
  const { quoted, quotedField, quotedPath, quotedQuery, unknownModel } = SECRETS;
  const quote = (path: string, body: object) => post({ path, body }, {}, "/v1/quote");
  const messages = [{ role: "user", content: quoted }];
  const path = "/v1/chat/completions";
  expect(await quote(path, { model: "echo", messages, user: endUser })).toBe(200);
  expect(await quote(path, { model: "echo", messages, temperature: quotedField })).toBe(400);
  expect(await quote(path, { model: unknownModel, messages })).toBe(404);
  expect(await quote("/v1/search", { query: quotedQuery })).toBe(200);
  expect(await quote(`/v1/${quotedPath}`, { query: quotedQuery })).toBe(400);
}

/** Repeats calls by their keys: one whose answer is kept, one that was streamed, one changed. */
async function repeatCalls(): Promise<void> {
  const { chatKey, streamKey, repeated } = SECRETS;
  const body = chat("echo", { messages: [{ role: "user", content: repeated }] });
  const keyed = (key: string) => ({ "idempotency-key": key });
  for (const _ of [1, 2]) expect(await post(body, keyed(chatKey))).toBe(200);
  expect(await post(chat("echo"), keyed(chatKey))).toBe(422);
  expect(await post({ ...body, stream: true }, keyed(streamKey))).toBe(200);
  expect(await post({ ...body, stream: true }, keyed(streamKey))).toBe(409);
}

/** Gets receipts of calls with secrets: within their replies, and later. */
async function readReceipts(): Promise<void> {
  const { url } = product.api(0);
  const headers = { authorization: `Bearer ${account.key}`, "x-svc-receipt": "inline" };
  for (const stream of [false, true]) {
    const body = JSON.stringify(chat("echo", { stream }));
    const reply = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body });
    expect(await reply.text()).toContain('"receipt":"ey');
  }
  const failed = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers,
    body: JSON.stringify(chat("500")),
  });
  const path = `/v1/receipts/${failed.headers.get("x-request-id")}`;
  await eventually("a receipt is issued", async () => {
    const { status } = await fetch(url + path, { headers });
    return status === 200;
  });
}

async function search(): Promise<void> {
  const one = { query: SECRETS.search, include_domains: [`${SECRETS.resultPage}.example`] };
  const domains = { exclude_domains: [`${SECRETS.searchDomain}.example`] };
  const bad = { ...one, country: SECRETS.searchField };
  expect(await post(one, BY_HEADER, "/v1/search")).toBe(200);
  expect(await post({ query: `${SECRETS.search} nonsense` }, {}, "/v1/search")).toBe(502);
  expect(await post(bad, {}, "/v1/search")).toBe(400);
  expect(await post(`{"query": "${SECRETS.search}`, {}, "/v1/search")).toBe(400);
  const batch = [one, { ...one, ...domains }, { query: `${SECRETS.search} nonsense` }];
  expect(await post(batch, {}, "/v1/search/batch")).toBe(200);
  expect(await post([one, bad], {}, "/v1/search/batch")).toBe(400);
  expect(await post(Array(101).fill(one), {}, "/v1/search/batch")).toBe(400);
}

/**
 * Sends messages that are accepted, refused and put off by a server that quotes their recipients.
 */
async function sendMail(): Promise<void> {
  const to = `${SECRETS.mailAddress}@example.test`;
  const message = {
    to,
    subject: SECRETS.mailSubject,
    text: SECRETS.mailText,
    html: `<p>${SECRETS.mailHtml}`,
    from_name: SECRETS.mailName,
    reply_to: `${SECRETS.mailReply}@example.test`,
  };
  const path = "/v1/mail/send";
  expect(await post(message, { "idempotency-key": SECRETS.mailKey }, path)).toBe(200);
  expect(await post(message, { "idempotency-key": SECRETS.mailKey }, path)).toBe(200);
  const returnPath = smtp.accepted.find((one) => one.to.includes(to))?.from ?? "";
  const mail = failureReport("failed", to);
  expect(await mailTo(bouncePort, returnPath, { mail })).toBe(250);
  expect(await post({ ...message, to: [to, SECRETS.mailAddress] }, {}, path)).toBe(400);
  expect(await post({ ...message, bcc: to }, {}, path)).toBe(400);
  const refuse = (code: number) => () => ({ code, text: `<${to}> ${SECRETS.mailAddress}` });
  smtp.script = { to: refuse(550) };
  expect(await post(message, {}, path)).toBe(422);
  smtp.script = { data: refuse(451) };
  expect(await post(message, {}, path)).toBe(202);
  // One message that waits, and one whose content is lost, so that it fails.
  expect(await post(message, {}, path)).toBe(202);
  const redis = new Redis(product.redis.url);
  const [key] = await redis.keys("content-key:*");
  await redis.del(key ?? "");
  redis.disconnect();
  const { sql } = product.operator.database;
  await sql`UPDATE mail_messages SET next_attempt_at = now() - interval '1 minute'`;
  await eventually(
    "one has failed",
    async () => {
      const [row] = await sql`SELECT 1 FROM mail_messages WHERE failure = 'unreadable'`;
      return row !== undefined;
    },
    40_000,
  );
}

/** Makes calls while Redis dies: the log lines then contain the failed command. */
async function speakThroughOutage(): Promise<void> {
  const calls = Array.from({ length: 10 }, () => post(chat("echo")));
  await product.redis.kill9();
  expect(await post(chat("echo"))).toBe(503);
  await Promise.all(calls);
  await product.redis.start();
  await eventually("calls are served again", async () => (await post(chat("echo"))) === 200);
}

/** The words that must be nowhere. */
function secretWords(): Readonly<Record<string, string>> {
  const key = account.key.slice("svc_live_".length);
  const [hook = "", hookAway = ""] = customer.secrets.map((one) => one.slice("whsec_".length, -4));
  return { ...SECRETS, key, keyStart: key.slice(0, 16), hook, hookAway, CLIENT, REFUSED_CLIENT };
}

test("no word of a caller, and no key or address, is kept anywhere", async () => {
  await speak();
  await sendMail();
  await customer.told(TOLD_TYPES);
  await speakThroughOutage();
  await eventually("all calls are in the log", async () => {
    await product.operator.flush();
    const [row] = await product.operator.database
      .sql`SELECT count(*)::int AS rows FROM request_log`;
    return row?.rows >= 23;
  });
  // A row shows that a budget has counted an end user, so that a digest was stored.
  const { sql } = product.operator.database;
  expect(await sql`SELECT FROM end_user_counts`).not.toHaveLength(0);
  expect((await sql`SELECT FROM receipts`).length).toBeGreaterThanOrEqual(3);
  const files = await writtenBy(product);
  await eventually("the collector has spans", () => spans.includes("/v1/maps"));
  files.push(["spans", Buffer.from(spans)]);
  const told = customer.got().join("\n");
  files.push(["events of webhooks", Buffer.from(told)]);

  const findAll = (word: string) => files.filter(([, bytes]) => bytes.includes(word));
  expect(findAll(KEPT).length).toBeGreaterThanOrEqual(3);
  for (const { path } of Object.values(DOORS)) {
    expect(findAll(path).length).toBeGreaterThanOrEqual(3);
  }
  expect(findAll("/v1/search/batch").length).toBeGreaterThanOrEqual(3);
  expect(findAll("/mcp").length).toBeGreaterThanOrEqual(3);
  expect(told).not.toContain(KEPT);
  expect(files.some(([path]) => path.endsWith(".rdb"))).toBe(true);
  const beyondPostgres = findAll(HOOK).filter(([path]) => !path.startsWith(product.postgres.dir));
  expect(beyondPostgres.map(([path]) => path)).toEqual(["tables"]);
  const found = Object.entries(secretWords()).flatMap(([name, word]) =>
    [word, Buffer.from(word).toString("base64").slice(0, -4), Buffer.from(word).toString("hex")]
      .flatMap(findAll)
      .map(([path]) => `${name} in ${path}`),
  );
  expect(found).toEqual([]);
  const bytes = files.reduce((sum, [, { length }]) => sum + length, 0);
  console.log(`${files.length} files, ${(bytes / 1e6).toFixed(0)} MB searched`);
});
