// Translates the words of servers for the end of a reply into those of OpenAI.

import { isObject } from "../../../../core/text/json.ts";

/** The end of a reply in OpenAI's words, of which `tool_calls` follows from the reply itself. */
export type ReplyEnd = "stop" | "length" | "content_filter";

/**
 * The parts of words that mean something else than `stop`, in lower case with underscores. The
 * first meaning whose part is in a word counts: a server may say two things in one word, such as
 * `function_call_filter: MALFORMED_FUNCTION_CALL` (D-573).
 */
const PARTS: Readonly<Record<"error" | "content_filter" | "length", string>> = {
  error:
    "error|exception|fail|abort|cancel|timeout|overload|insufficient|malformed|missing|" +
    "unexpected|unavailable|quota|rate_limit",
  content_filter:
    "filter|safety|recitation|block|prohibit|polic|spii|sensitive|moderat|flagged|refusal|" +
    "guardrail|armor",
  length: "length|limit|max_|truncated|incomplete|context_window|exceeded",
};
const MEANINGS = Object.entries(PARTS).map(
  ([meaning, parts]) => [meaning as keyof typeof PARTS, new RegExp(parts)] as const,
);

/** The end of a reply that the provider's rules for content cut. */
export const CONTENT_FILTER: ReplyEnd = "content_filter";

/** The end of a reply at its output limit. */
export const LENGTH: ReplyEnd = "length";

/** OpenAI's own words, which end most replies. */
const COMMON_WORDS: ReadonlyMap<unknown, ReplyEnd> = new Map([
  ["stop", "stop"],
  ["length", "length"],
  ["tool_calls", "stop"],
  ["content_filter", "content_filter"],
]);
const NO_WORD: ReadonlySet<string> = new Set(["", "null", "none", "unspecified"]);
const WORD_LENGTH_MAX = 64;

/**
 * The end that a `finish_reason` names, `error` for a reply that failed. Null without an end: some
 * servers send an empty reason in every chunk before the last.
 */
export function readFinish(value: unknown): ReplyEnd | "error" | null {
  return COMMON_WORDS.get(value) ?? readWord(value);
}

/** The end of a reply that named several: the first that cut the reply short stays. */
export function firstCut<End extends string>(known: End | null, next: End | null): End | null {
  return next !== null && (known ?? "stop") === "stop" ? next : known;
}

function readWord(value: unknown): ReplyEnd | "error" | null {
  const reason = isObject(value) ? (value.type ?? value.reason) : value;
  if (typeof reason !== "string") return null;
  const word = reason
    .slice(0, WORD_LENGTH_MAX)
    .trim()
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replace(/[^a-z]+/g, "_")
    .replace(/^finish_reason_/, "");
  if (NO_WORD.has(word)) return null;
  return MEANINGS.find(([, parts]) => parts.test(word))?.[0] ?? "stop";
}
