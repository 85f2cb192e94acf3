// Tests the replies and charges of embeddings and ranks, over real HTTP, from servers over a
// socket.

import { beforeEach, describe, expect, test } from "bun:test";
import { usd } from "../../../src/core/money/money.ts";
import { countTokens } from "../../../src/services/chat/tokens/tokens.ts";
import { until } from "../../support/api/api-world.ts";
import { sharedVectors } from "../../support/api/vectors-world.ts";
import {
  jsonReply,
  ranksOf,
  VECTOR,
  VECTOR_BASE64,
  vectorsOf,
} from "../../support/fakes/fake-vectors.ts";
import type { WireServer } from "../../support/fakes/wire/wire-server.ts";
import { closedGate } from "../../support/gate.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

const { api, slow, server, second, cohere } = await sharedVectors();
const account = await api.account({ contract: "enterprise", paid: "100" });

beforeEach(() => {
  for (const one of [server, second, cohere]) one.reset();
});

const EMBEDDINGS = "/v1/embeddings";
const RERANK = "/v1/rerank";

interface Reply {
  readonly data: readonly { readonly index: number; readonly embedding: unknown }[];
  readonly results: readonly { readonly index: number; readonly document?: unknown }[];
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number };
  readonly meta?: object;
  readonly svc: { readonly cost_usd: number; readonly ignored?: readonly string[] };
}

async function ask(path: string, body: object, by: TestAccount = account): Promise<Reply> {
  const response = await api.postTo(path, by, body);
  expect(response.status).toBe(200);
  return (await response.json()) as Reply;
}

const embed = (more: object) => ({ model: "vectors", input: "A fare", ...more });
const rank = (more: object) => ({
  model: "ranks",
  query: "What is a fare?",
  documents: ["A price", "A hold"],
  ...more,
});

async function refused(path: string, body: object, by: TestAccount = account) {
  const response = await api.postTo(path, by, body);
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  expect(response.headers.get("x-svc-cost-usd")).toBe("0");
  return { status: response.status, code: error.code, message: error.message };
}

async function lastOutcome(by: TestAccount) {
  return (await api.journal(by)).findLast(({ end }) => end !== null)?.end;
}

const lastBody = (of: WireServer) => of.requests.at(-1)?.body;
const usage = (tokens: number) => ({ prompt_tokens: tokens, total_tokens: tokens });

