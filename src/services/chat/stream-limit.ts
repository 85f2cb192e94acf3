// Ends a stream that costs more than its call holds: what comes after that would be free, and an
// upstream that ignores `max_tokens` would send it without end.

import type { Hold } from "../../../actors/account.ts";
import { outputTokensWithin } from "../../core/pricing.ts";
import type { ModelEntry } from "./catalogue.ts";
import type { ChatDelta, ChatUsage } from "./providers/provider.ts";
import { type TokenMeter, textOf } from "./token-meter.ts";

/** Text of which fewer characters came is not counted yet. */
const UNCOUNTED_MIN = 64;
/** Text of which more characters came is always counted, so that memory does not grow. */
const UNCOUNTED_MAX = 64 * 1024;

export interface StreamLimitParts {
  readonly model: ModelEntry;
  readonly hold: Pick<Hold, "amount">;
  /** The output tokens that the model was asked for. */
  readonly maxTokens: number;
  readonly meter: TokenMeter;
  /** The tokens of the prompt; counted only where the output is long. */
  readonly promptUsage: () => Promise<Pick<ChatUsage, "promptTokens" | "cachedTokens">>;
}

/**
 * Text has at least as many characters as tokens, near enough; so nothing is counted before it is
 * as long as the tokens that the hold still pays for, and then all of it once (D-172).
 */
export class StreamLimit {
  readonly #parts: StreamLimitParts;
  /** Output tokens that the hold pays for: at least those asked for. */
  #tokensMax: number;
  #isExact = false;
  #counted = 0;

  constructor(parts: StreamLimitParts) {
    this.#parts = parts;
    this.#tokensMax = parts.maxTokens;
  }

  /** Whether so much text has come that `isReached` must be asked. */
  get isDue(): boolean {
    return this.#parts.meter.uncounted >= this.#room;
  }

  /** Whether what was streamed costs as much as is held. Counts it. */
  async isReached(): Promise<boolean> {
    const { model, hold, meter, promptUsage } = this.#parts;
    this.#counted = await meter.settledTokens();
    if (this.#counted < this.#tokensMax) return false;
    if (!this.#isExact) {
      this.#tokensMax = outputTokensWithin(model.bands, await promptUsage(), hold.amount);
      this.#isExact = true;
    }
    return this.#counted >= this.#tokensMax;
  }

  /** The first of these deltas, at least one, that may be sent before `isDue` is asked again. */
  first(deltas: readonly ChatDelta[]): number {
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
    const left = Math.min(UNCOUNTED_MAX, this.#tokensMax - this.#counted);
    return Math.max(UNCOUNTED_MIN, left);
  }
}
