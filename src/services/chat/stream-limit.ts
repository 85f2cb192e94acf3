// Finds when a stream has used up its hold. Output after that would be free, and an upstream that
// ignores `max_tokens` might never stop.

import type { Hold } from "../../../actors/account.ts";
import { outputTokensWithin } from "../../core/money/call-cost.ts";
import type { ModelEntry } from "./models/catalogue.ts";
import type { ChatDelta, ChatRequest } from "./protocols/provider.ts";
import { servedAsAsked } from "./request-tier.ts";
import type { StreamUsage } from "./stream-usage.ts";
import { bounded } from "./tokens/piece-tokens.ts";
import { deltaText, piecesOf } from "./tokens/token-meter.ts";

/** Text with fewer characters is not counted yet. */
const UNCOUNTED_MIN = 64;
/** Text with more characters is always counted, so that memory does not grow. */
const UNCOUNTED_MAX = 64 * 1024;

export interface StreamLimitParts {
  readonly model: ModelEntry;
  readonly hold: Pick<Hold, "amount" | "admittedAtMs">;
  readonly request: ChatRequest;
  /** The limit of output tokens that was sent to the model. */
  readonly maxTokens: number;
}

/** The streamed text and the prompt, whose tokens are counted only if the output is long. */
export type StreamedUsage = Pick<StreamUsage, "meter" | "prompt">;

/**
 * Counts text only when it may have reached the limit. Most servers send a piece of text for each
 * token. After a count, a piece is expected to have at most twice as many tokens as those before;
 * before the first count, about as many as in the model's latest replies (D-395).
 */
export class StreamLimit {
  readonly #parts: StreamLimitParts;
  readonly #usage: StreamedUsage;
  /** The output tokens that the hold can pay for; at least `maxTokens`. */
  #tokensMax: number;
  #isExact = false;
  #counted = 0;
  /** The most tokens that a piece is expected to have. */
  #tokensEach: number;

  /** `tokensEach`: the most tokens that a piece is expected to have before any text is counted. */
  constructor(parts: StreamLimitParts, usage: StreamedUsage, tokensEach: number) {
    this.#parts = parts;
    this.#usage = usage;
    this.#tokensMax = parts.maxTokens;
    this.#tokensEach = tokensEach;
  }

  /** True if there is so much text that `isReached` must be called. */
  get isDue(): boolean {
    const { uncounted, uncountedPieces } = this.#usage.meter;
    return this.#isDueWith(uncounted, uncountedPieces);
  }

  /** Counts the streamed text. True if the text costs as much as the hold. */
  async isReached(): Promise<boolean> {
    const { model, hold, request } = this.#parts;
    const { meter } = this.#usage;
    this.#counted = await meter.settledTokens();
    this.#tokensEach = bounded((2 * this.#counted) / Math.max(1, meter.countedPieces));
    if (this.#counted < this.#tokensMax) return false;
    if (!this.#isExact) {
      this.#tokensMax = outputTokensWithin(model.prices, await this.#usage.prompt(), {
        available: hold.amount,
        served: servedAsAsked(request),
        atMs: hold.admittedAtMs,
      });
      this.#isExact = true;
    }
    return this.#counted >= this.#tokensMax;
  }

  /**
   * The number of these deltas, at least one, that can be sent before `isDue` must be checked
   * again.
   */
  countBeforeDue(deltas: readonly ChatDelta[]): number {
    let { uncounted, uncountedPieces } = this.#usage.meter;
    let count = 0;
    for (const delta of deltas) {
      if (count > 0 && this.#isDueWith(uncounted, uncountedPieces)) break;
      const text = deltaText(delta);
      uncounted += text.length;
      uncountedPieces += piecesOf(text);
      count += 1;
    }
    return count;
  }

  #isDueWith(characters: number, pieces: number): boolean {
    if (characters < UNCOUNTED_MIN) return false;
    const left = this.#tokensMax - this.#counted;
    return characters >= UNCOUNTED_MAX || pieces * this.#tokensEach >= left;
  }
}
