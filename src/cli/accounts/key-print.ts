// Prints facts about keys. The secrets of keys are stored nowhere.

import type { AccountSummary } from "../../accounts/account-summary.ts";
import { type NanoUsd, toJsonNumber, ZERO } from "../../core/money/money.ts";
import type { KeyRow } from "../../store/accounts/accounts.ts";
import { dollars, table, utc } from "../print.ts";

/** Prints a line for each key: scopes, spending and last use. */
export function keysText(keys: readonly KeyRow[], summary: AccountSummary): string {
  if (keys.length === 0) return "none";
  const rows = keys.map((key) => [
    key.id,
    key.name,
    key.scopes.join(","),
    `…${key.lastFour}`,
    `${dollars(spentBy(key, summary))}${
      key.monthlyLimit === null ? "" : ` of ${dollars(key.monthlyLimit)}`
    } this month`,
    key.ipAllowlist.length === 0 ? "any address" : key.ipAllowlist.join(","),
    key.lastUsedAt === null ? "never used" : `used ${utc(key.lastUsedAt)}`,
    key.revokedAt === null ? "" : `revoked ${utc(key.revokedAt)}`,
  ]);
  return table(rows);
}

/** The amount that a key spent in this UTC month. */
function spentBy({ id }: KeyRow, { keys }: AccountSummary): NanoUsd {
  return keys.get(id)?.spent ?? ZERO;
}

/** A key in the JSON of commands. */
export function keyJson(key: KeyRow, summary: AccountSummary) {
  return {
    id: key.id,
    name: key.name,
    scopes: key.scopes,
    ip: key.ipAllowlist,
    monthly_limit_usd: key.monthlyLimit === null ? null : toJsonNumber(key.monthlyLimit),
    month_spent_usd: toJsonNumber(spentBy(key, summary)),
    last_four: key.lastFour,
    created_at: key.createdAt,
    last_used_at: key.lastUsedAt,
    revoked_at: key.revokedAt,
  };
}
