// The fee and the bonus of a top-up, computed as the server computes them, so that a page can show
// them before the payment. Only the payment provider knows the tax.

import type { BillingReply } from "../../src/readings/billing.ts";
import { nanoOf, usdOf } from "./money.ts";

const NANO_PER_CENT = 10_000_000n;
/** A percentage has at most so many decimals, so that it can be computed with whole numbers. */
const PERCENT_SCALE = 10_000;

/** The fee on an amount, rounded up to a cent. */
export function feeOf(usd: string, { fee }: Pick<BillingReply, "fee">): string {
  if (fee === null) return "0";
  const nano = partOf(usd, fee.percent) + nanoOf(fee.fixed_usd);
  return usdOf(((nano + NANO_PER_CENT - 1n) / NANO_PER_CENT) * NANO_PER_CENT);
}

/** The bonus on an amount, rounded down to a cent. */
export function bonusOf(usd: string, { bonus }: Pick<BillingReply, "bonus">): string {
  if (bonus === null) return "0";
  const [part, most] = [partOf(usd, bonus.percent), nanoOf(bonus.max_usd)];
  const nano = part < most ? part : most;
  return usdOf((nano / NANO_PER_CENT) * NANO_PER_CENT);
}

function partOf(usd: string, percent: number): bigint {
  const share = BigInt(Math.round(percent * PERCENT_SCALE));
  const divisor = BigInt(PERCENT_SCALE) * 100n;
  return (nanoOf(usd) * share + divisor - 1n) / divisor;
}
