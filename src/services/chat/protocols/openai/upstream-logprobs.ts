// Reads the log probabilities of output tokens in OpenAI's format, field by field.

import { isObject } from "../../../../core/text/json.ts";
import type { Logprobs, TokenLogprob } from "../provider.ts";

/** The most alternatives in OpenAI's format. */
const ALTERNATIVES_MAX = 20;

/** The log probabilities of a choice, or null. */
export function readLogprobs(value: unknown): Logprobs | null {
  if (!isObject(value)) return null;
  const content = readTokens(value.content);
  const refusal = readTokens(value.refusal);
  return content === null && refusal === null ? null : { content, refusal };
}

function readTokens(value: unknown): Logprobs["content"] {
  if (!Array.isArray(value)) return null;
  return value.flatMap((item) => {
    const token = readToken(item);
    if (token === null || !isObject(item)) return [];
    const others = Array.isArray(item.top_logprobs) ? item.top_logprobs : [];
    const top_logprobs = others
      .slice(0, ALTERNATIVES_MAX)
      .flatMap((other: unknown) => readToken(other) ?? []);
    return [{ ...token, top_logprobs }];
  });
}

function readToken(value: unknown): TokenLogprob | null {
  if (!isObject(value)) return null;
  const { token, logprob, bytes } = value;
  // JSON can write a number that is too large for JavaScript, and could not write it again.
  if (typeof token !== "string" || typeof logprob !== "number") return null;
  if (!Number.isFinite(logprob)) return null;
  return { token, logprob, bytes: isBytes(bytes) ? bytes : null };
}

function isBytes(value: unknown): value is readonly number[] {
  return (
    Array.isArray(value) && value.every((one) => Number.isInteger(one) && one >= 0 && one < 256)
  );
}
