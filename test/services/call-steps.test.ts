// The steps of a call, with a provider that the test plays: a reply is written before it is charged
// (D-541), and the time of waiting for the provider is not ours.

import { expect, test } from "bun:test";
import type { Settlement } from "../../actors/account.ts";
import type { Call } from "../../src/calls/call.ts";
import { ApiError } from "../../src/core/errors.ts";
import { type NanoUsd, price, subtract, toDecimal, usd } from "../../src/core/money.ts";
import type { Paid } from "../../src/http/svc.ts";
import { AbandonedStreams } from "../../src/services/chat/abandoned-streams.ts";
import { completeChat, openChatStream } from "../../src/services/chat/chat.ts";
import type { ChatCall, ChatCallDeps } from "../../src/services/chat/chat-admission.ts";
import { OpenPrompts } from "../../src/services/chat/open-prompts.ts";
import { askMaps, type MapsCall, type MapsCallDeps } from "../../src/services/maps/maps.ts";
import {
  type OneSearch,
  type SearchCallDeps,
  searchBatch,
  searchOnce,
} from "../../src/services/search/search.ts";
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
  const chat = (id: string, write: () => string) =>
    completeChat(chatDeps, callOf(account, id), CHAT, { write, saysWhatIsLeft: false });
  const { charged } = await chat("req_written", begin);
  expect(charged).toBeGreaterThan(NONE);
  await expect(chat("req_unwritten", fail)).rejects.toMatchObject({ code: "internal_error" });
  const { paid, held } = await balances(account);
  expect(paid).toBe(subtract(usd("5"), charged));
  expect(held).toBe(NONE);
});

test("a search whose results cannot be written costs nothing, and holds nothing", async () => {
  const account = await openAccount(world, { paid: "100", contract: "enterprise" });
  const search = (id: string, write: () => string) =>
    searchOnce(searchDeps, callOf(account, id), REQUEST, { pricePerResult: PRICE, write });
  const { charged } = await search("req_found", begin);
  expect(charged).toBeGreaterThan(NONE);
  await expect(search("req_lost", fail)).rejects.toMatchObject({ code: "internal_error" });
  const { paid, held } = await balances(account);
  expect(paid).toBe(subtract(usd("100"), charged));
  expect(held).toBe(NONE);
});

test("a batch whose results cannot be written costs nothing, and holds nothing", async () => {
  const account = await openAccount(world, { paid: "100", contract: "enterprise" });
  const batch = (id: string, write: () => string) => {
    const requests = [REQUEST, REQUEST];
    const options = { requests, pricePerResult: PRICE, write };
    return searchBatch(searchDeps, callOf(account, id), options);
  };
  const { charged } = await batch("req_batch", begin);
  expect(charged).toBeGreaterThan(NONE);
  await expect(batch("req_batch_lost", fail)).rejects.toMatchObject({ code: "internal_error" });
  const { paid, held } = await balances(account);
  expect([paid, held]).toEqual([subtract(usd("100"), charged), NONE]);
});

test("an answer of maps that cannot be written costs nothing, and holds nothing", async () => {
  const account = await openAccount(world, { paid: "100", contract: "enterprise" });
  const maps = { ask: async () => ({ data: {}, provider: "one" }) };
  const deps = { ...searchDeps, maps } as unknown as MapsCallDeps;
  const asked = { action: "geocode", cost: usd("0.002"), priceVersion: "1" };
  const ask = (id: string, write: () => string) =>
    askMaps(deps, callOf(account, id), asked as MapsCall<"geocode">, write);
  const { charged } = await ask("req_map", begin);
  expect(charged).toBe(asked.cost);
  await expect(ask("req_map_lost", fail)).rejects.toMatchObject({ code: "internal_error" });
  const { paid, held } = await balances(account);
  expect([paid, held]).toEqual([subtract(usd("100"), charged), NONE]);
});

/** Accounts whose holds are settled as the test says. */
function settledTo(settled: Partial<Settlement>): SearchCallDeps["accounts"] {
  const hold = {
    free: NONE,
    expected: (charged: NanoUsd) => ({ charged, free: NONE, left: null }),
    settle: async (charged: NanoUsd) => ({ charged, free: NONE, left: usd("7"), ...settled }),
  };
  const admit = async () => ({ verdict: "admitted", hold, rate: null });
  return { of: () => ({ admit }) } as unknown as SearchCallDeps["accounts"];
}

const print = ({ charged, free }: Paid) => `${toDecimal(charged)} ${toDecimal(free)}`;
const OTHERWISE = { charged: usd("0.002"), free: usd("0.001") };

test("a search tells what was charged, also where its hold had ended", async () => {
  const accounts = settledTo(OTHERWISE);
  const call = callOf(await openAccount(world, { paid: "1" }), "req_late");
  const write: OneSearch["write"] = (_, paid) => print(paid);
  const options = { pricePerResult: PRICE, write };
  const { reply, charged } = await searchOnce({ ...searchDeps, accounts }, call, REQUEST, options);
  expect(reply).toBe("0.002 0.001");
  expect(charged).toBe(OTHERWISE.charged);
});

test("a chat tells what was charged, also where its hold had ended", async () => {
  const call = callOf(await openAccount(world, { paid: "1" }), "req_late_chat");
  const deps = { ...chatDeps, accounts: settledTo(OTHERWISE) };
  const writer = { write: (_: unknown, paid: Paid) => print(paid), saysWhatIsLeft: false };
  const { reply, charged } = await completeChat(deps, call, CHAT, writer);
  expect(reply).toBe("0.002 0.001");
  expect(charged).toBe(OTHERWISE.charged);
});

test("a reply that says what is left says it after the settlement", async () => {
  const call = callOf(await openAccount(world, { paid: "1" }), "req_left");
  const deps = { ...chatDeps, accounts: settledTo({}) };
  const write = (_: unknown, { left }: Settlement) => (left === null ? "?" : toDecimal(left));
  const { reply } = await completeChat(deps, call, CHAT, { write, saysWhatIsLeft: true });
  expect(reply).toBe("7");
});

test("a search whose caller left before its results costs nothing, noticed or not", async () => {
  const account = await openAccount(world, { paid: "100", contract: "enterprise" });
  const caller = new AbortController();
  const call = { ...callOf(account, "req_gone"), signal: caller.signal };
  const search = {
    async search() {
      caller.abort();
      return { results: [RESULT], provider: "searxng" };
    },
  } as unknown as SearchCallDeps["search"];
  const options = { pricePerResult: PRICE, write: begin };
  const searching = searchOnce({ ...searchDeps, search }, call, REQUEST, options);
  await expect(searching).rejects.toMatchObject({ code: "upstream_unreachable" });
  const { paid, held } = await balances(account);
  expect([paid, held]).toEqual([usd("100"), NONE]);
});

test("the time of waiting for a provider is not ours, also where it does not answer", async () => {
  const account = await openAccount(world, { paid: "100", contract: "enterprise" });
  const [chat, stream, search] = ["req_chat", "req_stream", "req_search"].map((id) =>
    callOf(account, id),
  ) as [Call, Call, Call];
  await completeChat(chatDeps, chat, CHAT, { write: begin, saysWhatIsLeft: false });
  const opening = openChatStream(chatDeps, stream, { ...CHAT, stream: true });
  await expect(opening).rejects.toMatchObject({ code: "upstream_unreachable" });
  await searchOnce(searchDeps, search, REQUEST, { pricePerResult: PRICE, write: begin });
  for (const call of [chat, stream, search]) expect(call.upstreamMs).toBe(ANSWER_MS);
});
