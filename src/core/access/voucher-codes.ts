// The codes of vouchers: 120 random bits, in groups that a person can type. Pages may import this
// file; the digests of codes are in voucher-digest.ts.

import type { RandomBytes } from "../ids.ts";
import { base32 } from "../text/base32.ts";

const BYTES = 15;
const GROUP = /.{4}(?=.)/g;
const CODE = /^[a-z2-7]{24}$/;

/** The name of a batch, and the rule in words. */
export const BATCH_PATTERN = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$";
export const BATCH_RULE = "must be 1 to 64 letters, digits, '.', '_' and '-'";
/** The most codes of a batch, and the most accounts that may redeem one code. */
export const CODES_MAX = 5_000;
export const USES_MAX = 1_000_000;
/** The columns of a batch's file. */
export const VOUCHER_COLUMNS = [
  "code",
  "usd",
  "uses",
  "link",
  "free_days",
  "plan",
  "months",
] as const;
/** The longest time that free credit of a voucher lasts. */
export const FREE_DAYS_MAX = 3_650;

/** A new code such as `k3vq-7zma-…`. The code is shown once; only its digest is stored. */
export function newVoucherCode(random: RandomBytes): string {
  return base32(random(BYTES)).replaceAll(GROUP, "$&-");
}

/**
 * A code as it was made, from a person's typing: case, spaces and hyphens do not count, and digits
 * that no code has are the letters that they look like. Null for a text that cannot be a code.
 */
export function plainCode(typed: string): string | null {
  const code = typed
    .toLowerCase()
    .replaceAll(/[\s-]/g, "")
    .replaceAll("0", "o")
    .replaceAll("1", "l")
    .replaceAll("8", "b");
  return CODE.test(code) ? code : null;
}

/**
 * The link that brings a code to the billing page of the person who opens the link. No server sees
 * the part after the `#` (D-915).
 */
export function voucherLink(consoleOrigin: string, code: string): string {
  return `${consoleOrigin}/dashboard/billing#voucher=${code}`;
}
