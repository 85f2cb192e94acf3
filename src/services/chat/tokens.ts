// Token counts: a cheap upper bound of a prompt, and real counts where they decide about money.

import { createRequire } from "node:module";
import { MESSAGE_OVERHEAD_TOKENS } from "../../core/pricing.ts";
import type { ChatMessage, ChatRequest } from "./providers/provider.ts";

type Tokenizer = Pick<
  typeof import("gpt-tokenizer/encoding/o200k_base"),
  "countTokens" | "setMergeCacheSize"
>;

/** Text that is tokenised in one go where other work must not wait; at worst 50 ms. */
const PIECE_LENGTH = 16 * 1024;
/** What a chat template of this tokenizer's models puts around a message. */
const TEMPLATE_TOKENS = 4;
/** What chat templates say about tools, besides the tools themselves. */
const TOOLS_PREAMBLE_TOKENS = 512;
/** Byte-pair merging is quadratic in the length of an unbroken run of characters. */
const RUN_LENGTH_MAX = 200;

// Text that looks like a control token is text.
const AS_TEXT = { disallowedSpecial: new Set<string>() };

let loaded: Tokenizer | undefined;

/** Loads the tokenizer, about half a second, so that no later call has to wait for it. */
export function warmTokenizer(): void {
  tokenizer();
}

/** The tokens of a text; some milliseconds a hundred kilobytes, at worst 3 us a character. */
export function countTokens(text: string): number {
  if (text === "") return 0;
  const { countTokens: count } = tokenizer();
  return splitRuns(text).reduce((tokens, piece) => tokens + count(piece, AS_TEXT), 0);
}

/** The tokens of messages and tools in a usual chat template; counts of parts of a list add up. */
export function countPromptTokens(messages: readonly ChatMessage[], toolsJson: string): number {
  let tokens = countTokens(toolsJson) + messages.length * TEMPLATE_TOKENS;
  for (const text of messages.flatMap(textsOf)) tokens += countTokens(text);
  return tokens;
}

/**
 * The prompt tokens of a request, letting other work in between pieces of a large one. Counting
 * ends early, with what was counted so far, once there are more than `tokensMax`.
 */
export async function countPrompt(
  request: ChatRequest,
  tokensMax = Number.POSITIVE_INFINITY,
): Promise<number> {
  return (await countInPieces(promptPieces(request), tokensMax)) + templateTokens(request);
}

/** The tokens of pieces of text, letting other work in between; ends early above `tokensMax`. */
export async function countInPieces(pieces: readonly string[], tokensMax: number): Promise<number> {
  let tokens = 0;
  let length = 0;
  for (const piece of pieces) {
    length += piece.length;
    if (length > PIECE_LENGTH) {
      length = piece.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
    tokens += countTokens(piece);
    if (tokens > tokensMax) return tokens;
  }
  return tokens;
}

/** The texts of a prompt in pieces that take little time each. */
export function promptPieces(request: ChatRequest): string[] {
  return partsOf(request).flatMap(piecesOf);
}

/** What a usual chat template puts around the messages of a prompt. */
export function templateTokens({ messages }: ChatRequest): number {
  return messages.length * TEMPLATE_TOKENS;
}

/**
 * An upper bound of the prompt's tokens that costs next to nothing: a token of a byte-level
 * tokenizer is at least one byte.
 */
export function promptTokensMax(request: ChatRequest): number {
  return partsOf(request).reduce(
    (bound, part) => bound + Buffer.byteLength(part),
    templateTokensMax(request),
  );
}

/** What a model's chat template may put around the parts of a prompt, at most. */
export function templateTokensMax({ messages, parameters }: ChatRequest): number {
  const tools = parameters.tools === undefined ? 0 : TOOLS_PREAMBLE_TOKENS;
  return MESSAGE_OVERHEAD_TOKENS * (messages.length + 1) + tools;
}

/** Everything of a request that a model may be shown; the bound and the count take the same. */
function partsOf({ messages, parameters, extras }: ChatRequest): string[] {
  const parts: string[] = [];
  for (const message of messages) {
    parts.push(message.content ?? "", message.name ?? "", message.tool_call_id ?? "");
    if (message.tool_calls !== undefined) parts.push(JSON.stringify(message.tool_calls));
  }
  for (const shown of [parameters.tools, parameters.response_format]) {
    if (shown !== undefined) parts.push(JSON.stringify(shown));
  }
  // Some of them are put into a model's chat template.
  for (const extra of extras?.values() ?? []) parts.push(JSON.stringify(extra));
  return parts;
}

export interface TextStart {
  readonly text: string;
  readonly tokens: number;
  /** True when something was cut off. */
  readonly cut: boolean;
}

/** The start of a text that has at most `tokensMax` tokens, cut between two characters. */
export function firstTokens(text: string, tokensMax: number): TextStart {
  const all = countTokens(text);
  if (all <= tokensMax) return { text, tokens: all, cut: false };
  // Decoding the first tokens would not do: a token may end within a character.
  let fits = 0;
  let tooLong = text.length;
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (countTokens(text.slice(0, middle)) <= tokensMax) fits = middle;
    else tooLong = middle;
  }
  const length = isWithinPair(text, fits) ? fits - 1 : fits;
  const start = text.slice(0, length);
  return { text: start, tokens: countTokens(start), cut: true };
}

/**
 * Cuts a text wherever a run without a natural break gets too long. Where an ASCII letter or digit
 * is followed by any other ASCII character, the tokenizer always begins anew; an apostrophe may
 * belong to both sides.
 */
export function splitRuns(text: string): string[] {
  if (text.length <= RUN_LENGTH_MAX) return [text];
  const pieces: string[] = [];
  let start = 0;
  let breakAt = 0;
  let wasInk = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const isInk = isLetterOrDigit(code);
    if (wasInk && !isInk && code < 128 && code !== 39) breakAt = at;
    wasInk = isInk;
    if (at - breakAt < RUN_LENGTH_MAX) continue;
    if (isWithinPair(text, at)) continue;
    if (breakAt > start) pieces.push(text.slice(start, breakAt));
    pieces.push(text.slice(breakAt, at));
    start = at;
    breakAt = at;
  }
  if (start < text.length) pieces.push(text.slice(start));
  return pieces;
}

function textsOf(message: ChatMessage): string[] {
  const calls = (message.tool_calls ?? []).flatMap(({ function: called }) => [
    called.name,
    called.arguments,
  ]);
  return [message.content ?? "", message.name ?? "", ...calls];
}

/** A text in pieces of at most 16 K characters, cut between two characters. */
export function piecesOf(text: string): string[] {
  if (text.length <= PIECE_LENGTH) return [text];
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = at + PIECE_LENGTH;
    const next = isWithinPair(text, end) ? end + 1 : end;
    pieces.push(text.slice(at, next));
    at = next;
  }
  return pieces;
}

function isLetterOrDigit(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57);
}

// A surrogate without its other half is a character of its own: a long run of such must be cut too.
function isWithinPair(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
}

function tokenizer(): Tokenizer {
  if (loaded === undefined) {
    const load = createRequire(import.meta.url);
    const module: Tokenizer = load("gpt-tokenizer/encoding/o200k_base");
    // Its cache would keep words of prompts, and through them whole prompts, in memory.
    module.setMergeCacheSize(0);
    loaded = module;
  }
  return loaded;
}
