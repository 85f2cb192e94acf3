// An API whose models can search by `web_search`: servers of models of both forms and a server that
// finds pages, all over sockets.

import { beforeEach, expect } from "bun:test";
import type { Clock } from "../../../src/core/clock.ts";
import { type NanoUsd, usd } from "../../../src/core/money/money.ts";
import { bandPrices } from "../../../src/services/chat/models/catalogue.ts";
import { EMBEDDED_SEARCH, type SearchTool } from "../../../src/services/search/search-catalogue.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { type FakeSearch, startFakeSearch } from "../fakes/fake-search.ts";
import { REPLIES } from "../fakes/search-replies.ts";
import { searchOver, serverAt } from "../fakes/search-servers.ts";
import { CHAT_WIRES } from "../fakes/wire/chat-wire.ts";
import { responsesWire } from "../fakes/wire/responses-wire.ts";
import type { WireAnswer, WireForm } from "../fakes/wire/wire-answer.ts";
import {
  type QueuedReply,
  startWireServer,
  type WireReply,
  type WireServer,
} from "../fakes/wire/wire-server.ts";
import type { Gate } from "../gate.ts";
import { shared } from "../shared.ts";
import type { AccountTerms, TestAccount } from "../stores/accounts.ts";
import { type ApiWorld, until } from "./api-world.ts";
import { chatOver, modelOf, providerAt } from "./chat-routes.ts";
import { eventsOf, type ReadEvent } from "./messages-world.ts";
import type { Received } from "./read-requests.ts";
import { sharedApi } from "./shared-api.ts";

/** The forms in which a server of a model answers. */
export const FORMS = [
  { model: "chat-test", wire: CHAT_WIRES.openai },
  { model: "own-test", wire: responsesWire },
] as const satisfies readonly { readonly model: string; readonly wire: WireForm }[];
/** The models of both forms, each asked for whole and for streamed replies. */
export const WAYS = FORMS.flatMap((form) =>
  [false, true].map((stream) => ({ form, stream, model: form.model })),
);
export const TOOL: SearchTool = { searchesMax: 3, resultsEach: 5 };
/** The cost of a round below: 12 tokens of the prompt at $1 and 6 of the reply at $2 a million. */
export const ROUND_COST = 0.000024;
/** The cost of a search: two results at $0.0005. */
export const SEARCH_COST = 0.001;
/** The most that all searches of a response can cost. */
export const SEARCH_HOLD = 0.0075;

interface PostOptions {
  readonly signal?: AbortSignal;
  readonly headers?: Record<string, string>;
}

export interface SearchToolWorld {
  readonly api: ApiWorld;
  readonly server: WireServer;
  readonly finder: FakeSearch;
  /** An account that pays. */
  payer(terms?: AccountTerms): Promise<TestAccount>;
  post(account: TestAccount, body: object, init?: PostOptions): Promise<Response>;
  /** The account's paid balance after every call was settled; nothing may be held any more. */
  paidOf(account: TestAccount, keyId?: string): Promise<NanoUsd>;
}

/**
 * Its servers are as new before each test. The time of calls is that of `clock`, if there is one.
 */
