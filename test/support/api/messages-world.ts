// An API for the door for Messages, with one server of its own form and one of chat's, both over a
// socket.

import { expect } from "bun:test";
import { bandPrices, type ModelEntry } from "../../../src/services/chat/models/catalogue.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { SSE, sse, typedEvent } from "../fakes/wire/wire-answer.ts";
import { startWireServer, type WireReply, type WireServer } from "../fakes/wire/wire-server.ts";
import { shared } from "../shared.ts";
import type { TestAccount } from "../stores/accounts.ts";
import type { ApiWorld } from "./api-world.ts";
import { chatOver, modelOf, providerAt } from "./chat-routes.ts";
import { sharedApi } from "./shared-api.ts";

export const KEY_OF_SERVER = "sk-ant-canary";

export interface MessagesWorld {
  readonly api: ApiWorld;
  /** Speaks Messages. */
  readonly own: WireServer;
  /** Speaks chat completions. */
  readonly chat: WireServer;
  post(account: TestAccount, body: object, headers?: Record<string, string>): Promise<Response>;
}

const PRICES = bandPrices({ input: "1", output: "2", cachedInput: "0.1" });

export async function sharedMessages(): Promise<MessagesWorld> {
  const own = await shared(startWireServer());
  const chat = await shared(startWireServer());
  const identifiers = { preset: "anthropic", fields: ["metadata.user_id"] } as const;
  const providers = [
    providerAt(own.url, { name: "own", kind: "anthropic", apiKey: KEY_OF_SERVER, identifiers }),
    providerAt(chat.url, { name: "chat" }),
  ];
  const model = (id: string, provider: string, more: Partial<ModelEntry> = {}): ModelEntry => ({
    ...modelOf([provider, `${id}-there`]),
    id,
    prices: PRICES,
    ...more,
  });
  const models = [
    model("claude-test", "own", { aliases: ["claude-newest"] }),
    model("chat-test", "chat", { aliases: ["claude-*"] }),
    model("thinker", "chat", { showsReasoning: true }),
  ];
  const catalogue = catalogueOf(models, providers);
  const api = await sharedApi({ catalogue: () => catalogue, chat: chatOver(catalogue) });
  return {
    api,
    own,
    chat,
    post: (account, body, headers = {}) =>
      api.postTo("/v1/messages?beta=true", account, body, {
        headers: { "anthropic-version": "2023-06-01", ...headers },
      }),
  };
}

/** The parts of a request that were left out, by their names; the request must be served. */
export async function ignoredIn(response: Response): Promise<readonly string[]> {
  expect(response.status).toBe(200);
  const { svc } = (await response.json()) as { svc: { ignored?: readonly string[] } };
  return svc.ignored ?? [];
}

/** An event of a stream, as a client reads it. */
export interface ReadEvent {
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The events of a stream of Messages, each with its name. */
export function eventsOf(text: string): ReadEvent[] {
  return text
    .split("\n\n")
    .filter((frame) => frame !== "")
    .map((frame) => {
      const [, name = "", data = "{}"] = /^event: (.*)\ndata: (.*)$/.exec(frame) ?? [];
      return { name, data: JSON.parse(data) };
    });
}

/** The usage of the replies below: $0.0000316 with the prices of the world's models. */
export const USAGE = {
  input_tokens: 10,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 16,
  output_tokens: 10,
};
export const COST = 0.0000316;

/** A stream of Messages as Anthropic sends it: a thought, a text and a call of a tool. */
export function ownEvents(): string[] {
  const message = {
    id: "msg_upstream",
    type: "message",
    role: "assistant",
    model: "claude-test-there",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...USAGE, output_tokens: 1, service_tier: "standard" },
  };
  const thinking = { type: "thinking_delta", thinking: "A fare?" };
  return [
    typedEvent("message_start", { message }),
    typedEvent("content_block_start", {
      index: 0,
      content_block: { type: "thinking", thinking: "", signature: "" },
    }),
    typedEvent("ping"),
    typedEvent("content_block_delta", { index: 0, delta: thinking }),
    typedEvent("content_block_delta", {
      index: 0,
      delta: { type: "signature_delta", signature: "c2lnbmVk" },
    }),
    typedEvent("content_block_stop", { index: 0 }),
    typedEvent("content_block_start", { index: 1, content_block: { type: "text", text: "" } }),
    typedEvent("content_block_delta", { index: 1, delta: { type: "text_delta", text: "I look." } }),
    typedEvent("content_block_stop", { index: 1 }),
    typedEvent("content_block_start", {
      index: 2,
      content_block: { type: "tool_use", id: "toolu_1", name: "Read", input: {} },
    }),
    typedEvent("content_block_delta", {
      index: 2,
      delta: { type: "input_json_delta", partial_json: '{"file_path":"fare.txt"}' },
    }),
    typedEvent("content_block_stop", { index: 2 }),
    typedEvent("message_delta", {
      delta: { stop_reason: "tool_use", stop_sequence: null },
      usage: { output_tokens: USAGE.output_tokens },
    }),
    typedEvent("message_stop"),
  ];
}

export function ownStream(events: readonly string[] = ownEvents()): WireReply {
  return { headers: SSE, body: events };
}

/** A whole message of a server of the same form. */
export function ownWhole(more: object = {}): WireReply {
  const message = {
    id: "msg_upstream",
    type: "message",
    role: "assistant",
    model: "claude-test-there",
    content: [{ type: "text", text: "42" }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { ...USAGE, service_tier: "standard" },
    ...more,
  };
  return { body: [JSON.stringify(message)] };
}

const CHAT_USAGE = {
  prompt_tokens: 26,
  completion_tokens: 10,
  total_tokens: 36,
  prompt_tokens_details: { cached_tokens: 16 },
};

/** A stream of chat completions with these deltas. */
export function chatStream(deltas: readonly object[], finish = "stop"): WireReply {
  const chunk = (delta: object, finish_reason: string | null) =>
    sse({
      id: "c",
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, finish_reason }],
    });
  return {
    headers: SSE,
    body: [
      ...deltas.map((delta) => chunk(delta, null)),
      chunk({}, finish),
      sse({ choices: [], usage: CHAT_USAGE }),
      "data: [DONE]\n\n",
    ],
  };
}

/** A whole chat completion with this message. */
export function chatWhole(message: object, finish_reason = "stop"): WireReply {
  const choices = [{ index: 0, message: { role: "assistant", ...message }, finish_reason }];
  return { body: [JSON.stringify({ id: "c", choices, usage: CHAT_USAGE })] };
}
