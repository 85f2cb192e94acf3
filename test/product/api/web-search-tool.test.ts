// OpenAI's tool `web_search` at the door for Responses, served by our own search: over real HTTP,
// with servers of models of both forms, whole and streamed.

import { describe, expect, test } from "bun:test";
import { nano, usd } from "../../../src/core/money/money.ts";
import { errorOf, until } from "../../support/api/api-world.ts";
import {
  calling,
  FORMS,
  inForm,
  later,
  ROUND_COST,
  readResponse,
  SEARCH_COST,
  SEARCH_HOLD,
  saying,
  searchBody,
  searching,
  searchLater,
  searchToolWorld,
  WAYS,
} from "../../support/api/search-tool-world.ts";
import type { QueuedReply } from "../../support/fakes/wire/wire-server.ts";
import { closedGate } from "../../support/gate.ts";
import {
  type AccountTerms,
  createTestKey,
  type TestAccount,
} from "../../support/stores/accounts.ts";

const world = await searchToolWorld();
const { api, server, finder, payer } = world;

const [CHAT, OWN] = FORMS;
const SOURCES = "web_search_call.action.sources";
const PAGE = "https://docs.example.org/fares";
const CITED = `See [Fares](${PAGE}).`;
const FARE = { type: "function", name: "fare", parameters: { type: "object", properties: {} } };

interface Asked {
  readonly model: string;
  readonly stream: boolean;
}

function bodyOf({ model, stream }: Asked, more: object = {}) {
  return searchBody(model, { stream, ...more });
}

/** The cost of all calls of a response, each of which is in the journal with its cost. */
async function paidOf(account: TestAccount, keyId = account.keyId) {
  const paid = await world.paidOf(account, keyId);
  const entries = await api.journal(account);
  return { paid, rows: entries.map(({ metadata, end }) => [metadata?.service, end?.requests]) };
}

const ASKED_WAYS = WAYS.map(({ form, model, stream }) => ({
  form,
  asked: { model, stream },
  name: `${model}, ${stream ? "streamed" : "whole"}`,
}));

describe("a model that searches", () => {
  for (const { form, asked, name } of ASKED_WAYS) {
    test(`gets the pages, and the caller pays each round and each result (${name})`, async () => {
      const account = await payer();
      server.queue(inForm(form, searching("fares")), inForm(form, saying("See ", CITED.slice(4))));
      const answer = await world.post(account, bodyOf(asked, { include: [SOURCES] }));
      const { response, events } = await readResponse(answer);
      const [search, message] = response.output;
      expect(search).toMatchObject({
        type: "web_search_call",
        status: "completed",
        action: {
          type: "search",
          query: "fares",
          sources: [
            { type: "url", url: PAGE },
            { type: "url", url: "https://news.example.com/ride" },
          ],
        },
      });
      const start_index = CITED.indexOf("[");
      const end_index = CITED.length - 1;
      const cited = { type: "url_citation", start_index, end_index, url: PAGE };
      expect(message).toMatchObject({
        type: "message",
        content: [
          { text: CITED, annotations: [{ ...cited, title: "Fares & tickets" }], logprobs: [] },
        ],
      });
      expect(response.status).toBe("completed");
      expect(response.tools).toEqual([{ type: "web_search" }]);
      expect(response.usage).toMatchObject({ input_tokens: 24, output_tokens: 12 });
      const cost = 2 * ROUND_COST + SEARCH_COST;
      expect(response.svc.cost_usd).toBeCloseTo(cost, 9);
      expect(response.svc.calls?.map(({ service, cost_usd }) => [service, cost_usd])).toEqual([
        ["models", ROUND_COST],
        ["models", ROUND_COST],
        ["search", SEARCH_COST],
      ]);
      if (!asked.stream) expect(Number(answer.headers.get("x-svc-cost-usd"))).toBeCloseTo(cost, 9);
      const { paid, rows } = await paidOf(account);
      expect(paid).toBe(usd("4.998952"));
      expect(rows).toEqual([
        ["models", 1],
        ["models", 1],
        ["search", 1],
      ]);
      const second = JSON.stringify(server.requests.at(-1)?.body);
      expect(second).toContain("How fares are paid");
      expect(second).toContain("call_fares_0");
      expect(events.length > 0).toBe(asked.stream);
    });
  }

  test("is seen in the events of a stream in OpenAI's order", async () => {
    for (const form of FORMS) {
      const account = await payer();
      server.queue(inForm(form, searching("fares")), inForm(form, saying(CITED)));
      const { events, response } = await readResponse(
        await world.post(account, bodyOf({ model: form.model, stream: true })),
      );
      const names = events.map(({ name }) => name.replace(/^response\./, ""));
      const about = events.filter(({ name }) => !/content_part|output_text.delta/.test(name));
      expect(about.map(({ name }) => name.replace(/^response\./, ""))).toEqual([
        "created",
        "in_progress",
        "output_item.added",
        "web_search_call.in_progress",
        "web_search_call.searching",
        "web_search_call.completed",
        "output_item.done",
        "output_item.added",
        ...(names.includes("output_text.annotation.added")
          ? ["output_text.annotation.added", "output_text.done"]
          : []),
        "output_item.done",
        "output_item.added",
        "output_item.done",
        "completed",
      ]);
      const [first] = events;
      const begun = first?.data.response as { readonly id: string } | undefined;
      expect(begun?.id).toBe(response.id);
      const places = events.flatMap(({ data: { output_index: place } }) => place ?? []);
      expect(places).toEqual([...places].sort());
    }
  });
});

