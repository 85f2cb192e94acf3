// The limits of a response whose model searches: the effects of a caller's cap, an output limit, a
// pause or other calls between its rounds, and how the model and the caller learn of them.

import { describe, expect, test } from "bun:test";
import { nano, usd } from "../../../src/core/money/money.ts";
import type { ItemFields } from "../../../src/services/chat/doors/responses/responses-body.ts";
import { toChatMessages } from "../../../src/services/chat/doors/responses/responses-prompt.ts";
import { nextWaitMs } from "../../../src/services/chat/doors/responses/search/later-tries.ts";
import { shownSearches } from "../../../src/services/chat/doors/responses/search/shown-search.ts";
import { sealedExtra } from "../../../src/services/chat/doors/sealed-extra.ts";
import { errorOf, until } from "../../support/api/api-world.ts";
import type { Received } from "../../support/api/read-requests.ts";
import {
  FORMS,
  inForm,
  later,
  ROUND_COST,
  readResponse,
  SEARCH_COST,
  saying,
  searchBody,
  searching,
  searchLater,
  searchToolWorld,
  WAYS,
} from "../../support/api/search-tool-world.ts";
import { REPLIES } from "../../support/fakes/search-replies.ts";
import { closedGate } from "../../support/gate.ts";

const world = await searchToolWorld();
const { api, server, finder, payer } = world;

const [CHAT, OWN] = FORMS;
const FARE = { type: "function", name: "fare", parameters: { type: "object", properties: {} } };
const CAP = { "x-svc-max-cost-usd": "0.031" };