export async function searchToolWorld(clock?: Clock): Promise<SearchToolWorld> {
  const server = await shared(startWireServer());
  const finder = startFakeSearch("searxng");
  const providers = [
    providerAt(server.url, { name: "chat" }),
    providerAt(server.url, { name: "own", kind: "openai-responses" }),
  ];
  const prices = bandPrices({ input: "1", output: "2" });
  const models = [
    { ...modelOf(["chat", "there"]), id: "chat-test", prices },
    { ...modelOf(["own", "there"]), id: "own-test", prices },
    { ...modelOf(["chat", "there"]), id: "long-test", prices, maxOutputTokens: 90_000 },
    {
      ...modelOf(["chat", "there"]),
      id: "free-test",
      prices: bandPrices({ input: "0", output: "0" }),
    },
  ];
  const catalogue = {
    ...catalogueOf(models, providers),
    search: { ...EMBEDDED_SEARCH, tool: TOOL },
  };
  const { search } = searchOver([serverAt("searxng", finder.baseUrl)]);
  const parts = { catalogue: () => catalogue, chat: chatOver(catalogue), search };
  const api = await sharedApi(clock === undefined ? parts : { ...parts, clock });
  beforeEach(() => {
    server.reset();
    server.requests.length = 0;
    finder.questions.length = 0;
    finder.answer = null;
    finder.mood = "ok";
  });
  const path = "/v1/responses";
  return {
    api,
    server,
    finder,
    payer: (terms) => api.account({ contract: "enterprise", paid: "5", ...terms }),
    post: (account, body, init) => api.postTo(path, account, body, init),
    async paidOf({ actor, keyId: own }, keyId = own) {
      await until(() => api.openCalls === 0, "every call was settled");
      const { paid, heldPaid } = await actor.view(keyId);
      expect(heldPaid).toBe(usd("0"));
      return paid;
    },
  };
}

/** A body that asks a model with the tool. */
export function searchBody(model: string, more: object = {}) {
  return { model, input: "What is the fare?", tools: [{ type: "web_search" }], ...more };
}

const USAGE = { uncached: 12, cacheRead: 0, cacheWrite: 0, output: 6, reasoning: 0 };

/** A reply of a model that searches for these words. */
export function searching(...queries: readonly string[]): WireAnswer {
  const calls = queries.map((query, at) => ({
    id: `call_${query.replace(/\W/g, "")}_${at}`,
    name: "web_search",
    input: { query },
  }));
  return { calls, end: "stop", usage: USAGE };
}

/** A reply of a model that calls other functions, too. */
export function calling(answer: WireAnswer, name: string): WireAnswer {
  const call = { id: `call_${name}`, name, input: {} };
  return { ...answer, calls: [...(answer.calls ?? []), call] };
}

/** A reply of a model in words. */
export function saying(...text: readonly string[]): WireAnswer {
  return { text, end: "stop", usage: USAGE };
}

/** The reply as a server of this form sends it, whole or streamed as its request asks. */
export function inForm({ wire }: { readonly wire: WireForm }, answer: WireAnswer) {
  return ({ body }: Received): WireReply => wire[body.stream === true ? "stream" : "whole"](answer);
}

/** The same, once the gate is open. */
export function later(
  gate: Gate,
  form: { readonly wire: WireForm },
  answer: WireAnswer,
): QueuedReply {
  return async (request) => {
    await gate.pass();
    return inForm(form, answer)(request);
  };
}

/** From now on the pages of a search are found once the gate is open. */
export function searchLater({ finder }: Pick<SearchToolWorld, "finder">, gate: Gate): void {
  finder.answer = async () => {
    await gate.pass();
    return Response.json(REPLIES.searxng);
  };
}

export interface ResponseJson {
  readonly id: string;
  readonly status: string;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly output: readonly Readonly<Record<string, unknown>>[];
  readonly usage: Readonly<Record<string, unknown>>;
  readonly tools: readonly object[];
  readonly svc: {
    readonly request_id: string;
    readonly cost_usd: number;
    readonly ignored?: readonly string[];
    readonly calls?: readonly {
      readonly request_id: string;
      readonly service: string;
      readonly cost_usd: number;
    }[];
  };
}

export interface ReadResponse {
  readonly response: ResponseJson;
  /** Empty for a reply that was not streamed. */
  readonly events: readonly ReadEvent[];
}

/** The whole response of an answer, whose events must be numbered without a gap. */
export async function readResponse(answer: Response): Promise<ReadResponse> {
  expect(answer.status).toBe(200);
  const text = await answer.text();
  if (answer.headers.get("content-type")?.startsWith("text/event-stream") !== true) {
    return { response: JSON.parse(text) as ResponseJson, events: [] };
  }
  const events = eventsOf(text);
  expect(events.map(({ data }) => data.sequence_number)).toEqual([...events.keys()]);
  return { response: events.at(-1)?.data.response as ResponseJson, events };
}
