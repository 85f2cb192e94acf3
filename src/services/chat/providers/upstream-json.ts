// Reads the JSON of an upstream field by field, so that unknown fields never reach a caller.

import { JSON_DEPTH_MAX } from "../../../core/limits.ts";
import { RouteFailure } from "../../../upstream/route-failure.ts";
import { isObject, type Json } from "../../../upstream/upstream-http.ts";
import type { ChatChoice, ChatDelta, ChatUsage, ToolCall } from "./provider.ts";
import { readLogprobs } from "./upstream-logprobs.ts";

/** No reply has more tokens; a higher count is an error of the upstream. */
const TOKENS_MAX = 100_000_000;
const CHOICES_MAX = 1;
const TOOL_CALLS_MAX = 1024;
const FINISH_LENGTH_MAX = 64;
/** OpenAI's details about the output tokens; each is a part of them. */
const OUTPUT_DETAILS = [
  "reasoning_tokens",
  "audio_tokens",
  "accepted_prediction_tokens",
  "rejected_prediction_tokens",
];

/** The usage of a reply; null if it is missing or invalid, such as no tokens for a text. */
export function readUsage(value: unknown, hasText: boolean): ChatUsage | null {
  if (!isObject(value)) return null;
  const details = isObject(value.prompt_tokens_details) ? value.prompt_tokens_details : {};
  const promptTokens = value.prompt_tokens;
  const completionTokens = outputOf(value);
  const cachedTokens = details.cached_tokens ?? 0;
  if (!isCount(promptTokens) || !isCount(completionTokens) || !isCount(cachedTokens)) return null;
  if (cachedTokens > promptTokens || promptTokens === 0) return null;
  if (completionTokens === 0 && hasText) return null;
  const outputDetails = readOutputDetails(value.completion_tokens_details, completionTokens);
  const tokens = { promptTokens, cachedTokens, completionTokens };
  return outputDetails === null ? tokens : { ...tokens, outputDetails };
}

/**
 * The output tokens. Some servers (xAI) count reasoning beside `completion_tokens`, as their total
 * tells; everywhere else it is a part of them (D-456).
 */
function outputOf({
  prompt_tokens: prompt,
  completion_tokens: reply,
  total_tokens: total,
  completion_tokens_details: details,
}: Json): unknown {
  const reasoning = isObject(details) ? details.reasoning_tokens : null;
  if (!isCount(prompt) || !isCount(reply) || !isCount(reasoning)) return reply;
  return total === prompt + reply + reasoning ? reply + reasoning : reply;
}

function readOutputDetails(
  value: unknown,
  tokensMax: number,
): Readonly<Record<string, number>> | null {
  if (!isObject(value)) return null;
  const details: Record<string, number> = {};
  for (const name of OUTPUT_DETAILS) {
    const tokens = value[name];
    if (isCount(tokens) && tokens <= tokensMax) details[name] = tokens;
  }
  return isEmpty(details) ? null : details;
}

/** The fingerprint of the configuration in OpenAI's format; null for any other value. */
export function readFingerprint(value: unknown): string | null {
  return typeof value === "string" && /^fp_\w{1,64}$/.test(value) ? value : null;
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= TOKENS_MAX;
}

/** The parts of a reply that the caller gets in addition to text and tool calls. */
export interface ReplyParts {
  readonly logprobs: boolean;
  readonly reasoning: boolean;
}

type Mutable<Fields> = { -readonly [Name in keyof Fields]: Fields[Name] };

