// The steps of a call, with a provider that the test plays: a reply is written before it is charged
// (D-541), and the time of waiting for the provider is not ours.

import { expect, test } from "bun:test";
import type { Settlement } from "../../../actors/account.ts";
import type { Call } from "../../../src/calls/call.ts";
import type { Settled } from "../../../src/calls/settling.ts";
import { ApiError } from "../../../src/core/errors.ts";
import { type NanoUsd, price, subtract, toDecimal, usd } from "../../../src/core/money/money.ts";
import type { Paid } from "../../../src/http/svc.ts";
import { AbandonedStreams } from "../../../src/services/chat/abandoned-streams.ts";
import { completeChat, openChatStream } from "../../../src/services/chat/chat.ts";
import type { ChatCall, ChatCallDeps } from "../../../src/services/chat/chat-admission.ts";
import { OpenPrompts } from "../../../src/services/chat/open-prompts.ts";
import { askMaps, type MapsCall, type MapsCallDeps } from "../../../src/services/maps/maps.ts";
import {
  type OneSearch,
  type SearchCallDeps,
  searchBatch,
  searchOnce,
} from "../../../src/services/search/search.ts";
import { toSearchRequest } from "../../../src/services/search/search-request.ts";
import { modelOf } from "../../support/api/chat-routes.ts";
import { FakeClock } from "../../support/fakes/fake-clock.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { shared } from "../../support/shared.ts";
import type { AccountTerms, TestAccount } from "../../support/stores/accounts.ts";
import { balances, openAccount, openWorld } from "../../support/stores/world.ts";

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
    models: null,
    maxCost: null,
    wantsReceipt: false,
    run: null,
    endUser: null,
    markers: null,
    askedModel: undefined,
    ahead: null,
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
  svcMembers: null,
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
  last_updated: null,
  source: "example.org",
  score: null,
  position: 1,
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

const MAPS_CALL: MapsCall<"geocode"> = {
  action: "geocode",
  parameters: { query: "a place" } as MapsCall<"geocode">["parameters"],
  cost: usd("0.002"),
  priceVersion: "1",
};
const maps = { ask: async () => ({ data: {}, provider: "one" }) };
const mapsDeps = { ...searchDeps, maps } as unknown as MapsCallDeps;
const BOUGHT = { paid: "100", contract: "enterprise" } as const;

type Ask = (call: Call, write: () => string) => Promise<Settled<string>>;

/** Each call with a reply, by the balance and limits of its account. */
const CALLS: readonly (readonly [name: string, AccountTerms & { readonly paid: string }, Ask])[] = [
  [
    "a chat",
    { paid: "5", free: "0" },
    (call, write) => completeChat(chatDeps, call, { chat: CHAT, write }),
  ],
  [
    "a search",
    BOUGHT,
    (call, write) =>
      searchOnce(searchDeps, call, { request: REQUEST, pricePerResult: PRICE, write }),
  ],
  [
    "a batch",
    BOUGHT,
    (call, write) => {
      const requests = [REQUEST, REQUEST];
      return searchBatch(searchDeps, call, { requests, pricePerResult: PRICE, write });
    },
  ],
  ["maps", BOUGHT, (call, write) => askMaps(mapsDeps, call, { ...MAPS_CALL, write })],
];

for (const [name, funds, ask] of CALLS) {
  test(`${name}: a reply that cannot be written costs nothing, and holds nothing`, async () => {
    const account = await openAccount(world, funds);
    const id = name.replace(" ", "_");
    const { charged } = await ask(callOf(account, `req_${id}`), begin);
    expect(charged).toBeGreaterThan(NONE);
    const failing = ask(callOf(account, `req_${id}_lost`), fail);
    await expect(failing).rejects.toMatchObject({ code: "internal_error" });
    const { paid, held } = await balances(account);
    expect([paid, held]).toEqual([subtract(usd(funds.paid), charged), NONE]);
  });
}

test("an answer of maps costs its price", async () => {
  const account = await openAccount(world, BOUGHT);
  const call = callOf(account, "req_price");
  const { charged } = await askMaps(mapsDeps, call, { ...MAPS_CALL, write: begin });
  expect(charged).toBe(MAPS_CALL.cost);
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

test("a search reports its charge, even if its hold had ended", async () => {
  const accounts = settledTo(OTHERWISE);
  const call = callOf(await openAccount(world, { paid: "1" }), "req_late");
  const write: OneSearch["write"] = (_, paid) => print(paid);
  const search = { request: REQUEST, pricePerResult: PRICE, write };
  const { reply, charged } = await searchOnce({ ...searchDeps, accounts }, call, search);
  expect(reply).toBe("0.002 0.001");
  expect(charged).toBe(OTHERWISE.charged);
});

test("a chat reports its charge, even if its hold had ended", async () => {
  const call = callOf(await openAccount(world, { paid: "1" }), "req_late_chat");
  const deps = { ...chatDeps, accounts: settledTo(OTHERWISE) };
  const write = (_: unknown, paid: Paid) => print(paid);
  const completion = { chat: CHAT, write, saysWhatIsLeft: false };
  const { reply, charged } = await completeChat(deps, call, completion);
  expect(reply).toBe("0.002 0.001");
  expect(charged).toBe(OTHERWISE.charged);
});

test("a reply that names the balance names it after the settlement", async () => {
  const call = callOf(await openAccount(world, { paid: "1" }), "req_left");
  const deps = { ...chatDeps, accounts: settledTo({}) };
  const write = (_: unknown, { left }: Settlement) => (left === null ? "?" : toDecimal(left));
  const chat = { ...CHAT, svcMembers: () => ({ credits_left_usd: null }) };
  const { reply } = await completeChat(deps, call, { chat, write });
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
  const query = { request: REQUEST, pricePerResult: PRICE, write: begin };
  const searching = searchOnce({ ...searchDeps, search }, call, query);
  await expect(searching).rejects.toMatchObject({ code: "upstream_unreachable" });
  const { paid, held } = await balances(account);
  expect([paid, held]).toEqual([usd("100"), NONE]);
});

test("the time of waiting for a provider is not ours, also where it does not answer", async () => {
  const account = await openAccount(world, { paid: "100", contract: "enterprise" });
  const [chat, stream, search] = ["req_chat", "req_stream", "req_search"].map((id) =>
    callOf(account, id),
  ) as [Call, Call, Call];
  await completeChat(chatDeps, chat, { chat: CHAT, write: begin });
  const opening = openChatStream(chatDeps, stream, { ...CHAT, stream: true });
  await expect(opening).rejects.toMatchObject({ code: "upstream_unreachable" });
  await searchOnce(searchDeps, search, { request: REQUEST, pricePerResult: PRICE, write: begin });
  for (const call of [chat, stream, search]) expect(call.upstreamMs).toBe(ANSWER_MS);
});
