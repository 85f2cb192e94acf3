// Translates the words of servers for the end of a reply into those of OpenAI.

import { isObject } from "../../../../upstream/upstream-http.ts";

/** OpenAI's words. */
export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

/** The words that mean something else than `stop`, in lower case with underscores. */
const WORDS: Readonly<Record<Exclude<FinishReason, "stop"> | "error", string>> = {
  length:
    "length length_limit limit max_length max_tokens max_output_tokens max_new_tokens " +
    "max_completion_tokens model_length token_limit context_length context_length_exceeded " +
    "context_window_exceeded model_context_window_exceeded truncated incomplete",
  tool_calls: "tool_calls tool_call tool_use function_call function_calls",
  content_filter:
    "content_filter content_filtered content_policy filter safety recitation blocklist blocked " +
    "prohibited_content spii image_safety sensitive moderation flagged refusal " +
    "guardrail_intervened",
  error:
    "error exception abort aborted cancel cancelled canceled user_cancel failed failure timeout " +
    "network_error insufficient_system_resource overloaded engine_overloaded " +
    "malformed_function_call unexpected_tool_call error_limit",
};

const MEANINGS: ReadonlyMap<string, FinishReason | "error"> = new Map(
  Object.entries(WORDS).flatMap(([meaning, words]) =>
    words.split(" ").map((word) => [word, meaning as keyof typeof WORDS] as const),
  ),
);

/** What a word says that is not in the table. */
const FAILED = /error|fail|abort|cancel|timeout|exception/;
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
  return MEANINGS.get(word) ?? (FAILED.test(word) ? "error" : "stop");
}

/**
 * The one reason of a reply whose server gave several, or named a reason that its content does not
 * bear out: what cut a reply short is more important than that it ended.
 */
export function laterFinish(before: FinishReason | null, next: FinishReason): FinishReason {
  const isCutShort = before === "length" || before === "content_filter";
  return isCutShort ? before : next;
}