/** The choices of a whole reply; null if there is no usable choice. */
export function readChoices(value: unknown, parts: ReplyParts): ChatChoice[] | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  const choices: ChatChoice[] = [];
  for (const choice of value.slice(0, CHOICES_MAX)) {
    const message = isObject(choice) ? choice.message : null;
    if (!isObject(choice) || !isObject(message)) return null;
    const toolCalls = readToolCalls(message.tool_calls);
    const content = readContent(message);
    const refusal = readRefusal(message);
    const reasoning = readReasoning(message);
    const isReadable = parts.logprobs && !hasHidden(message, parts);
    const logprobs = isReadable ? readLogprobs(choice.logprobs) : null;
    // A reply with a finish_reason may be empty: all of it may have been hidden reasoning.
    const finish = readFinish(choice);
    const isWithoutContent = content === null && refusal === null && toolCalls === null;
    if (isWithoutContent && finish === null) return null;
    const copy: Mutable<ChatChoice["message"]> = { role: "assistant", content };
    if (parts.reasoning && reasoning !== "") copy.reasoning_content = reasoning;
    if (refusal !== null) copy.refusal = refusal;
    if (toolCalls !== null) copy.tool_calls = toolCalls;
    const one = { index: choices.length, message: copy, finish_reason: finish ?? "stop" };
    choices.push(logprobs === null ? one : { ...one, logprobs });
  }
  return choices;
}

/** Some servers send an empty reason in every chunk before the last. */
function readFinish({ finish_reason }: Json): string | null {
  return textOr(finish_reason, "").slice(0, FINISH_LENGTH_MAX) || null;
}

/** The text of a message or delta. Parts of other types are skipped: they are hidden reasoning. */
function readContent({ content }: Json): string | null {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? readParts(content, "text") : null;
}

/** The text with which the model refuses to answer, or null. */
function readRefusal({ content, refusal }: Json): string | null {
  const parts = Array.isArray(content) ? readParts(content, "refusal") : "";
  return textOr(refusal, "") + parts || null;
}

function readParts(parts: readonly unknown[], type: "text" | "refusal"): string {
  let text = "";
  for (const part of parts) {
    if (isObject(part) && part.type === type) text += textOr(part[type], "");
  }
  return text;
}

/** The reasoning of a message or delta, by either of the two names that servers use. */
function readReasoning({ reasoning_content, reasoning }: Json): string {
  return textOr(reasoning_content, "") || textOr(reasoning, "");
}

/**
 * True if a message or delta has reasoning that is hidden. Its logprobs must be hidden too, because
 * they contain its tokens.
 */
function hasHidden(from: unknown, { reasoning }: ReplyParts): boolean {
  if (reasoning || !isObject(from)) return false;
  const { content } = from;
  const isShown = (part: unknown) =>
    isObject(part) && (part.type === "text" || part.type === "refusal");
  return readReasoning(from) !== "" || (Array.isArray(content) && !content.every(isShown));
}

function readToolCalls(value: unknown): ToolCall[] | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  const calls: ToolCall[] = [];
  for (const call of value.slice(0, TOOL_CALLS_MAX)) {
    if (!isObject(call) || !isObject(call.function)) continue;
    const { name, arguments: input } = call.function;
    if (typeof name !== "string") continue;
    calls.push({
      id: textOr(call.id, "") || inventedId(calls.length),
      type: "function",
      function: { name, arguments: textOfJson(input ?? {}) },
    });
  }
  return calls.length === 0 ? null : calls;
}

/** The deltas of a chunk, without empty ones. Use the same `calls` for the whole stream. */
export function readDeltas(value: unknown, calls: ToolCallIndexes, parts: ReplyParts): ChatDelta[] {
  if (!Array.isArray(value)) return [];
  const deltas: ChatDelta[] = [];
  for (const choice of value) {
    if (!isObject(choice) || (choice.index ?? 0) !== 0) continue;
    const delta = isObject(choice.delta) ? readDelta(choice.delta, calls, parts) : {};
    const finish = readFinish(choice);
    if (finish === null && isEmpty(delta)) continue;
    const isReadable = parts.logprobs && hasText(delta) && !hasHidden(choice.delta, parts);
    const logprobs = isReadable ? readLogprobs(choice.logprobs) : null;
    const one = { index: 0, delta, finish_reason: finish };
    deltas.push(logprobs === null ? one : { ...one, logprobs });
  }
  return deltas;
}

function hasText(delta: Json): boolean {
  return "content" in delta || "refusal" in delta || "reasoning_content" in delta;
}