describe("embeddings", () => {
  for (const [name, input, count] of [
    ["a text", "A fare", 1],
    ["texts", ["A fare", "A hold"], 2],
    ["tokens", [32, 21057], 1],
    ["arrays of tokens", [[32, 21057], [32]], 2],
  ] as const) {
    test(`${name} reach the server as they are, and cost its count`, async () => {
      server.queue(vectorsOf([...Array(count).keys()], usage(2)));
      const reply = await ask(EMBEDDINGS, embed({ input }));
      expect(lastBody(server)).toEqual({ model: "vectors-upstream", input });
      expect(server.requests.at(-1)?.path).toBe("/embeddings");
      expect(reply).toMatchObject({
        object: "list",
        model: "vectors",
        usage: usage(2),
        svc: { cost_usd: 0.000002 },
      });
      expect(reply.data.map(({ embedding }) => embedding)).toEqual(Array(count).fill(VECTOR));
    });
  }

  test("arrays of 300,000 tokens in all are one call, as LangChain sends them", async () => {
    const own = await api.account({ paid: "5" });
    const input = Array(1_000).fill(Array(300).fill(1));
    server.queue(vectorsOf([...input.keys()], usage(300_000)));
    const reply = await ask(EMBEDDINGS, embed({ input }), own);
    expect(reply.data).toHaveLength(1_000);
    expect(reply.svc.cost_usd).toBe(0.3);
    expect(await refused(EMBEDDINGS, embed({ input: Array(312_000).fill(1) }), own)).toMatchObject({
      status: 400,
      message: "The body has more than 310000 values",
    });
  });

  test("vectors come back in the order of the inputs, whatever the server's order is", async () => {
    const data = [1, 0].map((index) => ({ index, embedding: [index + 0.5] }));
    server.queue(jsonReply({ data, usage: usage(2) }));
    const reply = await ask(EMBEDDINGS, embed({ input: ["a", "b"] }));
    expect(reply.data).toMatchObject([
      { object: "embedding", index: 0, embedding: [0.5] },
      { index: 1, embedding: [1.5] },
    ]);
  });

  for (const [asked, sent, got] of [
    ["base64", VECTOR_BASE64, VECTOR_BASE64],
    ["base64", VECTOR, VECTOR_BASE64],
    ["float", VECTOR, VECTOR],
    ["float", VECTOR_BASE64, VECTOR],
  ] as const) {
    test(`a caller who asks for ${asked} gets it from ${JSON.stringify(sent)}`, async () => {
      server.queue(vectorsOf([0], usage(2), sent));
      const reply = await ask(EMBEDDINGS, embed({ encoding_format: asked }));
      expect(reply.data[0]?.embedding).toEqual(got);
      const format = asked === "base64" ? { encoding_format: "base64" } : {};
      expect(lastBody(server)).toEqual({ model: "vectors-upstream", input: "A fare", ...format });
    });
  }

  test("dimensions are forwarded, and named if the server does not keep them", async () => {
    server.queue(vectorsOf([0], usage(2)), vectorsOf([0], usage(2)));
    const kept = await ask(EMBEDDINGS, embed({ dimensions: 3 }));
    expect(lastBody(server)).toMatchObject({ dimensions: 3 });
    expect(kept.svc.ignored).toBeUndefined();
    const lost = await ask(EMBEDDINGS, embed({ dimensions: 2 }));
    expect(lost.svc.ignored).toEqual(["dimensions"]);
  });

  test("only parameters that the model is configured to take are forwarded", async () => {
    server.queue(vectorsOf([0], usage(2)));
    const more = { input_type: "query", user: "ada", seeds: 1 };
    const reply = await ask(EMBEDDINGS, embed(more));
    const body = { model: "vectors-upstream", input: "A fare", input_type: "query" };
    expect(lastBody(server)).toEqual(body);
    expect(reply.svc.ignored).toEqual(["user", "seeds"]);
  });

  test("without a usage the input is counted, and the log says so", async () => {
    const own = await api.account({ paid: "5" });
    server.queue(vectorsOf([0, 1], undefined));
    const texts = ["What does the train to Köln cost?", "A hold"];
    const reply = await ask(EMBEDDINGS, embed({ input: texts }), own);
    const tokens = texts.reduce((sum, text) => sum + countTokens(text), 0);
    expect(reply.usage).toEqual(usage(tokens));
    expect(reply.svc.cost_usd).toBe(tokens / 1e6);
    expect(await lastOutcome(own)).toMatchObject({
      promptTokens: tokens,
      lane: "first-ai",
      usageDetails: { source: "counted" },
    });
  });

  test("a usage above all that the input can have is not believed", async () => {
    const own = await api.account({ paid: "5" });
    server.queue(vectorsOf([0], usage(1_000)));
    const reply = await ask(EMBEDDINGS, embed({}), own);
    expect(reply.usage).toEqual(usage(countTokens("A fare")));
    expect((await lastOutcome(own))?.usageDetails).toEqual({ source: "contradicted" });
  });

  for (const [what, input, most] of [
    ["tokens is exact", [1, 2, 3], 3],
    ["a text has a token for each byte, and those that a server adds", "Köln", 5 + 16],
  ] as const) {
    test(`the hold of ${what}`, async () => {
      const own = await api.account({ paid: "5" });
      slow.gate = closedGate();
      const reply = ask(EMBEDDINGS, embed({ model: "slow-vectors", input }), own);
      await until(() => slow.gate.arrivals === 1, "the server was asked");
      const [hold] = await api.holdRecords(own);
      expect(hold?.paid).toBe(usd((most / 1e6).toFixed(6)));
      slow.gate.open();
      expect((await reply).svc.cost_usd).toBe(0.000002);
    });
  }

  test("a small balance pays for an input whose bytes it could not pay for", async () => {
    const text = "fare ".repeat(200).trim();
    const tokens = countTokens(text);
    const own = await api.account({ paid: "0.0005" });
    server.queue(vectorsOf([0], usage(tokens)));
    const reply = await ask(EMBEDDINGS, embed({ input: text }), own);
    expect(reply.usage).toEqual(usage(tokens));
    expect(text.length / 1e6).toBeGreaterThan(0.0005);
  });

  test("a balance that is too small is refused in figures, and no server is asked", async () => {
    const own = await api.account({ paid: "0.000001" });
    const asked = server.requests.length;
    expect(await refused(EMBEDDINGS, embed({}), own)).toEqual({
      status: 402,
      code: "insufficient_credits",
      message: "The call can cost up to $0.000022. The balance has $0.000001 left",
    });
    expect(server.requests).toHaveLength(asked);
  });

  test("a refusal for free credit names only models of the same use", async () => {
    const own = await api.account({ free: "5" });
    const { code, message } = await refused(EMBEDDINGS, embed({ model: "paid-vectors" }), own);
    expect(code).toBe("insufficient_credits");
    expect(message).toContain("can pay for vectors, slow-vectors, two-routes");
    expect(message).not.toContain("chatty");
  });

  test("free credit pays for a model that it may pay for", async () => {
    const own = await api.account({ free: "5" });
    server.queue(vectorsOf([0], usage(2)));
    const { svc } = await ask(EMBEDDINGS, embed({}), own);
    expect(svc).toMatchObject({ cost_usd: 0.000002, free_credit_usd: 0.000002 });
  });

  for (const [body, message] of [
    [{ input: undefined }, "input must be a text, tokens"],
    [{ input: "" }, "input must not be an empty text"],
    [{ input: [] }, "input must be a text, tokens"],
    [{ input: 5 }, "input must be a text, tokens"],
    [{ input: ["a", ""] }, "input[1] must not be an empty text"],
    [{ input: ["a", 1] }, "input[1] must be a text, as input[0] is"],
    [{ input: [1, [1]] }, "input[1] must be a token, as input[0] is"],
    [{ input: [[1], []] }, "input[1] must have at least one token"],
    [{ input: [1, 1.5] }, "input[1] must be an integer"],
    [{ input: [-1] }, "input[0] must be an integer"],
    [{ input: [[1], ["a"]] }, "input[1][0] must be an integer"],
    [{ input: [{}] }, "input[0] must be a text, or an array of tokens"],
    [{ input: Array(2_049).fill("a") }, "input must have at most 2048 items"],
    [{ dimensions: 0 }, "dimensions must be an integer from 1 to 65536"],
    [{ encoding_format: "int8" }, "encoding_format must be one of: float, base64"],
    [{ model: undefined }, "model must be a string"],
  ] as const) {
    test(`refuses ${JSON.stringify(body).slice(0, 60)} by the name of its field`, async () => {
      const asked = server.requests.length;
      const error = await refused(EMBEDDINGS, embed(body));
      expect(error).toMatchObject({ status: 400, code: "invalid_parameter" });
      expect(error.message).toStartWith(message);
      expect(server.requests).toHaveLength(asked);
    });
  }

  for (const [what, input, field] of [
    ["an array of tokens", [[1], Array(301).fill(7)], "input[1]"],
    ["a text", ["A fare", "fare ".repeat(400)], "input[1]"],
    ["one array of tokens", Array(301).fill(7), "input"],
  ] as const) {
    test(`${what} beyond the context of the model is refused, and costs nothing`, async () => {
      const own = await api.account({ paid: "5" });
      const error = await refused(EMBEDDINGS, embed({ input }), own);
      expect(error).toEqual({
        status: 400,
        code: "context_length_exceeded",
        message: `${field} is too long for 'vectors': its maximum context length is 300 tokens`,
      });
      expect(await api.holdRecords(own)).toEqual([]);
      const call = { path: EMBEDDINGS, body: embed({ input }) };
      const quote = await api.postTo("/v1/quote", own, call);
      expect(await quote.json()).toMatchObject({
        would_pass: false,
        refusal: { code: error.code, message: error.message },
      });
    });
  }

  test("a text of more bytes than the context has tokens is served if its tokens fit", async () => {
    const input = "fare ".repeat(200).trim();
    server.queue(vectorsOf([0], usage(200)));
    expect((await ask(EMBEDDINGS, embed({ input }))).usage.prompt_tokens).toBe(200);
  });

  test("a server's word that the input is too long is the refusal of the input", async () => {
    const message = "This model's maximum context length is 100 tokens";
    server.queue(jsonReply({ error: { message, code: "context_length_exceeded" } }, 400));
    const error = await refused(EMBEDDINGS, embed({}));
    expect(error).toMatchObject({ status: 400, code: "context_length_exceeded" });
    expect(error.message).toStartWith("input exceeds the model's maximum context length");
  });

  for (const [what, reply] of [
    ["fewer vectors than inputs", vectorsOf([0], usage(2))],
    ["a vector twice", vectorsOf([0, 0], usage(2))],
    ["an index that no input has", vectorsOf([0, 2], usage(2))],
    ["a vector without numbers", vectorsOf([0, 1], usage(2), [null])],
    ["an empty vector", vectorsOf([0, 1], usage(2), [])],
    ["base64 that is no floats", vectorsOf([0, 1], usage(2), "AAA=")],
    ["base64 with a number that JSON does not have", vectorsOf([0, 1], usage(2), "AADAfw==")],
    ["an error with status 200", jsonReply({ error: { message: "no" } })],
    ["an array", jsonReply([])],
    ["no JSON", { body: ["<html>"] }],
    ["status 500", jsonReply({}, 500)],
  ] as const) {
    test(`${what}: the next route serves; without one the call costs nothing`, async () => {
      const input = ["a", "b"];
      const own = await api.account({ paid: "5" });
      server.queue(reply);
      second.queue(vectorsOf([0, 1], usage(2)));
      const served = await ask(EMBEDDINGS, embed({ model: "two-routes", input }), own);
      expect(served.data).toHaveLength(2);
      expect((await lastOutcome(own))?.lane).toBe("second-ai");
      server.queue(reply);
      const error = await refused(EMBEDDINGS, embed({ input }), own);
      expect(error).toMatchObject({ status: 502, code: "upstream_unreachable" });
    });
  }

  test("a reply of more than 64 MB is not read to its end", async () => {
    const mebibyte = Buffer.alloc(1024 * 1024, " ");
    server.queue({ body: Array(65).fill(mebibyte) });
    expect(await refused(EMBEDDINGS, embed({}))).toMatchObject({ status: 502 });
  });

  test("a caller who leaves pays once the server has accepted the request", async () => {
    const own = await api.account({ paid: "5" });
    slow.gate = closedGate();
    const leaving = new AbortController();
    const body = embed({ model: "slow-vectors" });
    const call = api.postTo(EMBEDDINGS, own, body, { signal: leaving.signal });
    await until(() => slow.gate.arrivals === 1, "the server was asked");
    leaving.abort();
    await expect(call).rejects.toThrow();
    slow.gate.open();
    await until(async () => (await lastOutcome(own)) !== undefined, "the call is settled");
    const { status, promptTokens } = (await lastOutcome(own)) ?? {};
    expect([status, promptTokens]).toEqual([499, 2]);
    expect((await api.view(own)).monthSpent).toBe(usd("0.000002"));
  });
});

