// An API for the door for Responses, with one server of its own form and one of chat's, both over a
// socket.

import { expect } from "bun:test";
import { bandPrices, type ModelEntry } from "../../../src/services/chat/models/catalogue.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { SSE, typedEvent } from "../fakes/wire/wire-answer.ts";
import { startWireServer, type WireReply, type WireServer } from "../fakes/wire/wire-server.ts";
import { shared } from "../shared.ts";
import type { TestAccount } from "../stores/accounts.ts";
import { type ApiWorld, type ErrorJson, errorOf } from "./api-world.ts";
import { chatOver, modelOf, providerAt } from "./chat-routes.ts";
import { sharedApi } from "./shared-api.ts";

export const KEY_OF_SERVER = "sk-canary";

export interface ResponsesWorld {
  readonly api: ApiWorld;
  /** Speaks Responses. */
  readonly own: WireServer;
  /** Speaks chat completions. */
  readonly chat: WireServer;
  post(account: TestAccount, body: object): Promise<Response>;
  /** Posts a body that must be refused, for nothing and without a request to any server. */
  refusal(account: TestAccount, body: object, status?: number): Promise<RefusalJson>;
}

export interface RefusalJson extends ErrorJson {
  readonly param: string | null;
}

export interface ReplyJson {
  readonly output: readonly (Readonly<Record<string, unknown>> & {
    readonly id: string;
    readonly type: string;
  })[];
  readonly svc: { readonly ignored?: readonly string[] };
}

/** The reply of a response, which must be a success. */
export async function replyIn(response: Response): Promise<ReplyJson> {
  expect([response.status, response.ok ? "" : await response.text()]).toEqual([200, ""]);
  return (await response.json()) as ReplyJson;
}

const PRICES = bandPrices({ input: "1", output: "2", cachedInput: "0.1" });
const IMAGES = {
  kinds: ["image", "pdf"],
  imageBounds: [2_000],
  pdfTokensMax: 1_000,
  takesAddresses: false,
} as const satisfies ModelEntry["media"];

/** The models of both servers; each is one that differs in one way. */
export async function sharedResponses(): Promise<ResponsesWorld> {
  const own = await shared(startWireServer());
  const chat = await shared(startWireServer());
  const identifiers = {
    preset: "openai-responses",
    fields: ["safety_identifier", "prompt_cache_key"],
  } as const;
  const kind = "openai-responses";
  const providers = [
    providerAt(own.url, { name: "own", kind, apiKey: KEY_OF_SERVER, identifiers }),
    providerAt(chat.url, { name: "chat" }),
  ];
  const model = (id: string, provider: string, more: Partial<ModelEntry> = {}): ModelEntry => ({
    ...modelOf([provider, `${id}-there`]),
    id,
    prices: PRICES,
    ...more,
  });
  const models = [
    model("own-test", "own", { aliases: ["gpt-*"] }),
    model("chat-test", "chat"),
    model("thinker", "chat", { showsReasoning: true }),
    model("viewer", "chat", { media: IMAGES }),
    model("writer", "chat", { maxOutputTokens: 50_000 }),
    model("short-writer", "chat", { maxOutputTokens: 6_000, contextTokens: 6_000 }),
  ];
  const catalogue = catalogueOf(models, providers);
  const api = await sharedApi({ catalogue: () => catalogue, chat: chatOver(catalogue) });
  const post: ResponsesWorld["post"] = (account, body) =>
    api.postTo("/v1/responses", account, body);
  return {
    api,
    own,
    chat,
    post,
    refusal: async (account, body, status = 400) => {
      const before = own.requests.length + chat.requests.length;
      const response = await post(account, body);
      expect(response.status).toBe(status);
      expect(response.headers.get("x-svc-cost-usd")).toBe("0");
      expect(own.requests.length + chat.requests.length).toBe(before);
      return (await errorOf(response)) as RefusalJson;
    },
  };
}

/** The usage of the replies below: $0.0000316 with the prices of the world's models. */
export const OWN_USAGE = {
  input_tokens: 26,
  input_tokens_details: { cached_tokens: 16, cache_write_tokens: 0 },
  output_tokens: 10,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 36,
};

/** A response of a server of the same form. */
export function ownResponse(output: readonly object[], more: object = {}) {
  return {
    id: "resp_upstream",
    object: "response",
    created_at: 1_795_000_000,
    completed_at: 1_795_000_001,
    status: "completed",
    model: "own-test-there-2026",
    output,
    service_tier: "default",
    safety_identifier: "hashed",
    max_output_tokens: 4_096,
    usage: OWN_USAGE,
    ...more,
  };
}

export function ownWhole(output: readonly object[], more: object = {}): WireReply {
  return { body: [JSON.stringify(ownResponse(output, more))] };
}

export const OWN_THOUGHT = {
  id: "rs_1",
  type: "reasoning",
  summary: [{ type: "summary_text", text: "A fare?" }],
  encrypted_content: "c2VhbGVk",
};
export const OWN_MESSAGE = {
  id: "msg_1",
  type: "message",
  status: "completed",
  role: "assistant",
  phase: "final_answer",
  content: [{ type: "output_text", text: "I look.", annotations: [], logprobs: [] }],
};
export const OWN_CALL = {
  id: "ctc_1",
  type: "custom_tool_call",
  status: "completed",
  call_id: "call_1",
  name: "exec",
  namespace: "functions",
  input: "text(42)",
};

/** The events of a stream of a server of the same form: a thought, a text and a call. */
export function ownEvents(): string[] {
  const [thought, message, call] = [OWN_THOUGHT, OWN_MESSAGE, OWN_CALL];
  const open = { usage: null, completed_at: null, status: "in_progress" };
  const response = ownResponse([], open);
  const text = { item_id: message.id, output_index: 1, content_index: 0 };
  const input = { item_id: call.id, output_index: 2 };
  const events: [string, object][] = [
    ["created", { response }],
    ["in_progress", { response }],
    ["output_item.added", { output_index: 0, item: { ...thought, summary: [] } }],
    [
      "reasoning_summary_text.delta",
      { item_id: thought.id, output_index: 0, summary_index: 0, delta: "A fare?" },
    ],
    ["output_item.done", { output_index: 0, item: thought }],
    ["output_item.added", { output_index: 1, item: { ...message, content: [] } }],
    ["output_text.delta", { ...text, delta: "I ", logprobs: [] }],
    ["output_text.delta", { ...text, delta: "look.", logprobs: [] }],
    ["output_item.done", { output_index: 1, item: message }],
    ["output_item.added", { output_index: 2, item: { ...call, input: "" } }],
    ["custom_tool_call_input.delta", { ...input, delta: "text(42)" }],
    ["custom_tool_call_input.done", { ...input, input: "text(42)" }],
    ["output_item.done", { output_index: 2, item: call }],
    ["completed", { response: ownResponse([thought, message, call]) }],
  ];
  return events.map(([name, data], sequence_number) =>
    typedEvent(`response.${name}`, { ...data, sequence_number: 7 + sequence_number }),
  );
}

export function ownStream(events: readonly string[] = ownEvents()): WireReply {
  return { headers: SSE, body: events };
}
