// The input of a call for embeddings or ranks: how many tokens it can have, and whether each item
// fits the context of the model.

import { ApiError } from "../../../../core/errors.ts";
import type { ModelEntry } from "../../models/catalogue.ts";
import { ESTIMATED_BYTES_MAX, type TokenCounter } from "../../tokens/token-counter.ts";
import { TOKENIZER_MARGIN } from "../../tokens/tokens.ts";

/** The most tokens that a model's server adds to a text: marks of its ends, or an instruction. */
const ADDED_TOKENS = 16;

/** A text, or the tokens that a caller made of one. */
export type Item = string | readonly number[];

/** The input of a call. */
export interface VectorInput {
  /** Each text is counted once. */
  readonly items: readonly Item[];
  /** The field of an item, for refusals. */
  readonly fieldOf: (index: number) => string;
  /** A text that is counted again with every item; null for none. */
  readonly query: string | null;
}

/** Counts texts; null if they cannot be counted now. */
type CountTexts = (texts: readonly string[]) => Promise<number | null>;

/** The account that a count is for, and the counter. */
export interface Counting {
  readonly tokens: TokenCounter;
  readonly account: string;
}

/** The bytes that an input takes in memory, at least. */
export function bytesOf({ items, query }: VectorInput): number {
  let bytes = Buffer.byteLength(query ?? "");
  for (const item of items) bytes += lengthOf(item);
  return bytes;
}

/** An upper bound of the tokens: one for each byte of a text, and none but the caller's own. */
export function tokensMax({ items, query }: VectorInput): number {
  const queryTokens = Buffer.byteLength(query ?? "");
  let tokens = addedMax(items);
  for (const item of items) tokens += lengthOf(item) + queryTokens;
  return tokens;
}

/**
 * A bound by a count, which stops once there are more tokens than `payable`. By the bytes if the
 * input is long, or cannot be counted now.
 */
export async function tightTokensMax(
  { tokens, account }: Counting,
  input: VectorInput,
  payable: number,
): Promise<number> {
  const most = tokensMax(input);
  if (bytesOf(input) > ESTIMATED_BYTES_MAX) return most;
  const counted = await countBy((texts) => tokens.estimateTexts(account, texts, payable), input);
  if (counted === null || counted > payable) return most;
  const own = ownTokens(input.items);
  const tight = Math.ceil((counted - own) * TOKENIZER_MARGIN) + own;
  return Math.min(most, tight + addedMax(input.items));
}

/** The tokens of an input, for a charge. */
export async function countInput(
  { tokens, account }: Counting,
  input: VectorInput,
): Promise<number> {
  return (await countBy((texts) => tokens.countTexts(account, texts), input)) ?? tokensMax(input);
}

async function countBy(count: CountTexts, { items, query }: VectorInput): Promise<number | null> {
  const [texts, queryTokens] = await Promise.all([
    count(items.filter((item) => typeof item === "string")),
    query === null ? 0 : count([query]),
  ]);
  if (texts === null || queryTokens === null) return null;
  return texts + queryTokens * items.length + ownTokens(items);
}

/**
 * Throws `context_length_exceeded` for an item with more tokens than the context of the model. A
 * text that cannot be counted now is left to the model's server.
 */
export async function checkItems(
  { tokens, account }: Counting,
  { items, fieldOf }: VectorInput,
  { id, contextTokens }: ModelEntry,
): Promise<void> {
  for (const [index, item] of items.entries()) {
    // A text has at most one token for each byte, so few have to be counted.
    if (lengthOf(item) <= contextTokens) continue;
    const counted =
      typeof item === "string"
        ? await tokens.estimateTexts(account, [item], contextTokens)
        : item.length;
    if (counted === null || counted <= contextTokens) continue;
    const param = fieldOf(index);
    const rule = `its maximum context length is ${contextTokens} tokens`;
    const message = `${param} is too long for '${id}': ${rule}`;
    throw new ApiError("context_length_exceeded", message, { param });
  }
}

/** The bytes of a text, or the number of tokens. */
export function lengthOf(item: Item): number {
  return typeof item === "string" ? Buffer.byteLength(item) : item.length;
}

/** Nothing is added to tokens that the caller made. */
function addedMax(items: readonly Item[]): number {
  let tokens = 0;
  for (const item of items) if (typeof item === "string") tokens += ADDED_TOKENS;
  return tokens;
}

function ownTokens(items: readonly Item[]): number {
  let tokens = 0;
  for (const item of items) if (typeof item !== "string") tokens += item.length;
  return tokens;
}
