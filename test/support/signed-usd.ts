import { usd } from "../../src/core/money/money.ts";

/** The nano-dollars of a decimal amount that may be below zero. */
export function signedUsd(text: string): bigint {
  return text.startsWith("-") ? -usd(text.slice(1)) : usd(text);
}