describe("a model's search", () => {
  test("is not made if the output limit leaves no answer", async () => {
    for (const { form, stream } of WAYS) {
      const account = await payer();
      server.queue(inForm(form, searching("fares")));
      const body = searchBody(form.model, { stream, max_output_tokens: 20 });
      const { response } = await readResponse(await world.post(account, body));
      expect(response).toMatchObject({
        status: "incomplete",
        incomplete_details: { reason: "max_output_tokens" },
      });
      const searches = response.output.filter(({ type }) => type === "web_search_call");
      expect(searches).toMatchObject([{ status: "failed" }]);
      expect(response.svc.cost_usd).toBeCloseTo(ROUND_COST, 9);
      expect(finder.questions).toEqual([]);
    }
  });

  test("that is refused tells the model no figure, and the caller why", async () => {
    for (const { form, stream } of WAYS) {
      const account = await payer();
      server.queue(
        (request) => {
          api.paused.add("search");
          return inForm(form, searching("fares"))(request);
        },
        inForm(form, saying("No idea.")),
      );
      const body = searchBody(form.model, { stream });
      const { response } = await readResponse(await world.post(account, body));
      expect(response.svc.ignored).toEqual(["tools: web_search (Search is paused)"]);
      expect(finder.questions).toEqual([]);
      const told = JSON.stringify(server.requests.at(-1)?.body);
      expect(told).toContain("search is not available now; answer without it");
      expect(told).not.toContain("paused");
      api.paused.clear();
    }
  });

  test("that is not made takes nothing of the caller's cap", async () => {
    for (const { form, stream } of WAYS) {
      const account = await payer();
      server.queue(inForm(form, saying("Four.")));
      // A prompt of some 0.026, which three quarters of the cap would not pay.
      const body = searchBody(form.model, { stream, input: "fare ".repeat(5_000) });
      const { response } = await readResponse(await world.post(account, body, { headers: CAP }));
      expect(response.status).toBe("completed");
      expect(response.svc.ignored).toBeUndefined();
    }
  });

  // The rest of the cap must pay the searches, 0.0075, and once more the round before.
  test.each([
    { output: 5_800, isMade: true },
    { output: 5_900, isMade: false },
  ])("after $output tokens fits the cap with an answer: $isMade", async ({ output, isMade }) => {
    for (const { form, stream } of WAYS) {
      finder.questions.length = 0;
      const account = await payer();
      const first = searching("fares");
      const usage = { ...first.usage, output };
      server.queue(inForm(form, { ...first, usage }), inForm(form, saying("Four.")));
      const body = searchBody(form.model, { stream, max_output_tokens: 7_000 });
      const { response } = await readResponse(await world.post(account, body, { headers: CAP }));
      expect(response.status).toBe("completed");
      expect(finder.questions.length > 0).toBe(isMade);
      const services = response.svc.calls?.map(({ service }) => service);
      expect(services).toEqual(isMade ? ["models", "models", "search"] : ["models", "models"]);
      const [reason = ""] = response.svc.ignored ?? [];
      const words = "The $0.031 of x-svc-max-cost-usd leave $0.019188, too little for searches";
      expect(reason.includes(words)).toBe(!isMade);
      const read = JSON.stringify(server.requests.at(-1)?.body);
      expect(read.includes("search is not available now")).toBe(!isMade);
      expect(read).not.toContain("0.019");
      await until(() => api.openCalls === 0, "every call was settled");
      const { paid, heldPaid } = await account.actor.view(account.keyId);
      const told = usd(response.svc.cost_usd.toFixed(9));
      expect([nano(BigInt(paid) + BigInt(told)), heldPaid]).toEqual([usd("5"), usd("0")]);
      expect(response.svc.cost_usd).toBeLessThanOrEqual(0.031);
    }
  });

  test("leaves the tools of the caller as they are", async () => {
    const account = await payer();
    server.queue(inForm(OWN, searching("fares")), inForm(OWN, saying("Four.")));
    const other = { ...FARE, name: "other" };
    const tool_choice = {
      type: "allowed_tools",
      mode: "required",
      tools: [{ type: "web_search" }, { type: "function", name: "fare" }],
    };
    const body = searchBody(OWN.model, {
      tools: [{ type: "web_search" }, FARE, other],
      tool_choice,
    });
    await readResponse(await world.post(account, body));
    expect(server.requests.at(-1)?.body.tool_choice).toEqual({
      type: "allowed_tools",
      mode: "auto",
      tools: [
        { type: "function", name: "web_search" },
        { type: "function", name: "fare" },
      ],
    });
  });

  test("is left out where a tool of a namespace, or of an item, has its name", async () => {
    const named = { ...FARE, name: "web_search" };
    const namespace = { type: "namespace", name: "mine", tools: [named] };
    const brought = { type: "additional_tools", role: "developer", tools: [named] };
    const cases = [
      { tools: [{ type: "web_search" }, namespace] },
      { input: [brought, { role: "user", content: "Fare?" }] },
    ];
    for (const more of cases) {
      const account = await payer();
      server.queue(inForm(OWN, saying("No idea.")));
      const { response } = await readResponse(
        await world.post(account, searchBody(OWN.model, more)),
      );
      expect(response.svc.ignored).toEqual([
        "tools: web_search (A function has the name web_search)",
      ]);
    }
  });

  test("that is forced while search is paused is refused for a time", async () => {
    const account = await payer();
    api.paused.add("search");
    const body = searchBody(CHAT.model, { tool_choice: { type: "web_search" } });
    const refused = await world.post(account, body);
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("60");
    expect((await errorOf(refused)).code).toBe("search_unavailable");
  });
});

/** A round after a search, which other streams of its caller leave no place until they end. */
async function waitingRound() {
  // The tier Starter has five streams.
  const account = await api.account({ paid: "5" });
  const [searched, others] = [closedGate(), closedGate()];
  searchLater(world, searched);
  const late = Array.from({ length: 5 }, () => later(others, CHAT, saying("Late.")));
  server.queue(inForm(CHAT, searching("fares")), ...late);
  const asking = world.post(account, searchBody(CHAT.model, { stream: true }));
  await until(() => searched.arrivals === 1, "the search was asked for");
  const plain = { model: CHAT.model, input: "Hello", stream: true };
  const streams = Array.from({ length: 5 }, () => world.post(account, plain));
  await until(() => others.arrivals === 5, "every place is taken");
  searched.open();
  await until(async () => {
    const rows = await api.journal(account);
    return rows.some(({ outcome }) => outcome.startsWith("too_many_streams"));
  }, "the round found no place");
  const openOthers = async () => {
    others.open();
    for (const stream of streams) await (await stream).text();
  };
  return { asking, openOthers };
}