describe("a model does without search, and the reply says why,", () => {
  const cases: readonly {
    readonly name: string;
    readonly terms?: AccountTerms;
    readonly more?: object;
    readonly headers?: Record<string, string>;
    readonly why: string;
    readonly code: string;
  }[] = [
    {
      name: "if the key lacks the scope",
      terms: { scopes: ["models"] },
      why: "The key lacks the scope search",
      code: "insufficient_scope",
    },
    {
      name: "if the paid credit is short, whatever free credit there is",
      terms: { paid: "0.02", free: "5" },
      why: "Searches hold $0.0075 of paid credit",
      code: "insufficient_credits",
    },
    {
      name: "if the caller's cap is short",
      headers: { "x-svc-max-cost-usd": "0.02" },
      why: "Searches hold $0.0075 of paid credit",
      code: "max_cost_exceeded",
    },
  ];
  for (const { name, terms = {}, headers = {}, why, code } of cases) {
    test(name, async () => {
      const account = await payer(terms);
      for (const { form, asked } of ASKED_WAYS) {
        server.queue(inForm(form, saying("No idea.")));
        const body = bodyOf(asked);
        const answer = await api.postTo("/v1/responses", account, body, { headers });
        const { response } = await readResponse(answer);
        const [named = ""] = response.svc.ignored ?? [];
        expect(named).toStartWith(`tools: web_search (${why}`);
        expect(response.svc.calls).toBeUndefined();
        expect(JSON.stringify(server.requests.at(-1)?.body)).not.toContain("web_search");
        // A request that forces a search cannot do without.
        const forced = { ...body, tool_choice: { type: "web_search" } };
        const refused = await api.postTo("/v1/responses", account, forced, { headers });
        expect((await errorOf(refused)).code).toBe(code);
      }
      const { rows } = await paidOf(account);
      expect(rows.map(([service]) => service)).not.toContain("search");
    });
  }

  test("if search is paused, a function has its name, or its fields cannot be served", async () => {
    const account = await payer();
    const reasonOf = async (tools: readonly object[]) => {
      server.queue(inForm(CHAT, saying("No idea.")));
      const body = { model: CHAT.model, input: "Fare?", tools };
      return (await readResponse(await world.post(account, body))).response.svc.ignored;
    };
    const named = { ...FARE, name: "web_search" };
    expect(await reasonOf([{ type: "web_search" }, named])).toEqual([
      "tools: web_search (A function has the name web_search)",
    ]);
    const many = Array.from({ length: 21 }, (_, at) => `d${at}.example`);
    expect(await reasonOf([{ type: "web_search", filters: { allowed_domains: many } }])).toEqual([
      "tools: web_search (A search takes at most 20 domains)",
    ]);
    const wrong = { allowed_domains: ["https://example.com/x"] };
    expect(await reasonOf([{ type: "web_search_preview", filters: wrong }])).toEqual([
      "tools: web_search_preview (filters.include_domains[0] must be a domain such as example.com)",
    ]);
    api.paused.add("search");
    expect(await reasonOf([{ type: "web_search" }])).toEqual([
      "tools: web_search (Search is paused)",
    ]);
  });
});

