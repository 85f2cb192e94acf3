// Sends the replies of test/unit/services/chat/corpus through the whole product, from the server to
// the caller's bill.

import { describe, expect, test } from "bun:test";
import { exactCost } from "../../../src/core/money/call-cost.ts";
import { usd } from "../../../src/core/money/money.ts";
import { gatewayReplies } from "../../../src/services/chat/doors/completions/chat-reply.ts";
import { bandPrices } from "../../../src/services/chat/models/catalogue.ts";
import type { ChatDelta } from "../../../src/services/chat/protocols/provider.ts";
import { countTokens } from "../../../src/services/chat/tokens/tokens.ts";
import { type Catalogue, catalogueOf } from "../../../src/settings/catalogue.ts";
import { chatBody } from "../../support/api/api-world.ts";
import { chatOver, modelOf, providerAt } from "../../support/api/chat-routes.ts";
import { misfit } from "../../support/api/contract.ts";
import {
  assembled,
  type CallersReply,
  type CorpusCase,
  corpus,
  expectedOf,
  streamTypeOf,
  wholeOf,
} from "../../support/api/reply-corpus.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { atEnd } from "../../support/shared.ts";

const CASES = new Map(corpus().map((one) => [one.name, one]));
const PRICES = bandPrices({ input: "1", output: "2", cachedInput: "0.1" });
const NEXT = "From the next route";
const NEXT_USAGE = { prompt_tokens: 7, completion_tokens: 4, total_tokens: 11 };

/** Serves each case under its own name, and a good reply under `next`. */
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const [, name = ""] = new URL(request.url).pathname.split("/");
    const { stream } = (await request.json()) as { readonly stream: boolean };
    const one = CASES.get(name);
    const bytes = one === undefined ? nextReply(stream) : stream ? one.streamBytes : one.whole;
    const streamType = one === undefined ? "text/event-stream" : streamTypeOf(one);
    const type = stream ? streamType : "application/json";
    return new Response(Buffer.from(bytes ?? ""), { headers: { "content-type": type } });
  },
});
atEnd(() => server.stop(true));

function nextReply(stream: boolean): string {
  const said = { role: "assistant", content: NEXT };
  const field = stream ? "delta" : "message";
  const choices = [{ index: 0, [field]: said, finish_reason: "stop" }];
  const json = JSON.stringify({ choices, usage: NEXT_USAGE });
  return stream ? `data: ${json}\n\ndata: [DONE]\n\n` : json;
}

const providers = [...CASES.keys(), "next"].map((name) =>
  providerAt(`http://127.0.0.1:${server.port}/${name}`, { name }),
);
const models = [...CASES.values()].map(({ name, showsReasoning = false }) => ({
  ...modelOf([name, "m"], ["next", "m"]),
  id: name,
  prices: PRICES,
  showsReasoning,
}));
/** A model without another route. */
const alone = models.map((model) => ({
  ...model,
  id: `${model.id}-alone`,
  routes: model.routes.slice(0, 1),
}));
const catalogue: Catalogue = catalogueOf([...models, ...alone], providers);
const api = await sharedApi({
  catalogue: () => catalogue,
  chat: chatOver(catalogue),
});

interface UsageJson {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly prompt_tokens_details?: { readonly cached_tokens: number };
}

interface Chunk {
  readonly choices?: readonly ChatDelta[];
  readonly usage?: UsageJson;
  readonly error?: { readonly code: string };
}

/** The response to a call for a case, and the charge. */
async function ask({ name }: Pick<CorpusCase, "name">, stream: boolean) {
  const account = await api.account({ paid: "1" });
  const response = await api.post(account, chatBody({ model: name, stream }));
  expect(response.status).toBe(200);
  const text = await response.text();
  const { monthSpent, heldPaid } = await api.view(account);
  expect(heldPaid).toBe(0n as typeof heldPaid);
  return { text, spent: monthSpent };
}

