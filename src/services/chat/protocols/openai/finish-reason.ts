// Translates the words of servers for the end of a reply into those of OpenAI.

import { isObject } from "../../../../upstream/upstream-http.ts";

/** OpenAI's words. */
export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

/**
 * The parts of words that mean something else than `stop`, in lower case with underscores. The
 * first that a word has counts: a server may say two things in one, such as
 * `function_call_filter: MALFORMED_FUNCTION_CALL` (D-605).
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

const NO_WORD: ReadonlySet<string> = new Set(["", "null", "none", "unspecified"]);
const WORD_LENGTH_MAX = 64;

/**
 * The end that a server tells of, `error` for a reply that failed. Null if it tells of none: some
 * servers send an empty reason in every chunk before the last.
 */
export function readFinish(value: unknown): FinishReason | "error" | null {
  const told = isObject(value) ? (value.type ?? value.reason) : value;
  if (typeof told !== "string") return null;
  const word = told
    .slice(0, WORD_LENGTH_MAX)
    .trim()
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replace(/[^a-z]+/g, "_")
    .replace(/^finish_reason_/, "");
  if (NO_WORD.has(word)) return null;
  return MEANINGS.find(([, parts]) => parts.test(word))?.[0] ?? "stop";
}

/**
 * The one reason of a reply whose server gave several, or named a reason that its content does not
 * bear out: what cut a reply short is more important than that it ended.
 */
export function laterFinish(before: FinishReason | null, next: FinishReason): FinishReason {
  const isCutShort = before === "length" || before === "content_filter";
  return isCutShort ? before : next;
}
