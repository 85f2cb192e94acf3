// Every form of provider, from a caller's request to the bill, against a server of models that
// others wrote: https://www.npmjs.com/package/@copilotkit/aimock.

import { beforeEach, describe, expect, test } from "bun:test";
import { LLMock } from "@copilotkit/aimock";
import { ZERO } from "../../../src/core/money/money.ts";
import type { ModelEntry, ProviderEntry } from "../../../src/services/chat/models/catalogue.ts";
import { type Catalogue, catalogueOf } from "../../../src/settings/catalogue.ts";
import { chatBody } from "../../support/api/api-world.ts";
import { chatOver, KEY, modelOf, providerAt } from "../../support/api/chat-routes.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { eventually } from "../../support/eventually.ts";
import { sharedServiceAccount } from "../../support/fakes/wire/wire-forms.ts";
import { atEnd } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

const mock = new LLMock({ port: 0 });
await mock.start();
atEnd(() => mock.stop());
const serviceAccount = sharedServiceAccount();
const cloud = { region: "us-east-1", serviceAccount };

type Kind = Exclude<ProviderEntry["kind"], "guide">;

/** The path of each provider's API at the server, and the name of a model there. */
const PLACES: Readonly<Record<Kind, readonly [path: string, model: string]>> = {
  openai: ["/v1", "gpt-4.1"],
  anthropic: ["/v1", "claude-opus-5"],
  google: ["/v1beta", "gemini-3-pro-preview"],
  "google-vertex": ["/v1/projects/p1/locations/us-east1", "gemini-3-pro-preview"],
  "amazon-bedrock": ["", "us.anthropic.claude-opus-4-8-v1:0"],
  cohere: ["/v2", "command-a-03-2025"],
  "openai-responses": ["/v1", "gpt-5.6-sol"],
};
const KINDS = Object.keys(PLACES) as Kind[];
/** This server begins a text of Cohere without its `text`, which Cohere's own streams have. */
const STREAMS: readonly Kind[] = KINDS.filter((kind) => kind !== "cohere");

const providers = KINDS.map((kind) =>
  providerAt(`${mock.url}${PLACES[kind][0]}`, { name: `p-${kind}`, kind, cloud }),
);
const models = KINDS.map((kind): ModelEntry => {
  const routes = [{ provider: `p-${kind}`, model: PLACES[kind][1] }];
  return { ...modelOf(["x", "x"]), id: kind, routes };
});
const catalogue: Catalogue = catalogueOf(models, providers);
const api = await sharedApi({ catalogue: () => catalogue, chat: chatOver(catalogue) });

const TEXT = "Fares are paid before the ride begins.";
const USAGE = {
  prompt_tokens: 21,
  completion_tokens: 9,
  total_tokens: 30,
  input_tokens: 21,
  output_tokens: 9,
  promptTokenCount: 21,
  candidatesTokenCount: 9,
  totalTokenCount: 30,
};
const TOOL = {
  type: "function",
  function: {
    name: "find_fare",
    parameters: { type: "object", properties: { zone: { type: "string" } } },
  },
};

beforeEach(() => {
  mock.reset();
  mock.onMessage(/what/i, { content: TEXT, usage: USAGE });
  mock.onMessage(/tool/i, {
    toolCalls: [{ id: "call_1", name: "find_fare", arguments: '{"zone":"B"}' }],
    usage: USAGE,
  });
  mock.onMessage(/slow/i, { content: TEXT.repeat(20), usage: USAGE }, { latency: 5, chunkSize: 4 });
  mock.onMessage(/busy/i, { error: { message: `Slow ${KEY}` }, status: 429 });
  mock.onMessage(/wrong/i, { error: { message: `Wrong key ${KEY}` }, status: 401 });
  mock.onMessage(/broken/i, { error: { message: "Overloaded" }, status: 529 });
});

function body(kind: Kind, content: string, more: object = {}) {
  return chatBody({ model: kind, messages: [{ role: "user", content }], max_tokens: 50, ...more });
}

