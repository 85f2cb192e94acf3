// Makes the replies of the stub upstream once: many different ones, as OpenAI sends them.

import { numbersFrom } from "./requests.ts";

export const REPLIES = 256;
export const STREAMS = 16;
/** Different chunks of a stream, which then repeat. */
export const CHUNKS = 64;
const WORDS = "the quick brown fox jumps over lazy dog and then it rests for while".split(" ");
const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

export const next = numbersFrom(1);

/** At least one of each. */
export type Some<One> = readonly [One, ...One[]];

export function manyOf<One>(count: number, make: () => One): Some<One> {
  return [make(), ...Array.from({ length: count - 1 }, make)];
}

/** Whole replies of chat, head and body. */
export const CHAT_REPLIES: Some<Buffer> = manyOf(REPLIES, chatReply);
/** Replies of a SearXNG server with ten results. */
export const SEARCH_REPLIES: Some<Buffer> = manyOf(REPLIES, searchReply);

/** A stream: its head with the role and the first word, the chunks that follow, and its end. */
export interface StreamScript {
  readonly beginning: Buffer;
  readonly chunks: readonly Buffer[];
  /** The end of a stream of so many chunks. */
  end(chunks: number): Buffer;
}

/** Streams that differ in ids, words and obfuscation. */
export const STREAM_SCRIPTS: Some<StreamScript> = manyOf(STREAMS, script);

function chatReply(): Buffer {
  const tokens = 30 + Math.floor(next() * 40);
  const message = {
    role: "assistant",
    content: fillerText(tokens),
    refusal: null,
    annotations: [],
  };
  return reply({
    id: idOf("chatcmpl-", 29),
    object: "chat.completion",
    created: 1_700_000_000,
    model: "gpt-4o-mini-2024-07-18",
    choices: [{ index: 0, message, logprobs: null, finish_reason: "stop" }],
    usage: usage(tokens),
    service_tier: "default",
    system_fingerprint: idOf("fp_", 10),
  });
}

function searchReply(): Buffer {
  const results = Array.from({ length: 10 }, (_, index) => ({
    url: `https://docs.example.org/${idOf("", 6)}/${index}`,
    title: `${fillerText(5)} &amp; page ${index}`,
    content: fillerText(48),
    publishedDate: "2026-03-05T00:00:00",
    score: 1 / (index + 1),
  }));
  return reply({ query: "prepaid gateway", results });
}

function script(): StreamScript {
  const head = {
    id: idOf("chatcmpl-", 29),
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: "gpt-4o-mini-2024-07-18",
    service_tier: "default",
    system_fingerprint: idOf("fp_", 10),
  };
  const data = (fields: object) =>
    `data: ${JSON.stringify({ ...head, ...fields, obfuscation: idOf("", 2 + next() * 14) })}\n\n`;
  const delta = (delta: object, reason: string | null = null) => ({
    choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
    usage: null,
  });
  const first = { role: "assistant", content: "", refusal: null };
  const oneWord = () => data(delta({ content: ` ${fillerText(1)}` }));
  const last = data(delta({}, "stop"));
  return {
    beginning: Buffer.from(eventsHead() + chunked(data(delta(first)) + oneWord())),
    chunks: Array.from({ length: CHUNKS }, () => Buffer.from(chunked(oneWord()))),
    end(chunks) {
      const counted = data({ choices: [], usage: usage(chunks) });
      return Buffer.from(`${chunked(last)}${chunked(`${counted}data: [DONE]\n\n`)}0\r\n\r\n`);
    },
  };
}

function usage(completionTokens: number): object {
  const prompt = 40 + Math.floor(next() * 400);
  return {
    prompt_tokens: prompt,
    completion_tokens: completionTokens,
    total_tokens: prompt + completionTokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function headers(): string {
  const lines = {
    date: "Fri, 27 Nov 2026 08:00:00 GMT",
    "access-control-expose-headers": "X-Request-ID",
    "openai-organization": "org-bench",
    "openai-processing-ms": String(Math.floor(next() * 900)),
    "openai-project": idOf("proj_", 24),
    "openai-version": "2020-10-01",
    "x-envoy-upstream-service-time": String(Math.floor(next() * 900)),
    "x-ratelimit-limit-requests": "30000",
    "x-ratelimit-limit-tokens": "150000000",
    "x-ratelimit-remaining-requests": "29999",
    "x-ratelimit-remaining-tokens": "149999945",
    "x-ratelimit-reset-requests": "2ms",
    "x-ratelimit-reset-tokens": "0s",
    "x-request-id": idOf("req_", 32),
    "cf-cache-status": "DYNAMIC",
    "set-cookie": `__cf_bm=${idOf("", 86)}; path=/; HttpOnly; Secure; SameSite=None`,
    "strict-transport-security": "max-age=31536000; includeSubDomains; preload",
    "x-content-type-options": "nosniff",
    server: "cloudflare",
    "cf-ray": `${idOf("", 16)}-FRA`,
    "alt-svc": 'h3=":443"; ma=86400',
  };
  return Object.entries(lines)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");
}

/** The head of a stream of events. */
export function eventsHead(): string {
  const type = "content-type: text/event-stream; charset=utf-8\r\n";
  return `HTTP/1.1 200 OK\r\n${type}${headers()}transfer-encoding: chunked\r\n\r\n`;
}

/** A reply of JSON, head and body. */
export function reply(body: object): Buffer {
  const json = JSON.stringify(body);
  const length = `content-length: ${Buffer.byteLength(json)}\r\n`;
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${length}${headers()}`;
  return Buffer.from(`${head}\r\n${json}`);
}

/** One piece of a body of unknown length. */
export function chunked(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

/** An event of a stream whose events have names. */
export function event(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

export function fillerText(count: number): string {
  const word = () => WORDS[Math.floor(next() * WORDS.length)];
  return Array.from({ length: count }, word).join(" ");
}

export function idOf(prefix: string, length: number): string {
  const letter = () => LETTERS[Math.floor(next() * LETTERS.length)];
  return prefix + Array.from({ length: Math.floor(length) }, letter).join("");
}
