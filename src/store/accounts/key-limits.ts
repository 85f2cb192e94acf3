// Limits the keys of an account, the addresses in their allowlists and the patterns of models: the
// access document of the account contains all of them.

import { and, count, eq, isNull, ne, sql } from "drizzle-orm";
import type { ModelPatterns } from "../../core/access/key-limits.ts";
import type { Transaction } from "../servers/transaction.ts";
import { keys } from "../tables/account-schema.ts";

/** The account has as many keys, or addresses or patterns of theirs, as it may have at once. */
export class TooManyKeys extends Error {
  override readonly name = "TooManyKeys";
}

/** Every process reads the whole document with each change of it. */
export const KEYS_MAX = 1_000;
export const KEY_ADDRESSES_MAX = 5_000;
export const KEY_PATTERNS_MAX = 5_000;

/** @throws TooManyKeys */
export async function refuseTooManyKeys(
  tx: Transaction,
  account: number,
  { ipAllowlist }: { readonly ipAllowlist: readonly string[] },
): Promise<void> {
  const isLive = and(eq(keys.account, account), isNull(keys.revokedAt), isNull(keys.expiresAt));
  const addresses = sql<number>`coalesce(sum(cardinality(${keys.ipAllowlist})), 0)::int`;
  const [live] = await tx.select({ count: count(), addresses }).from(keys).where(isLive);
  const all = ipAllowlist.length + (live?.addresses ?? 0);
  if ((live?.count ?? 0) >= KEYS_MAX) {
    throw new TooManyKeys(`The account has ${KEYS_MAX} keys, as many as it may have: revoke one`);
  }
  if (ipAllowlist.length === 0 || all <= KEY_ADDRESSES_MAX) return;
  throw new TooManyKeys(
    `The keys of the account may have ${KEY_ADDRESSES_MAX} addresses in their allowlists; with ` +
      `this one they would have ${all}`,
  );
}

/**
 * Refuses patterns of one key that the account has no room for beside those of its other keys.
 * @throws TooManyKeys
 */
export async function refuseTooManyPatterns(
  tx: Transaction,
  account: number,
  { keyId, models }: { readonly keyId: string; readonly models: ModelPatterns },
): Promise<void> {
  if (models === null) return;
  const others = and(eq(keys.account, account), isNull(keys.revokedAt), ne(keys.id, keyId));
  const patterns = sql<number>`coalesce(sum(cardinality(${keys.models})), 0)::int`;
  const [sum] = await tx.select({ patterns }).from(keys).where(others);
  const all = models.length + (sum?.patterns ?? 0);
  if (all <= KEY_PATTERNS_MAX) return;
  throw new TooManyKeys(
    `The keys of the account may have ${KEY_PATTERNS_MAX} patterns of models; with these they ` +
      `would have ${all}`,
  );
}