describe("a request sets the bounds of its searches:", () => {
  test("domains reach the search; fields that no server knows are named", async () => {
    const account = await payer();
    server.queue(inForm(CHAT, searching("fares")), inForm(CHAT, saying("Four.")));
    const tool = {
      type: "web_search",
      filters: { allowed_domains: ["Example.org"], blocked_domains: ["bad.example"] },
      user_location: { type: "approximate", country: "de", city: "Berlin" },
      search_context_size: "low",
      external_web_access: false,
    };
    const body = { model: CHAT.model, input: "Fare?", tools: [tool] };
    const { response } = await readResponse(await world.post(account, body));
    expect(response.svc.ignored).toEqual([
      "tools: web_search.search_context_size",
      "tools: web_search.user_location.city",
      "tools: web_search.user_location.country",
    ]);
    const words = finder.questions[0]?.parameters.q;
    expect(words).toContain("site:example.org");
    expect(words).toContain("-site:bad.example");
  });

  test("max_tool_calls counts all searches of a response; then the tool is gone", async () => {
    const account = await payer();
    for (const { form, asked } of ASKED_WAYS) {
      finder.questions.length = 0;
      const many = searching("a", "b", "c");
      server.queue(inForm(form, many), inForm(form, searching("d")), inForm(form, saying("x")));
      const body = bodyOf(asked, { max_tool_calls: 2, tools: [{ type: "web_search" }, FARE] });
      const { response } = await readResponse(await world.post(account, body));
      expect(new Set(finder.questions.map(({ parameters }) => parameters.q))).toHaveProperty(
        "size",
        2,
      );
      const searches = response.output.filter(({ type }) => type === "web_search_call");
      expect(searches.map(({ status }) => status)).toEqual([
        "completed",
        "completed",
        "failed",
        "failed",
      ]);
      const tools = JSON.stringify(server.requests.at(-1)?.body.tools);
      expect(tools).not.toContain("web_search");
      expect(tools).toContain("fare");
      server.requests.length = 0;
    }
  });

  test("a forced search is made once, and not forced again", async () => {
    const account = await payer();
    for (const { form, asked } of ASKED_WAYS) {
      server.requests.length = 0;
      server.queue(inForm(form, searching("fares")), inForm(form, saying("Four.")));
      const body = bodyOf(asked, { tool_choice: { type: "web_search" } });
      const { response } = await readResponse(await world.post(account, body));
      expect(response).toMatchObject({ tool_choice: { type: "web_search" }, status: "completed" });
      const choices = server.requests.map(({ body: { tool_choice: choice } }) => choice);
      expect(JSON.stringify(choices[0])).toContain("web_search");
      expect(choices[1]).toBe("auto");
    }
  });

  test("max_output_tokens counts the tokens of all rounds", async () => {
    const account = await payer();
    server.queue(inForm(CHAT, searching("fares")), inForm(CHAT, saying("Four.")));
    const asked = { model: CHAT.model, stream: false };
    await readResponse(await world.post(account, bodyOf(asked, { max_output_tokens: 50 })));
    const limits = server.requests.map(({ body }) => body.max_tokens ?? body.max_completion_tokens);
    expect(limits).toEqual([50, 44]);
    server.queue(inForm(CHAT, searching("fares")));
    const short = await world.post(account, bodyOf(asked, { max_output_tokens: 6 }));
    const { output } = (await readResponse(short)).response;
    expect(output.map(({ type }) => type)).toEqual(["web_search_call"]);
  });
});