describe("ranks", () => {
  test("documents reach the server as texts, and come back as the caller asks", async () => {
    const documents = ["A price", { text: "A hold" }, "A fare"];
    const scores = [
      [0, 0.1],
      [2, 0.9],
      [1, 0.5],
    ] as const;
    server.queue(ranksOf(scores, { usage: { total_tokens: 9 } }));
    const reply = await ask(RERANK, rank({ documents, top_n: 2, return_documents: true }));
    expect(server.requests.at(-1)?.path).toBe("/rerank");
    expect(lastBody(server)).toEqual({
      model: "ranks-upstream",
      query: "What is a fare?",
      documents: ["A price", "A hold", "A fare"],
    });
    expect(reply).toMatchObject({ model: "ranks", usage: usage(9), svc: { cost_usd: 0.000009 } });
    expect(reply.results).toEqual([
      { index: 2, relevance_score: 0.9, document: { text: "A fare" } },
      { index: 1, relevance_score: 0.5, document: { text: "A hold" } },
    ] as never);
    expect(JSON.stringify(reply)).not.toContain("upstream");
  });

  test("are read in the form of Voyage too, which has no 'results' and no 'top_n'", async () => {
    const data = [0.2, 0.9].map((score, index) => ({ index, relevance_score: score }));
    server.queue(jsonReply({ object: "list", data, usage: { total_tokens: 9 } }));
    const reply = await ask(RERANK, rank({ top_n: 1 }));
    expect(lastBody(server)).not.toHaveProperty("top_n");
    expect(reply.results).toEqual([{ index: 1, relevance_score: 0.9 }] as never);
    expect(reply.svc.cost_usd).toBe(0.000009);
  });

  test("by the search: the bill of Cohere, with its address and key", async () => {
    const own = await api.account({ paid: "5" });
    cohere.queue(ranksOf([[1, 0.9]], { meta: { billed_units: { search_units: 1 } } }));
    const reply = await ask(RERANK, rank({ model: "cohere-ranks", top_n: 1 }), own);
    expect(cohere.requests.at(-1)?.path).toBe("/v2/rerank");
    expect(cohere.requests.at(-1)?.headers.authorization).toStartWith("Bearer ");
    expect(reply).toMatchObject({
      results: [{ index: 1, relevance_score: 0.9 }],
      meta: { billed_units: { search_units: 1 } },
      svc: { cost_usd: 0.002 },
    });
    expect((await lastOutcome(own))?.usageDetails).toEqual({
      fees: { search_unit: { calls: 1, queries: 1 } },
    });
  });

  test("by the search: long documents count as several, within the hold", async () => {
    const own = await api.account({ paid: "5" });
    const documents = Array(100).fill("fare ".repeat(300));
    cohere.queue(ranksOf([[0, 0.9]], { meta: { billed_units: { search_units: 2 } } }));
    const reply = await ask(RERANK, rank({ model: "cohere-ranks", documents }), own);
    expect(reply.svc.cost_usd).toBe(0.004);
  });

  test("by the search: more units than the documents can be are not believed", async () => {
    const own = await api.account({ paid: "5" });
    cohere.queue(ranksOf([[0, 0.9]], { meta: { billed_units: { search_units: 50 } } }));
    const reply = await ask(RERANK, rank({ model: "cohere-ranks" }), own);
    expect(reply.svc.cost_usd).toBe(0.002);
    expect((await lastOutcome(own))?.usageDetails?.source).toBe("contradicted");
  });

  test("by the search, where the server counts only tokens: 100 documents are one", async () => {
    const documents = Array(101).fill("A fare");
    server.queue(ranksOf([[0, 0.9]], { usage: { total_tokens: 400 } }));
    const reply = await ask(RERANK, rank({ model: "search-ranks", documents }));
    expect(reply).toMatchObject({ usage: usage(400), svc: { cost_usd: 0.004 } });
  });

  test("by the document", async () => {
    server.queue(ranksOf([[0, 0.9]], {}));
    const reply = await ask(RERANK, rank({ model: "document-ranks" }));
    expect(reply.svc.cost_usd).toBe(0.002);
  });

  test("without a usage the query is counted with each document", async () => {
    server.queue(ranksOf([[0, 0.9]], {}));
    const reply = await ask(RERANK, rank({}));
    const [query, ...documents] = ["What is a fare?", "A price", "A hold"].map(countTokens);
    const tokens = documents.reduce((sum, one) => sum + one + (query ?? 0), 0);
    expect(reply.usage).toEqual(usage(tokens));
  });

  for (const [what, reply] of [
    ["a rank of no document", ranksOf([[2, 0.9]], {})],
    [
      "a document twice",
      ranksOf(
        [
          [0, 0.9],
          [0, 0.8],
        ],
        {},
      ),
    ],
    ["no ranks", ranksOf([], {})],
    ["no scores", jsonReply({ results: [{ index: 0 }] })],
  ] as const) {
    test(`${what} from the server costs nothing`, async () => {
      server.queue(reply);
      expect(await refused(RERANK, rank({}))).toMatchObject({ status: 502 });
    });
  }

  for (const [body, message] of [
    [{ query: "" }, "query must not be an empty text"],
    [{ documents: [] }, "documents must be an array of 1 to 2048 documents"],
    [{ documents: "a" }, "documents must be an array of 1 to 2048 documents"],
    [{ documents: Array(2_049).fill("a") }, "documents must have at most 2048 items"],
    [{ documents: ["a", ""] }, "documents[1] must not be an empty text"],
    [{ documents: ["a", { image: "a" }] }, "documents[1].text must"],
    [{ documents: [5] }, "documents[0] must be a text, or an object with a text"],
    [{ top_n: 0 }, "top_n must be an integer from 1 to 2048"],
    [{ return_documents: "yes" }, "return_documents must be true or false"],
  ] as const) {
    test(`refuses ${JSON.stringify(body).slice(0, 60)} by the name of its field`, async () => {
      const error = await refused(RERANK, rank(body));
      expect(error).toMatchObject({ status: 400, code: "invalid_parameter" });
      expect(error.message).toStartWith(message);
    });
  }
});

