// Token counts: a cheap upper bound for prompts, and real counts for charges and tight bounds.

import { createRequire } from "node:module";
import { MESSAGE_OVERHEAD_TOKENS } from "../../../core/money/call-cost.ts";
import { contentText } from "../media/media-part.ts";
import type { ChatMessage, ChatRequest } from "../protocols/provider.ts";

type Tokenizer = Pick<
  typeof import("gpt-tokenizer/encoding/o200k_base"),
  "countTokens" | "setMergeCacheSize"
>;

/** The length of text that is tokenised without a pause for other work; at worst 50 ms. */
const PIECE_LENGTH = 16 * 1024;
/** The tokens that a chat template of this tokenizer's models adds to a message. */
const TEMPLATE_TOKENS = 4;
/** The tokens that chat templates add for tools, besides the tools themselves. */
const TOOLS_PREAMBLE_TOKENS = 512;
/** The longest schema of a tool that Claude knows by its type, with its instructions. */
const HIDDEN_SCHEMA_TOKENS = 1_536;
/** Byte-pair merging is quadratic in the length of an unbroken run of characters. */
const RUN_LENGTH_MAX = 200;

// Text that looks like a control token counts as plain text.
const AS_TEXT = { disallowedSpecial: new Set<string>() };

let loaded: Tokenizer | undefined;

/** Loads the tokenizer, so that no count of this thread waits for it. */
export function loadTokenizer(): void {
  tokenizer();
}

/**
 * The tokens of a text. Takes some milliseconds per 100 KB, at worst 3 µs per character. The first
 * count in a thread waits 0.4 s for the tokenizer's tables, which take 60 MB: a thread that serves
 * requests uses a TokenCounter.
 */
export function countTokens(text: string): number {
  if (text === "") return 0;
  const { countTokens: count } = tokenizer();
  return splitRuns(text).reduce((tokens, piece) => tokens + count(piece, AS_TEXT), 0);
}

/** The tokens of messages and tools in a usual chat template. Counts of parts of a list add up. */
export function countPromptTokens(messages: readonly ChatMessage[], toolsJson: string): number {
  let tokens = countTokens(toolsJson) + messages.length * TEMPLATE_TOKENS;
  for (const text of messages.flatMap(textsOf)) tokens += countTokens(text);
  return tokens;
}

/**
 * The prompt tokens of a request. Pauses for other work between the pieces of a large prompt. Once
 * there are more than `tokensMax`, returns the count so far.
 */
export async function countPrompt(
  request: ChatRequest,
  tokensMax = Number.POSITIVE_INFINITY,
): Promise<number> {
  return (await countInPieces(promptPieces(request), tokensMax)) + templateTokens(request);
}

/** The tokens of pieces of text. Pauses for other work, and stops once above `tokensMax`. */
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

/** The texts of a prompt in pieces that each take little time to count. */
export function promptPieces(request: ChatRequest): string[] {
  return countedTexts(request).flatMap(piecesOf);
}

/** The tokens that a usual chat template adds to the messages of a prompt. */
export function templateTokens({ messages }: ChatRequest): number {
  return messages.length * TEMPLATE_TOKENS;
}

/**
 * A cheap upper bound of the tokens of a prompt's text: a token of a byte-level tokenizer is at
 * least one byte. Images and PDFs have a bound of their own (`mediaTokensMax`).
 */
export function promptTokensMax(request: ChatRequest): number {
  let bound = templateTokensMax(request);
  for (const part of countedTexts(request)) bound += Buffer.byteLength(part);
  return bound;
}

/** The tokenizer of a model may count up to this factor more tokens than ours. */
export const TOKENIZER_MARGIN = 1.3;

/** A bound of the tokens of a prompt's text by our own count, for the tokenizer of any model. */
export function tightTextBound(counted: number, request: ChatRequest): number {
  return Math.ceil(counted * TOKENIZER_MARGIN) + templateTokensMax(request);
}

/** The most tokens that a model reads besides the texts, such as those of its chat template. */
export function templateTokensMax({ messages, parameters, own }: ChatRequest): number {
  const { tools } = parameters;
  const hidden = own?.hiddenTokensMax ?? 0;
  const preamble = tools === undefined ? 0 : TOOLS_PREAMBLE_TOKENS;
  const perMessage = MESSAGE_OVERHEAD_TOKENS * (messages.length + 1);
  return perMessage + preamble + hidden + hiddenTokensMax(tools);
}

/** The most tokens of the schemas that a model itself has for tools named by their type. */
function hiddenTokensMax(tools: unknown): number {
  if (!Array.isArray(tools)) return 0;
  let tokens = 0;
  for (const { type } of tools) if (type !== "function") tokens += HIDDEN_SCHEMA_TOKENS;
  return tokens;
}

/** All texts of a request that a model may see. The bound and the count both use it. */
function countedTexts({ messages, parameters, extras }: ChatRequest): string[] {
  const parts: string[] = [];
  for (const message of messages) {
    parts.push(contentText(message.content), message.name ?? "", message.tool_call_id ?? "");
    if (message.reasoning_content !== undefined) parts.push(message.reasoning_content);
    if (message.tool_calls !== undefined) parts.push(JSON.stringify(message.tool_calls));
  }
  for (const schema of [parameters.tools, parameters.response_format]) {
    if (schema !== undefined) parts.push(JSON.stringify(schema));
  }
  // Some extra parameters become part of a model's chat template.
  for (const extra of extras?.values() ?? []) parts.push(JSON.stringify(extra));
  return parts;
}

export interface TextStart {
  readonly text: string;
  readonly tokens: number;
  /** True if text was cut off. */
  readonly cut: boolean;
}

/**
 * The start of a text with at most `tokensMax` tokens as `count` counts them, cut between two
 * characters.
 */
export async function firstTokens(
  text: string,
  tokensMax: number,
  count: (text: string) => Promise<number>,
): Promise<TextStart> {
  const all = await count(text);
  if (all <= tokensMax) return { text, tokens: all, cut: false };
  // Do not decode the first tokens instead: a token may end within a character.
  let fits = 0;
  let tooLong = text.length;
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if ((await count(text.slice(0, middle))) <= tokensMax) fits = middle;
    else tooLong = middle;
  }
  const length = isWithinPair(text, fits) ? fits - 1 : fits;
  const start = text.slice(0, length);
  return { text: start, tokens: await count(start), cut: true };
}

/**
 * Cuts a text where a run without a natural break gets too long. After an ASCII letter or digit,
 * any other ASCII character always starts a new token, except an apostrophe.
 */
export function splitRuns(text: string): string[] {
  if (text.length <= RUN_LENGTH_MAX) return [text];
  const pieces: string[] = [];
  let start = 0;
  let breakAt = 0;
  let wasLetter = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const isLetter = isLetterOrDigit(code);
    if (wasLetter && !isLetter && code < 128 && code !== 39) breakAt = at;
    wasLetter = isLetter;
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
  const { content, name = "", reasoning_content = "" } = message;
  return [contentText(content), name, reasoning_content, ...calls];
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

// An unpaired surrogate counts as a character, so that a long run of them is cut too.
function isWithinPair(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
}

function tokenizer(): Tokenizer {
  if (loaded === undefined) {
    const load = createRequire(import.meta.url);
    const module: Tokenizer = load("gpt-tokenizer/encoding/o200k_base");
    // The cache would keep words of prompts in memory, and with them whole prompts.
    module.setMergeCacheSize(0);
    loaded = module;
  }
  return loaded;
}