/** True if a chunk has reasoning that is hidden. */
export function isThinking(choices: unknown, parts: ReplyParts): boolean {
  if (!Array.isArray(choices)) return false;
  return choices.some((choice) => isObject(choice) && hasHidden(choice.delta, parts));
}

function isEmpty(delta: Json): boolean {
  for (const _ in delta) return false;
  return true;
}

function readDelta(
  from: Json,
  indexes: ToolCallIndexes,
  parts: ReplyParts,
): Record<string, unknown> {
  const delta: Record<string, unknown> = {};
  if (from.role === "assistant") delta.role = "assistant";
  const reasoning = parts.reasoning ? readReasoning(from) : "";
  if (reasoning !== "") delta.reasoning_content = reasoning;
  const content = readContent(from);
  if (content !== null) delta.content = content;
  const refusal = readRefusal(from);
  if (refusal !== null) delta.refusal = refusal;
  if (Array.isArray(from.tool_calls)) {
    const pieces = from.tool_calls.slice(0, TOOL_CALLS_MAX).filter(isObject);
    const calls = pieces.map((piece) => readToolCallDelta(piece, indexes));
    if (calls.length > 0) delta.tool_calls = calls;
  }
  return delta;
}

/**
 * Assigns the pieces of tool calls to calls. Some servers send no index; then each piece with an id
 * starts a new call, because clients would join two calls with the same index.
 */
export class ToolCallIndexes {
  #last = 0;
  #next = 0;

  /** The index of the piece's call, and whether that is a new one. */
  of(piece: Json): { readonly index: number; readonly isNew: boolean } {
    if (isCount(piece.index) && piece.index < TOOL_CALLS_MAX) this.#last = piece.index;
    else if (typeof piece.id === "string") this.#last = this.#next;
    const isNew = this.#last >= this.#next;
    if (isNew) this.#next = this.#last + 1;
    return { index: this.#last, isNew };
  }
}

/** Some servers give their calls no id, or an empty one. Callers need one to send the result. */
function inventedId(index: number): string {
  return `call_${index}`;
}

function readToolCallDelta(from: Json, indexes: ToolCallIndexes): Json {
  const { index, isNew } = indexes.of(from);
  const call: Record<string, unknown> = { index };
  const id = textOr(from.id, "") || (isNew ? inventedId(index) : "");
  if (id !== "") call.id = id;
  if (from.type === "function") call.type = "function";
  if (isObject(from.function)) {
    const called: Record<string, string> = {};
    if (typeof from.function.name === "string") called.name = from.function.name;
    const input = from.function.arguments ?? null;
    if (input !== null) called.arguments = textOfJson(input);
    call.function = called;
  }
  return call;
}

function textOr(value: unknown, fallback: string): string {
  return typeof value === "string" ? value : fallback;
}

/** Should be a string, but some servers send the object itself. Throws a RouteFailure. */
function textOfJson(value: unknown): string {
  if (typeof value === "string") return value;
  // To write an object of thousands of levels takes up to half a second.
  if (isDeeper(value, JSON_DEPTH_MAX)) throw new RouteFailure("A tool call nests too deep");
  return JSON.stringify(value);
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((one) => isDeeper(one, levels - 1));
}

/** The message of an error body in OpenAI's format, or null. */
export function readErrorMessage(value: unknown): string | null {
  if (!isObject(value) || value.error === undefined || value.error === null) return null;
  if (typeof value.error === "string") return value.error;
  if (!isObject(value.error)) return "unknown error";
  return textOr(value.error.message, "unknown error");
}

/** The short code of an error, or null. Unlike the message it never quotes the request. */
function readErrorCode(value: unknown): string | null {
  const error = isObject(value) && isObject(value.error) ? value.error : {};
  return typeof error.code === "string" && /^[a-z_]{1,40}$/.test(error.code) ? error.code : null;
}

/** The code of an error in brackets, for the operator's log; empty if it has none. */
export function codeOf(body: unknown): string {
  const code = readErrorCode(body);
  return code === null ? "" : ` (${code})`;
}
