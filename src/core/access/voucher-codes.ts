// The codes of vouchers: 120 random bits, in groups that a person can type.

import { createHash } from "node:crypto";
import type { RandomBytes } from "../ids.ts";
import { base32 } from "../text/base32.ts";

const BYTES = 15;
const GROUP = /.{4}(?=.)/g;
const CODE = /^[a-z2-7]{24}$/;

/** A new code such as `k3vq-7zma-…`. It is shown once; only its digest is stored. */
export function newVoucherCode(random: RandomBytes): string {
  return base32(random(BYTES)).replaceAll(GROUP, "$&-");
}

/**
 * The digest of a code as a person typed it: case, spaces and hyphens do not count, and digits that
 * no code has are the letters that they look like. Null for a text that cannot be a code. A code
 * has too many random bits to be found from its digest, so the digest has no key.
 */
export function voucherDigest(typed: string): string | null {
  const code = typed
    .toLowerCase()
    .replaceAll(/[\s-]/g, "")
    .replaceAll("0", "o")
    .replaceAll("1", "l")
    .replaceAll("8", "b");
  return CODE.test(code) ? createHash("sha256").update(`voucher ${code}`).digest("hex") : null;
}
