// Computes the fee and the bonus of a top-up from the operator's settings.

import { add, centsDown, centsUp, min, type NanoUsd, nano, proportionUp } from "./money.ts";

/** A part of an amount, in hundredths of a percent: 2.9 % is 290. */
export type BasisPoints = number;

export interface TopUpTerms {
  /** The payer's cost above the credit. */
  readonly fee: { readonly basisPoints: BasisPoints; readonly fixed: NanoUsd };
  /** The gift on top of the credit of a holder's first top-up. */
  readonly bonus: { readonly basisPoints: BasisPoints; readonly max: NanoUsd };
}

const WHOLE = nano(10_000n);

/** The fee of a top-up, in whole cents, rounded up. */
export function feeOf(amount: NanoUsd, { fee }: TopUpTerms): NanoUsd {
  return centsUp(add(partOf(amount, fee.basisPoints), fee.fixed));
}

/** The bonus of a first top-up, in whole cents, rounded down. */
export function bonusOf(amount: NanoUsd, { bonus }: TopUpTerms): NanoUsd {
  return min(centsDown(partOf(amount, bonus.basisPoints)), centsDown(bonus.max));
}

function partOf(amount: NanoUsd, basisPoints: BasisPoints): NanoUsd {
  return proportionUp(amount, nano(BigInt(basisPoints)), WHOLE);
}
