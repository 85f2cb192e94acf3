// The requests of the load: as many different ones as users would send, and the same in each run.

import type { UpstreamInit } from "../../src/upstream/upstream-http.ts";

/** The number of requests, so high that no cache of a gateway keeps all of them. */
export const VARIANTS = 3_000;
/** A model of the load has these names too, which differ in nothing but their name. */
export const MODEL_SUFFIXES = ["", "-mini", "-large"] as const;

const WORDS =
  `a prepaid gateway holds the most that call can cost before it asks any server and gives back
whatever was not used when reply has come so balance never goes below zero however many processes
share one Redis while streams run for minutes people search maps and mail through their own key
über größe été niño 東京 данные`.split(/\s+/);
const AGENTS = [
  { "user-agent": "OpenAI/Python 1.109.1", "x-stainless-lang": "python" },
  { "user-agent": "OpenAI/JS 5.23.2", "x-stainless-lang": "js", "x-stainless-retry-count": "0" },
  { "user-agent": "langchain-openai/0.3.33" },
  { "user-agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/141.0.0.0" },
  { "user-agent": "curl/8.14.1", accept: "*/*" },
] as const;
/** A server keeps the limit: the longest replies of the upstream have 200 tokens. */
const LIMIT_MIN = 256;
const LIMIT_MORE = 448;
const MESSAGES_MAX = 6;
const WORDS_MAX = 60;

/** A request, and its sender. */
export interface RequestVariant {
  readonly body: string;
  /** The headers of its agent, and the address that a proxy has seen. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The form of a body: that of chat completions, of another door, or of a quote of a chat. */
export type RequestForm = keyof typeof FORMS;

export interface RequestKind {
  /** The model "search" stands for a search. */
  readonly model: string;
  readonly stream: boolean;
  /** The form of the body; left out for that of chat completions. */
  readonly form?: RequestForm | undefined;
}

/** Numbers from 0 to 1 that follow from the seed. */
export function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The request of this number. */
export function requestOf(kind: RequestKind, number: number): RequestVariant {
  const next = numbersFrom(number + 1);
  const agent = AGENTS[number % AGENTS.length];
  const address = `100.${64 + (number % 61)}.${number % 251}.7`;
  return { body: bodyOf(kind, next), headers: { ...agent, "x-forwarded-for": address } };
}

/** All requests of a kind, by these callers in turn. */
export function variantsOf(
  kind: RequestKind,
  callers: readonly Readonly<Record<string, string>>[],
): readonly RequestVariant[] {
  return Array.from({ length: VARIANTS }, (_, number) => {
    const { body, headers } = requestOf(kind, number);
    const caller = callers[number % callers.length];
    return { body, headers: { "accept-encoding": "identity", ...headers, ...caller } };
  });
}

/** A request for the client of the product, which reads streams. */
export function initOf({ body, headers }: RequestVariant): UpstreamInit {
  return {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
    signal: null,
    redirect: "manual",
    timeout: false,
  };
}

interface ChatMessage {
  readonly role: string;
  readonly content: string;
}

/** The terms of a request that every form has. */
interface Chat {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly max_tokens: number;
  readonly stream?: boolean;
}

/** The body of a chat in each form; `optional` are parameters of chat completions. */
const FORMS = {
  chat: (chat: Chat, optional: object) => ({ ...chat, ...optional }),
  messages: ({ messages, ...chat }: Chat) => {
    const [first, ...others] = messages;
    if (first?.role !== "system") return { ...chat, messages };
    return { ...chat, system: first.content, messages: others };
  },
  responses: ({ messages, max_tokens: max_output_tokens, ...chat }: Chat) => {
    const limited = { ...chat, max_output_tokens };
    const [first, ...others] = messages;
    if (first?.role !== "system") return { ...limited, input: messages };
    return { ...limited, instructions: first.content, input: others };
  },
  quote: (chat: Chat, optional: object) => ({
    path: "/v1/chat/completions",
    body: { ...chat, ...optional },
  }),
} satisfies Record<string, (chat: Chat, optional: object) => object>;

function bodyOf({ model, stream, form = "chat" }: RequestKind, next: () => number): string {
  if (model === "search") return JSON.stringify({ query: promptOf(next, 6), max_results: 10 });
  const count = 1 + Math.floor(next() * MESSAGES_MAX);
  const messages = Array.from({ length: count }, (_, at) => ({
    role: at === 0 && count > 1 ? "system" : (count - at) % 2 === 1 ? "user" : "assistant",
    content: promptOf(next, WORDS_MAX),
  }));
  const optional: readonly (readonly [string, unknown])[] = [
    ["temperature", Math.round(next() * 20) / 10],
    ["top_p", 0.9],
    ["user", `user-${Math.floor(next() * 10_000)}`],
    ["seed", Math.floor(next() * 1_000)],
    ["stop", ["\n\n", "END"]],
    ["presence_penalty", 0.1],
  ];
  const chat = {
    model: model + MODEL_SUFFIXES[Math.floor(next() * MODEL_SUFFIXES.length)],
    messages,
    max_tokens: LIMIT_MIN + Math.floor(next() * LIMIT_MORE),
    ...(stream ? { stream: true } : {}),
  };
  const given = Object.fromEntries(optional.filter(() => next() < 0.3));
  return JSON.stringify(FORMS[form](chat, given));
}

function promptOf(next: () => number, most: number): string {
  const count = 1 + Math.floor(next() * most);
  const word = () => WORDS[Math.floor(next() * WORDS.length)];
  return Array.from({ length: count }, word).join(" ");
}
