// Finds when a stream has used up its hold. Output after that would be free, and an upstream that
// ignores `max_tokens` might never stop.

import type { Hold } from "../../../actors/account.ts";
import { outputTokensWithin } from "../../core/pricing.ts";
import type { ModelEntry } from "./catalogue.ts";
import type { ChatDelta, ChatUsage } from "./providers/provider.ts";
import { type TokenMeter, textOf } from "./token-meter.ts";

/** Text with fewer characters is not counted yet. */
const UNCOUNTED_MIN = 64;
/** Text with more characters is always counted, so that memory does not grow. */
const UNCOUNTED_MAX = 64 * 1024;
/** The most characters for each token left that may be sent before the next count. */
const CHARACTERS_EACH_MAX = 2;

export interface StreamLimitParts {
  readonly model: ModelEntry;
  readonly hold: Pick<Hold, "amount">;
  /** The limit of output tokens that was sent to the model. */
  readonly maxTokens: number;
  readonly meter: TokenMeter;
  /** The tokens of the prompt, which are counted only if the output is long. */
  readonly promptUsage: () => Promise<Pick<ChatUsage, "promptTokens" | "cachedTokens">>;
}

/**
 * A text has about as many characters as tokens, or more. So nothing is counted until there are as
 * many characters as the hold can pay tokens for; then all of the text is counted once (D-172).
 * What follows is expected to have at least half as many characters a token as what was counted,
 * so that prose is counted seldom (D-333).
 */
export class StreamLimit {
  readonly #parts: StreamLimitParts;
  /** How many output tokens the hold can pay for; at least `maxTokens`. */
  #tokensMax: number;
  #isExact = false;
  #counted = 0;
  #charactersEach = 1;

  constructor(parts: StreamLimitParts) {
    this.#parts = parts;
    this.#tokensMax = parts.maxTokens;
  }

  /** True if there is so much text that `isReached` must be called. */
  get isDue(): boolean {
    return this.#parts.meter.uncounted >= this.#room;
  }

  /** Counts what was streamed. True if it costs as much as the hold. */
  async isReached(): Promise<boolean> {
    const { model, hold, meter, promptUsage } = this.#parts;
    this.#counted = await meter.settledTokens();
    const expected = meter.countedLength / (2 * Math.max(1, this.#counted));
    this.#charactersEach = Math.min(CHARACTERS_EACH_MAX, Math.max(1, expected));
    if (this.#counted < this.#tokensMax) return false;
    if (!this.#isExact) {
      this.#tokensMax = outputTokensWithin(model.bands, await promptUsage(), hold.amount);
      this.#isExact = true;
    }
    return this.#counted >= this.#tokensMax;
  }

  /** How many of these deltas, at least one, can be sent before `isDue` must be checked again. */
  countBeforeDue(deltas: readonly ChatDelta[]): number {
    let room = this.#room - this.#parts.meter.uncounted;
    let count = 0;
    for (const delta of deltas) {
      if (count > 0 && room <= 0) break;
      room -= textOf(delta).length;
      count += 1;
    }
    return count;
  }

  get #room(): number {
    const left = (this.#tokensMax - this.#counted) * this.#charactersEach;
    return Math.max(UNCOUNTED_MIN, Math.min(UNCOUNTED_MAX, left));
  }
}
