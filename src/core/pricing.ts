// What a chat call can cost at most, and what it cost (SPEC 8.7.1).

import { charge, type NanoUsd, type PicoUsd } from "./money.ts";

/** Prices for prompts of at most `promptTokensMax` tokens; null in the last band. */
export interface PriceBand {
  readonly promptTokensMax: number | null;
  readonly input: PicoUsd;
  readonly output: PicoUsd;
  /** The price of a prompt token that the upstream served from its cache; null: as `input`. */
  readonly cachedInput: PicoUsd | null;
}

export interface TokenUsage {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
}

/** Tokens that a chat template may add around each message, and once around the conversation. */
export const MESSAGE_OVERHEAD_TOKENS = 16;

/**
 * An upper bound of the cost: `promptTokens` must not be too low, and the dearest of each price
 * over all bands is taken, so that no band which the real prompt may fall into can cost more.
 */
export function upperBound(
  bands: readonly PriceBand[],
  promptTokens: number,
  outputTokens: number,
): NanoUsd {
  return charge([
    [promptTokens, dearest(bands, inputPrice)],
    [outputTokens, dearest(bands, outputPrice)],
  ]);
}

/** The exact cost of a call by the band that its prompt falls into, rounded up once. */
export function exactCost(bands: readonly PriceBand[], usage: TokenUsage): NanoUsd {
  const band = bandOf(bands, usage.promptTokens);
  return charge([
    [usage.promptTokens - usage.cachedTokens, band.input],
    [usage.cachedTokens, band.cachedInput ?? band.input],
    [usage.completionTokens, band.output],
  ]);
}

/** The largest number of output tokens whose upper bound still fits `available`; may be 0. */
export function affordableOutputTokens(
  bands: readonly PriceBand[],
  promptTokens: number,
  available: NanoUsd,
): number {
  const output = dearest(bands, outputPrice);
  const rest = available - upperBound(bands, promptTokens, 0);
  if (rest < 0n) return 0;
  if (output === 0n) return Number.MAX_SAFE_INTEGER;
  return Number((rest * 1_000n) / output);
}

/** The largest number of prompt tokens whose upper bound still fits `available`. */
export function affordablePromptTokens(bands: readonly PriceBand[], available: NanoUsd): number {
  const input = dearest(bands, inputPrice);
  if (input === 0n) return Number.MAX_SAFE_INTEGER;
  return available < 0n ? 0 : Number((available * 1_000n) / input);
}

function bandOf(bands: readonly PriceBand[], promptTokens: number): PriceBand {
  const band = bands.find(
    (row) => row.promptTokensMax === null || promptTokens <= row.promptTokensMax,
  );
  if (band === undefined) throw new Error("A model has no price band without an upper end");
  return band;
}

function dearest(bands: readonly PriceBand[], priceOf: (band: PriceBand) => PicoUsd): PicoUsd {
  let most = 0n as PicoUsd;
  for (const band of bands) {
    const price = priceOf(band);
    if (price > most) most = price;
  }
  return most;
}

/** The dearer of what a prompt token can cost in this band. */
function inputPrice({ input, cachedInput }: PriceBand): PicoUsd {
  return cachedInput !== null && cachedInput > input ? cachedInput : input;
}

function outputPrice({ output }: PriceBand): PicoUsd {
  return output;
}
