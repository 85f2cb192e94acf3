// The upper bound and the exact cost of a chat call (SPEC 8.7.1).

import { affordableQuantity, charge, type NanoUsd, type PicoUsd } from "./money.ts";

/** The prices of calls whose prompt has at most `promptTokensMax` tokens; null: any number. */
export interface PriceBand {
  readonly promptTokensMax: number | null;
  readonly input: PicoUsd;
  readonly output: PicoUsd;
  /**
   * The price of a prompt token that the upstream read from its cache; null: the same as `input`.
   */
  readonly cachedInput: PicoUsd | null;
}

export interface TokenUsage {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
}

/** Tokens that a chat template may add around each message, and once for the conversation. */
export const MESSAGE_OVERHEAD_TOKENS = 16;

/**
 * An upper bound of the cost: `promptTokens` must not be too low. Each price is the most expensive
 * one of all bands, so the band of the real prompt cannot cost more.
 */
export function upperBound(
  bands: readonly PriceBand[],
  promptTokens: number,
  outputTokens: number,
): NanoUsd {
  return charge([
    [promptTokens, mostExpensive(bands, inputPrice)],
    [outputTokens, mostExpensive(bands, outputPrice)],
  ]);
}

/** The exact cost of a call by the band of its prompt, rounded up once. */
export function exactCost(bands: readonly PriceBand[], usage: TokenUsage): NanoUsd {
  const band = bandOf(bands, usage.promptTokens);
  return charge([
    [usage.promptTokens - usage.cachedTokens, band.input],
    [usage.cachedTokens, band.cachedInput ?? band.input],
    [usage.completionTokens, band.output],
  ]);
}

/**
 * What the operator pays for a call: by the same tokens as the charge, rounded up once. Undefined
 * if the route has no buying prices.
 */
export function upstreamCost(
  bands: readonly PriceBand[] | undefined,
  usage: TokenUsage,
): NanoUsd | undefined {
  return bands === undefined ? undefined : exactCost(bands, usage);
}

/** The largest number of output tokens whose upper bound still fits `available`; may be 0. */
export function affordableOutputTokens(
  bands: readonly PriceBand[],
  promptTokens: number,
  available: NanoUsd,
): number {
  const prompt = [[promptTokens, mostExpensive(bands, inputPrice)]] as const;
  return affordableQuantity(available, mostExpensive(bands, outputPrice), prompt);
}

/** The largest number of prompt tokens whose upper bound still fits `available`. */
export function affordablePromptTokens(bands: readonly PriceBand[], available: NanoUsd): number {
  return affordableQuantity(available, mostExpensive(bands, inputPrice));
}

/** How many output tokens of a call with this prompt `available` pays for, by their exact cost. */
export function outputTokensWithin(
  bands: readonly PriceBand[],
  { promptTokens, cachedTokens }: Pick<TokenUsage, "promptTokens" | "cachedTokens">,
  available: NanoUsd,
): number {
  const band = bandOf(bands, promptTokens);
  return affordableQuantity(available, band.output, [
    [promptTokens - cachedTokens, band.input],
    [cachedTokens, band.cachedInput ?? band.input],
  ]);
}

function bandOf(bands: readonly PriceBand[], promptTokens: number): PriceBand {
  const band = bands.find(
    (row) => row.promptTokensMax === null || promptTokens <= row.promptTokensMax,
  );
  if (band === undefined) throw new Error("A model has no price band without an upper end");
  return band;
}

function mostExpensive(
  bands: readonly PriceBand[],
  priceOf: (band: PriceBand) => PicoUsd,
): PicoUsd {
  let highest = 0n as PicoUsd;
  for (const band of bands) {
    const price = priceOf(band);
    if (price > highest) highest = price;
  }
  return highest;
}

/** The most a prompt token can cost in this band, cached or not. */
function inputPrice({ input, cachedInput }: PriceBand): PicoUsd {
  return cachedInput !== null && cachedInput > input ? cachedInput : input;
}

function outputPrice({ output }: PriceBand): PicoUsd {
  return output;
}
