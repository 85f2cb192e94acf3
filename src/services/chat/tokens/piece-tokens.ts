// Remembers how many tokens a piece of a model's latest replies had. A stream is therefore counted
// only when it may have reached its limit (D-395).

import type { ModelEntry } from "../models/catalogue.ts";

/**
 * The tokens of a piece before any reply of the model has ended: one for each character of a piece
 * of a longer delta.
 */
export const TOKENS_EACH_MAX = 4;
/** A shorter reply says little about the next one. */
const PIECES_MIN = 32;
/** A reply may have more tokens a piece than those before it, by this factor. */
const MARGIN = 1.25;
/**
 * The weight of a reply with fewer tokens per piece than those before: one unusual reply must not
 * lower the figure much.
 */
const LOWER_SHARE = 0.125;

export class PieceTokens {
  readonly #seen = new WeakMap<ModelEntry, number>();

  /** The most tokens that a piece of the next reply of the model is expected to have, at most 4. */
  expected(model: ModelEntry): number {
    const seen = this.#seen.get(model);
    return seen === undefined ? TOKENS_EACH_MAX : bounded(seen * MARGIN);
  }

  /** Learns from a reply that has ended. */
  learn(model: ModelEntry, reply: { readonly tokens: number; readonly pieces: number }): void {
    if (reply.pieces < PIECES_MIN) return;
    const each = bounded(reply.tokens / reply.pieces);
    const before = this.#seen.get(model) ?? each;
    this.#seen.set(model, each > before ? each : before + (each - before) * LOWER_SHARE);
  }
}

/** `tokens`, but at least one a piece and at most the maximum. */
export function bounded(tokens: number): number {
  return Math.min(TOKENS_EACH_MAX, Math.max(1, tokens));
}