describe("a turn that ends with a function of the caller", () => {
  for (const { form, asked, name } of ASKED_WAYS) {
    test(`has the search, whose pages the model reads in the next turn (${name})`, async () => {
      const account = await payer();
      server.queue(inForm(form, calling(searching("fares"), "fare")));
      const body = bodyOf(asked, { tools: [{ type: "web_search" }, FARE] });
      const { response } = await readResponse(await world.post(account, body));
      const kinds = response.output.flatMap(({ type }) => (type === "reasoning" ? [] : [type]));
      expect(kinds).toEqual(["web_search_call", "function_call"]);
      const [search] = response.output;
      expect(search).toMatchObject({ results: [{ url: PAGE }, { title: "The ride" }] });
      expect(response.svc.cost_usd).toBeCloseTo(ROUND_COST + SEARCH_COST, 9);
      server.queue(inForm(form, saying("Four.")));
      const output = { type: "function_call_output", call_id: "call_fare", output: "4" };
      const input = [{ role: "user", content: "Fare?" }, ...response.output, output];
      await readResponse(await world.post(account, { ...body, input }));
      const sent = JSON.stringify(server.requests.at(-1)?.body);
      expect(sent).toContain("How fares are paid");
      expect(sent).not.toContain("web_search_call");
    });
  }

  test("can be continued by references to its items", async () => {
    const account = await payer();
    server.queue(inForm(OWN, calling(searching("fares"), "fare")));
    const body = { model: OWN.model, tools: [{ type: "web_search" }, FARE], input: "Fare?" };
    const { response } = await readResponse(await world.post(account, body));
    const items = response.output.map(({ id }) => ({ type: "item_reference", id }));
    const output = { type: "function_call_output", call_id: "call_fare", output: "4" };
    server.queue(inForm(OWN, saying("Four.")));
    await readResponse(await world.post(account, { ...body, input: [...items, output] }));
    expect(JSON.stringify(server.requests.at(-1)?.body)).toContain("How fares are paid");
  });
});

describe("a failed call is not charged:", () => {
  for (const { form, asked, name } of ASKED_WAYS) {
    test(`a search that no server answers, of which the model is told (${name})`, async () => {
      const account = await payer();
      finder.mood = "500";
      server.queue(inForm(form, searching("fares")), inForm(form, saying("No idea.")));
      const { response } = await readResponse(await world.post(account, bodyOf(asked)));
      expect(response.output[0]).toMatchObject({ type: "web_search_call", status: "failed" });
      expect(response.status).toBe("completed");
      expect(response.svc.cost_usd).toBeCloseTo(2 * ROUND_COST, 9);
      expect(JSON.stringify(server.requests.at(-1)?.body)).toContain("The search failed");
      expect((await paidOf(account)).rows.at(-1)).toEqual(["search", 0]);
    });

    test(`a round that is refused after a search, which is told (${name})`, async () => {
      const account = await payer();
      const gate = closedGate();
      searchLater(world, gate);
      server.queue(inForm(form, searching("fares")), inForm(form, saying("Never asked for.")));
      const asking = world.post(account, bodyOf(asked));
      await until(() => gate.arrivals === 1, "the search was asked for");
      const other = await createTestKey(api.parts.stores.accounts, account.row);
      await api.revoke(account);
      gate.open();
      const { response } = await readResponse(await asking);
      expect(response.status).toBe("failed");
      expect(response.error?.code).toBe("invalid_api_key");
      expect(response.output[0]).toMatchObject({ type: "web_search_call", status: "completed" });
      expect(response.svc.cost_usd).toBeCloseTo(ROUND_COST + SEARCH_COST, 9);
      const { paid } = await paidOf(account, other.id);
      expect(paid).toBe(usd("4.998976"));
    });

    test(`a search whose caller leaves before its pages are there (${name})`, async () => {
      const account = await payer();
      const gate = closedGate();
      searchLater(world, gate);
      server.queue(inForm(form, searching("fares")), inForm(form, saying("Never asked for.")));
      const leaving = new AbortController();
      const asking = world
        .post(account, bodyOf(asked), { signal: leaving.signal })
        .then((answer) => answer.text())
        .catch(() => "");
      await until(() => gate.arrivals === 1, "the search was asked for");
      leaving.abort();
      await asking;
      const { paid, rows } = await paidOf(account);
      gate.open();
      expect(paid).toBe(usd("4.999976"));
      expect(rows).toEqual([
        ["models", 1],
        ["search", 0],
      ]);
      expect(server.requests).toHaveLength(1);
    });

    test(`a last round whose caller leaves; its searches are paid (${name})`, async () => {
      const account = await payer();
      const gate = closedGate();
      const late = later(gate, form, saying("Too late."));
      server.queue(inForm(form, searching("fares")), late);
      const leaving = new AbortController();
      const asking = world
        .post(account, bodyOf(asked), { signal: leaving.signal })
        .then((answer) => answer.text())
        .catch(() => "");
      await until(() => gate.arrivals === 1, "the second round was asked for");
      // If this process died now, the sweep would charge the searches so far.
      await api.saveCosts();
      await api.renewLeases();
      const held = await api.holdRecords(account);
      expect(held.map(({ checkpoint }) => checkpoint)).toContain(usd("0.001"));
      leaving.abort();
      gate.open();
      await asking;
      const { rows, paid } = await paidOf(account);
      expect(rows).toContainEqual(["search", 1]);
      expect(paid).toBeLessThan(usd("4.999"));
      expect(paid).toBeGreaterThan(usd("4.9989"));
    });
  }
});