describe("a round after a search", () => {
  test("is not made once the service is paused", async () => {
    for (const { form, stream } of WAYS) {
      const account = await payer();
      finder.answer = async () => {
        api.paused.add(`model:${form.model}`);
        return Response.json(REPLIES.searxng);
      };
      server.queue(inForm(form, searching("fares")));
      const body = searchBody(form.model, { stream });
      const { response } = await readResponse(await world.post(account, body));
      expect(response).toMatchObject({ status: "failed", error: { code: "model_unavailable" } });
      api.paused.clear();
    }
  });

  test("waits while other streams of its caller leave no place", async () => {
    const { asking, openOthers } = await waitingRound();
    server.queue(inForm(CHAT, saying("Four.")));
    await openOthers();
    expect((await readResponse(await asking)).response.status).toBe("completed");
  });

  test("is not made after such a wait if the service was paused meanwhile", async () => {
    const { asking, openOthers } = await waitingRound();
    api.paused.add(`model:${CHAT.model}`);
    server.queue(inForm(CHAT, saying("Four.")));
    await openOthers();
    const { response } = await readResponse(await asking);
    expect(response).toMatchObject({ status: "failed", error: { code: "model_unavailable" } });
  });

  test("is charged and told if it breaks off", async () => {
    const account = await payer();
    const broken = (request: Received) => {
      const whole = inForm(CHAT, saying("Four", " coins", " and more"))(request);
      return { ...whole, body: whole.body.slice(0, 2), end: "cut" as const };
    };
    server.queue(inForm(CHAT, searching("fares")), broken);
    const body = searchBody(CHAT.model, { stream: true });
    const { response } = await readResponse(await world.post(account, body));
    expect(response.status).toBe("failed");
    await until(() => api.openCalls === 0, "every call was settled");
    const { paid } = await account.actor.view(account.keyId);
    const told = usd(response.svc.cost_usd.toFixed(9));
    expect(nano(BigInt(paid) + BigInt(told))).toBe(usd("5"));
    expect(response.svc.calls).toHaveLength(3);
    expect(response.svc.cost_usd).toBeGreaterThan(ROUND_COST + SEARCH_COST);
    const { input_tokens } = response.usage;
    // The round before it had 12.
    expect(input_tokens).toBeGreaterThan(12);
  });

  test("is the last but one for a model that goes on calling, however it calls", async () => {
    for (const { form, stream } of WAYS) {
      const account = await payer();
      server.requests.length = 0;
      const calls = Array.from({ length: 3 }, (_, at) => inForm(form, searching(`a${at}`)));
      server.queue(...calls);
      const body = searchBody(form.model, { stream, max_tool_calls: 1 });
      await readResponse(await world.post(account, body));
      expect(server.requests).toHaveLength(3);
    }
  });
});

test("a search beside a function keeps the data that its server sealed for it", () => {
  const extra = { google: { thought_signature: "signed" } };
  const items = shownSearches(
    [
      { type: "web_search_call", action: { query: "fares" }, results: [] },
      { type: "reasoning", summary: [], encrypted_content: sealedExtra(extra) },
      { type: "function_call", call_id: "call_fare", name: "fare", arguments: "{}" },
    ].map((item) => ({ item: item as unknown as ItemFields, param: "input" })),
  );
  const [asked] = toChatMessages("", items).messages;
  expect(asked).toMatchObject({ tool_calls: [{ id: "search_0", extra_content: extra }] });
});

test("a call waits for as long as a window is full, but for no time too short to help", () => {
  const waits: number[] = [];
  const waited = () => waits.reduce((sum, ms) => sum + ms, 0);
  for (let next = nextWaitMs(1_000, 0); next !== null; next = nextWaitMs(1_000, waited())) {
    waits.push(next);
  }
  expect(waits).toEqual([1_000, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000]);
  expect(nextWaitMs(30_000, 40_000)).toBeNull();
});
