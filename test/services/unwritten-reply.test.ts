// A reply is written before it is charged (D-541).

import { expect, test } from "bun:test";
import type { Call } from "../../src/calls/call.ts";
import { price, subtract, usd } from "../../src/core/money.ts";
import { completeChat } from "../../src/services/chat/chat.ts";
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

test("a chat whose reply cannot be written costs nothing, and holds nothing", async () => {
  const account = await openAccount(world, { paid: "5", free: "0" });
  const model = modelOf(["one", "a"]);
  const usage = { promptTokens: 1_000, cachedTokens: 0, completionTokens: 1_000 };
  const deps = {
    accounts: world.accounts,
    clock,
    log: silent,
    prompts: new OpenPrompts(),
    chat: { complete: async () => ({ choices: [], usage, fingerprint: null, lane: "one" }) },
  } as unknown as ChatCallDeps;
  const chat: ChatCall = {
    models: [model],
    request: { messages: [{ role: "user", content: "Hello" }], maxTokens: 100, parameters: {} },
    stream: false,
    offered: new Map([[model.id, model]]),
  };
  const written = await completeChat(deps, callOf(account, "req_written"), chat, () => "{");
  const { charged } = written.settlement;
  expect(charged).toBeGreaterThan(NONE);
  const failing = completeChat(deps, callOf(account, "req_unwritten"), chat, fail);
  await expect(failing).rejects.toMatchObject({ code: "internal_error" });
  const { paid, held } = await balances(account);
  expect(paid).toBe(subtract(usd("5"), charged));
  expect(held).toBe(NONE);
});

test("a search whose results cannot be written costs nothing, and holds nothing", async () => {
  const account = await openAccount(world, { paid: "100", contract: "enterprise" });
  const result = {
    title: "A page",
    url: "https://example.org/",
    snippet: "",
    date: null,
    lastUpdated: null,
    source: "example.org",
    score: null,
  };
  const deps = {
    accounts: world.accounts,
    clock,
    log: silent,
    search: { search: async () => ({ results: [result], provider: "searxng" }) },
  } as unknown as SearchCallDeps;
  const request = toSearchRequest({ query: "a page" });
  const pricePerResult = price("5", 1_000);
  const written = await searchOnce(deps, callOf(account, "req_found"), request, {
    pricePerResult,
    write: () => "{",
  });
  const { charged } = written.settlement;
  expect(charged).toBeGreaterThan(NONE);
  const unwritten = callOf(account, "req_lost");
  const failing = searchOnce(deps, unwritten, request, { pricePerResult, write: fail });
  await expect(failing).rejects.toMatchObject({ code: "internal_error" });
  const { paid, held } = await balances(account);
  expect(paid).toBe(subtract(usd("100"), charged));
  expect(held).toBe(NONE);
});