function chunksOf(text: string): { chunks: Chunk[]; isDone: boolean } {
  // Clients that split at every line end of Unicode must find the same frames.
  const lines = text.split(/[\n\r\u0085\u2028\u2029]/).filter((line) => line !== "");
  const frames = lines.map((line) => line.slice("data: ".length));
  const chunks = frames.filter((frame) => frame !== "[DONE]").map((json) => JSON.parse(json));
  return { chunks, isDone: frames.at(-1) === "[DONE]" };
}

function expectCharge(spent: bigint, usage: UsageJson, reply: CallersReply): void {
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = usage;
  const cachedTokens = usage.prompt_tokens_details?.cached_tokens ?? 0;
  expect(spent).toBe(exactCost(PRICES, { promptTokens, cachedTokens, completionTokens }));
  if (reply.usage === null) expect(completionTokens).toBe(countTokens(reply.text.trimEnd()));
  else expect([promptTokens, cachedTokens, completionTokens]).toEqual([...reply.usage]);
}

function costOf(promptTokens: number, completionTokens: number) {
  return exactCost(PRICES, { promptTokens, cachedTokens: 0, completionTokens });
}

/** Our own count of the prompt that all cases have. */
async function promptTokens(): Promise<number> {
  const { chunks } = chunksOf((await ask({ name: "no-usage" }, true)).text);
  return chunks.at(-1)?.usage?.prompt_tokens ?? Number.NaN;
}

const NEXT_REPLY: CallersReply = {
  text: NEXT,
  reasoning: "",
  refusal: "",
  calls: [],
  finish: "stop",
  usage: [NEXT_USAGE.prompt_tokens, 0, NEXT_USAGE.completion_tokens],
};

for (const one of CASES.values()) {
  const { failed, ...own } = expectedOf(one);
  const isNext = "next" in one.expect;
  const expected = isNext ? NEXT_REPLY : own;
  describe(`${one.name}: ${one.report}`, () => {
    if (one.streamBytes !== null) {
      test("a stream", async () => {
        const { text, spent } = await ask(one, true);
        const { chunks, isDone } = chunksOf(text);
        const last = chunks.at(-1);
        for (const chunk of chunks) {
          if (chunk.error === undefined) expect(misfit(gatewayReplies.chunk, chunk)).toBeNull();
        }
        if (failed && !isNext) {
          expect(last?.error?.code).toBe("upstream_unreachable");
          expect(isDone).toBe(false);
          const batches = chunks.map(({ choices = [] }) => ({ deltas: choices, usage: null }));
          expect(assembled(batches).text).toBe(expected.text);
          expect(spent).toBe(costOf(await promptTokens(), countTokens(expected.text)));
          return;
        }
        expect(isDone).toBe(true);
        const deltas = chunks.flatMap(({ choices = [] }) => choices);
        const { usage: _, ...reply } = assembled([{ deltas, usage: null }]);
        const { usage: __, ...wanted } = expected;
        expect(reply).toEqual(wanted);
        if (last?.usage === undefined) throw new Error("The last frame has no usage");
        expectCharge(spent, last.usage, expected);
      });
    }

    if (one.whole !== null) {
      test("a whole reply", async () => {
        const { text, spent } = await ask(one, false);
        const { usage, choices } = JSON.parse(text);
        const { usage: _, ...wanted } = expected;
        expect(wholeOf(choices[0])).toEqual(wanted);
        expectCharge(spent, usage, expected);
      });
    }
  });
}

test("a failed reply without another route is a 502 that costs nothing", async () => {
  for (const one of CASES.values()) {
    if (!("next" in one.expect)) continue;
    const account = await api.account({ paid: "1" });
    for (const stream of [true, false]) {
      if ((stream ? one.streamBytes : one.whole) === null) continue;
      const body = chatBody({ model: `${one.name}-alone`, stream });
      const response = await api.post(account, body);
      expect({ name: one.name, status: response.status }).toEqual({ name: one.name, status: 502 });
      expect(response.headers.get("x-svc-cost-usd")).toBe("0");
    }
    const { paid, heldPaid } = await api.view(account);
    expect([paid, heldPaid]).toEqual([usd("1"), usd("0")]);
  }
});
