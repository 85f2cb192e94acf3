// The steps of a call, with a provider that the test plays: a reply is written before it is charged
// (D-541), and the time of waiting for the provider is not ours.

import { expect, test } from "bun:test";
import type { Call } from "../../src/calls/call.ts";
import { ApiError } from "../../src/core/errors.ts";
import { price, subtract, usd } from "../../src/core/money.ts";
import { AbandonedStreams } from "../../src/services/chat/abandoned-streams.ts";
import { completeChat, openChatStream } from "../../src/services/chat/chat.ts";
import type { ChatCall, ChatCallDeps } from "../../src/services/chat/chat-admission.ts";
import { OpenPrompts } from "../../src/services/chat/open-prompts.ts";
import { type SearchCallDeps, searchOnce } from "../../src/services/search/search.ts";
import { toSearchRequest } from "../../src/services/search/search-request.ts";
import type { TestAccount } from "../support/accounts.ts";
import { modelOf } from "../support/chat-routes.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { shared } from "../support/shared.ts";
import { silent } from "../support/silent-log.ts";
import { balances, openAccount, openWorld } from "../support/world.ts";

const world = await shared(openWorld());
const clock = new FakeClock();
const NONE = usd("0");

function callOf(account: TestAccount, requestId: string): Call {
  return {
    requestId,
    identity: { accountId: account.row.id, bucket: account.row.bucket, keyId: account.keyId },
    endpoint: "/v1/test",
    clientIp: "192.0.2.1",
    country: null,
    ipHash: "00",
    arrivedMs: 0,
    signal: new AbortController().signal,
    traceparent: null,
    upstreamFromMs: null,
    upstreamMs: 0,
    rate: null,
  };
}

/** As where a reply is nested too deeply. */
function fail(): never {
  throw new RangeError("It cannot be written");
}

const USAGE = { promptTokens: 1_000, cachedTokens: 0, completionTokens: 1_000 };
const MODEL = modelOf(["one", "a"]);
const CHAT: ChatCall = {
  models: [MODEL],
  request: { messages: [{ role: "user", content: "Hello" }], maxTokens: 100, parameters: {} },
  stream: false,
  offered: new Map([[MODEL.id, MODEL]]),
};
const ANSWER_MS = 700;

const chatDeps = {
  accounts: world.accounts,
  clock,
  log: silent,
  prompts: new OpenPrompts(),
  abandoned: new AbandonedStreams(clock),
  chat: {
    async complete() {
      clock.advance(ANSWER_MS);
      return { choices: [], usage: USAGE, fingerprint: null, lane: "one" };
    },
    async stream() {
      clock.advance(ANSWER_MS);
      throw new ApiError("upstream_unreachable", "It does not answer");
    },
  },
} as unknown as ChatCallDeps;

const RESULT = {
  title: "A page",
  url: "https://example.org/",
  snippet: "",
  date: null,
  lastUpdated: null,
  source: "example.org",
  score: null,
};
const REQUEST = toSearchRequest({ query: "a page" });
const PRICE = price("5", 1_000);

const searchDeps = {
  accounts: world.accounts,
  clock,
  log: silent,
  search: {
    async search() {
      clock.advance(ANSWER_MS);
      return { results: [RESULT], provider: "searxng" };
    },
  },
} as unknown as SearchCallDeps;

const begin = () => "{";

test("a chat whose reply cannot be written costs nothing, and holds nothing", async () => {
  const account = await openAccount(world, { paid: "5", free: "0" });
  const written = await completeChat(chatDeps, callOf(account, "req_written"), CHAT, begin);
  const { charged } = written.settlement;
  expect(charged).toBeGreaterThan(NONE);
  const failing = completeChat(chatDeps, callOf(account, "req_unwritten"), CHAT, fail);
  await expect(failing).rejects.toMatchObject({ code: "internal_error" });
  const { paid, held } = await balances(account);
  expect(paid).toBe(subtract(usd("5"), charged));
  expect(held).toBe(NONE);
});

test("a search whose results cannot be written costs nothing, and holds nothing", async () => {
  const account = await openAccount(world, { paid: "100", contract: "enterprise" });
  const search = (id: string, write: () => string) =>
    searchOnce(searchDeps, callOf(account, id), REQUEST, { pricePerResult: PRICE, write });
  const { charged } = (await search("req_found", begin)).settlement;
  expect(charged).toBeGreaterThan(NONE);
  await expect(search("req_lost", fail)).rejects.toMatchObject({ code: "internal_error" });
  const { paid, held } = await balances(account);
  expect(paid).toBe(subtract(usd("100"), charged));
  expect(held).toBe(NONE);
});

test("the time of waiting for a provider is not ours, also where it does not answer", async () => {
  const account = await openAccount(world, { paid: "100", contract: "enterprise" });
  const [chat, stream, search] = ["req_chat", "req_stream", "req_search"].map((id) =>
    callOf(account, id),
  ) as [Call, Call, Call];
  await completeChat(chatDeps, chat, CHAT, begin);
  const opening = openChatStream(chatDeps, stream, { ...CHAT, stream: true });
  await expect(opening).rejects.toMatchObject({ code: "upstream_unreachable" });
  await searchOnce(searchDeps, search, REQUEST, { pricePerResult: PRICE, write: begin });
  for (const call of [chat, stream, search]) expect(call.upstreamMs).toBe(ANSWER_MS);
});
