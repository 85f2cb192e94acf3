// Computes the cost of a stream so far, for the checkpoints of its hold.

import type { CostSource } from "../../../actors/account.ts";
import { UNSAVED_MAX } from "../../core/access/limits.ts";
import { affordableOutputTokens, upperBound } from "../../core/money/call-cost.ts";
import { type NanoUsd, nano, subtract } from "../../core/money/money.ts";
import { reachOf } from "./request-tier.ts";
import { costOf } from "./served-model.ts";
import type { StreamLimitParts } from "./stream-limit.ts";
import type { StreamUsage } from "./stream-usage.ts";

/** The streamed text, and a lower bound of its usage. */
export type CountedUsage = Pick<StreamUsage, "meter" | "soFar">;

export class StreamCost implements CostSource {
  readonly #parts: StreamLimitParts;
  readonly #usage: CountedUsage;
  readonly #tokensEach: number;
  /** The pieces that were sent at the last `costSoFar`. */
  #countedPieces = 0;
  /** With more pieces the cost must be stored at once. */
  #piecesMax: number;

  /** `tokensEach`: the most tokens that a piece is expected to have. */
  constructor(parts: StreamLimitParts, usage: CountedUsage, tokensEach: number) {
    this.#parts = parts;
    this.#usage = usage;
    this.#tokensEach = tokensEach;
    // A stream that has begun also costs its prompt, which has no checkpoint yet. The bound of the
    // prompt is in bytes, and hardly any text has more than a token per two bytes.
    const { model, hold, maxTokens, request } = parts;
    const output = { promptTokens: 0, outputTokens: maxTokens };
    const bound = subtract(hold.amount, upperBound(model.prices, output, reachOf(request)));
    const prompt = nano(bound / 2n);
    this.#piecesMax = this.#piecesWithin(subtract(UNSAVED_MAX, prompt));
  }

  /** True if the text since the last `costSoFar` costs so much that it must be stored at once. */
  get isDue(): boolean {
    return this.#usage.meter.pieces - this.#countedPieces > this.#piecesMax;
  }

  costSoFar(): Promise<NanoUsd> | null {
    const { pieces } = this.#usage.meter;
    if (pieces === this.#countedPieces) return null;
    this.#countedPieces = pieces;
    this.#piecesMax = this.#piecesWithin(UNSAVED_MAX);
    return this.#count();
  }

  async #count(): Promise<NanoUsd> {
    return costOf(this.#parts.model.prices, await this.#usage.soFar(), this.#parts);
  }

  #piecesWithin(available: NanoUsd): number {
    const { prices } = this.#parts.model;
    const reach = reachOf(this.#parts.request);
    const affordable = affordableOutputTokens(prices, { promptTokens: 0, available }, reach);
    return affordable / this.#tokensEach;
  }
}