const account = () => api.account({ contract: "enterprise", paid: "100" });

interface Reply {
  readonly choices: readonly [
    { readonly message: Record<string, unknown>; readonly finish_reason: string },
  ];
  readonly usage: object;
  readonly svc: { readonly cost_usd: number };
}

interface Chunk {
  readonly choices: readonly { readonly delta: Record<string, never>; finish_reason: string }[];
  readonly usage?: object;
  readonly svc?: Reply["svc"];
}

async function streamed(asker: TestAccount, kind: Kind, content: string, more: object = {}) {
  const response = await api.post(asker, body(kind, content, { ...more, stream: true }));
  const text = await response.text();
  const frames = text.split("\n\n").filter((frame) => frame.startsWith("data: {"));
  const chunks = frames.map((frame) => JSON.parse(frame.slice(6)) as Chunk);
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
  const last = chunks.at(-1);
  return {
    text: deltas.map(({ content: piece = "" }) => piece).join(""),
    calls: deltas.flatMap(({ tool_calls: calls = [] }) => calls),
    finish: last?.choices[0]?.finish_reason,
    usage: last?.usage,
    cost: last?.svc?.cost_usd,
  };
}

describe.each(KINDS)("%s", (kind) => {
  test("answers and costs the same whole and streamed", async () => {
    const asker = await account();
    const response = await api.post(asker, body(kind, "What is a fare?"));
    expect(response.status).toBe(200);
    const reply = (await response.json()) as Reply;
    const [{ message, finish_reason: finish }] = reply.choices;
    expect([message.content, finish]).toEqual([TEXT, "stop"]);
    expect(reply.svc.cost_usd).toBeGreaterThan(0);
    if (!STREAMS.includes(kind)) return;
    const stream = await streamed(asker, kind, "What is a fare?");
    const { usage, svc } = reply;
    expect(stream).toEqual({ text: TEXT, calls: [], finish: "stop", usage, cost: svc.cost_usd });
  });

  test("calls tools", async () => {
    const asker = await account();
    const tools = { tools: [TOOL], tool_choice: "auto" };
    const response = await api.post(asker, body(kind, "Use the tool", tools));
    const { choices } = (await response.json()) as Reply;
    const called = { function: { name: "find_fare", arguments: '{"zone":"B"}' } };
    expect(choices[0]).toMatchObject({
      message: { tool_calls: [called] },
      finish_reason: "tool_calls",
    });
    const stream = await streamed(asker, kind, "Use the tool", tools);
    expect(stream.finish).toBe("tool_calls");
    const pieces = stream.calls as readonly { readonly function: { arguments: string } }[];
    const input = pieces.map((piece) => piece.function.arguments).join("");
    expect(JSON.parse(input)).toEqual({ zone: "B" });
  });

  test.each(["wrong", "busy", "broken"])("that is %s is a 502 that costs nothing", async (how) => {
    const asker = await account();
    for (const stream of [false, true]) {
      const response = await api.post(asker, body(kind, `Be ${how}`, { stream }));
      expect(response.status).toBe(502);
      const text = await response.text();
      expect(text).toContain("upstream_unreachable");
      expect(text).not.toContain(KEY);
      expect(response.headers.get("x-svc-cost-usd")).toBe("0");
    }
  });
});

test.each(STREAMS)(
  "%s lets a caller leave after the first event, for what came, with no hold left",
  async (kind) => {
    const asker = await account();
    const leaving = new AbortController();
    const response = await api.post(asker, body(kind, "Be slow", { stream: true }), {
      signal: leaving.signal,
    });
    const reader = response.body?.getReader();
    await reader?.read();
    leaving.abort();
    await eventually("the end of the call", async () => (await api.journal(asker)).length > 0);
    const [entry] = await api.journal(asker);
    expect(entry?.end).toMatchObject({ errorCode: "client_disconnected" });
    expect(entry?.end?.completionTokens ?? 0).toBeLessThan(150);
    expect((await api.view(asker)).heldPaid).toBe(ZERO);
  },
);