describe("money:", () => {
  test("parallel responses never spend more than the balance", async () => {
    const paid = "0.1";
    const account = await payer({ paid });
    const count = 40;
    server.queue(
      ...Array.from(
        { length: 2 * count },
        (): QueuedReply => (request) => {
          const hasPages = JSON.stringify(request.body).includes("How fares are paid");
          return inForm(CHAT, hasPages ? saying(CITED) : searching("fares"))(request);
        },
      ),
    );
    const answers = await Promise.all(
      Array.from({ length: count }, async (_, at) => {
        const body = bodyOf(
          { model: CHAT.model, stream: at % 2 === 0 },
          { max_output_tokens: 100 },
        );
        const answer = await world.post(account, body);
        return answer.status === 200 ? (await readResponse(answer)).response.svc.cost_usd : 0;
      }),
    );
    const left = (await paidOf(account)).paid;
    const told = answers.reduce((sum, cost) => sum + Math.round(cost * 1e9), 0);
    expect(left).toBe(nano(BigInt(usd(paid)) - BigInt(told)));
    expect(answers.filter((cost) => cost > SEARCH_COST).length).toBeGreaterThan(0);
  });

  test("a repeat with the same idempotency key is answered again, and charged once", async () => {
    const account = await payer();
    server.queue(inForm(CHAT, searching("fares")), inForm(CHAT, saying(CITED)));
    const body = bodyOf({ model: CHAT.model, stream: false });
    const headers = { "idempotency-key": "search-1" };
    const first = await api.postTo("/v1/responses", account, body, { headers });
    const { response } = await readResponse(first);
    const again = await api.postTo("/v1/responses", account, body, { headers });
    expect((await readResponse(again)).response.id).toBe(response.id);
    expect((await paidOf(account)).paid).toBe(usd("4.998952"));
  });

  test("a quote says the hold of the searches, and holds nothing", async () => {
    const account = await payer();
    const body = bodyOf({ model: CHAT.model, stream: false }, { max_output_tokens: 100 });
    const quoteOf = async (asked: object) => {
      const answer = await api.postTo("/v1/quote", account, { path: "/v1/responses", body: asked });
      expect(answer.status).toBe(200);
      return (await answer.json()) as {
        readonly hold_usd: number;
        readonly web_search: object | null;
        readonly prices: readonly object[];
      };
    };
    const plain = await quoteOf({ ...body, tools: [] });
    const quoted = await quoteOf(body);
    expect(plain.web_search).toBeNull();
    expect(quoted.web_search).toEqual({ searches_max: 3, hold_usd: SEARCH_HOLD });
    expect(quoted.hold_usd).toBeGreaterThan(plain.hold_usd + SEARCH_HOLD);
    expect(quoted.prices).toContainEqual({ what: "result", price_usd: "0.0005", per: 1 });
    expect((await paidOf(account)).paid).toBe(usd("5"));
  });

  test("a response that does not search costs its model alone", async () => {
    const account = await payer();
    server.queue(inForm(CHAT, saying("Four.")));
    const body = bodyOf({ model: CHAT.model, stream: true });
    const { response } = await readResponse(await world.post(account, body));
    expect(response.svc.calls).toHaveLength(1);
    expect((await paidOf(account)).rows).toEqual([["models", 1]]);
  });
});
