// The digests of vouchers' codes, which are all that the database has of them.

import { createHash } from "node:crypto";
import { plainCode } from "./voucher-codes.ts";

/**
 * The digest of a code as a person typed it; null for a text that cannot be a code. A code has too
 * many random bits to be found from its digest, so the digest has no key.
 */
export function voucherDigest(typed: string): string | null {
  const code = plainCode(typed);
  return code === null ? null : createHash("sha256").update(`voucher ${code}`).digest("hex");
}

/** A short text that only these codes have, in any order; nobody finds a code from it. */
export function codesDigest(codes: readonly string[]): string {
  const digests = codes.map(voucherDigest).toSorted().join();
  return createHash("sha256").update(digests).digest("hex").slice(0, 16);
}