describe("models", () => {
  const RANKS = "Models for reranking: ranks, cohere-ranks, search-ranks, document-ranks";
  const NO_RANKS = `not reranking. ${RANKS}`;
  const NO_VECTORS =
    "not embeddings. Models for embeddings: vectors, slow-vectors, two-routes, paid-vectors";
  for (const [path, body, message] of [
    [EMBEDDINGS, embed({ model: "chatty" }), `The model 'chatty' serves chat, ${NO_VECTORS}`],
    [EMBEDDINGS, embed({ model: "ranks" }), `The model 'ranks' serves reranking, ${NO_VECTORS}`],
    [RERANK, rank({ model: "vectors" }), `The model 'vectors' serves embeddings, ${NO_RANKS}`],
    [RERANK, rank({ model: "auto" }), `model must be an id from the list of models. ${RANKS}`],
  ] as const) {
    test(`${path} refuses '${body.model}' by name, and names those of its use`, async () => {
      const error = await refused(path, body);
      expect(error).toEqual({ status: 404, code: "model_not_found", message });
    });
  }

  test("a paused model is refused, and so is every one while chat is paused", async () => {
    for (const target of ["model:vectors", "chat"]) {
      api.paused.add(target);
      const error = await refused(EMBEDDINGS, embed({}));
      expect(error).toMatchObject({ status: 503, code: "model_unavailable" });
      api.paused.clear();
    }
  });

  test("both doors stand in the Application API, which names the balance", async () => {
    const own = await api.account({ surface: "application", plan: "max", paid: "5" });
    server.queue(vectorsOf([0], usage(2)), ranksOf([[0, 0.9]], { usage: { total_tokens: 9 } }));
    const vectors = await ask("/api/v1/embeddings", embed({}), own);
    expect(vectors.svc).toMatchObject({ cost_usd: 0.000002, credits_left_usd: 4.999998 });
    const ranks = await ask("/api/v1/rerank", rank({}), own);
    expect(ranks.svc).toMatchObject({ cost_usd: 0.000009, credits_left_usd: 4.999989 });
  });

  test("a key without the scope for models is refused", async () => {
    const own = await api.account({ paid: "5", scopes: ["search"] });
    const error = await refused(EMBEDDINGS, embed({}), own);
    expect(error).toMatchObject({ status: 403, code: "insufficient_scope" });
  });
});
