// Prints facts about keys. The secrets of keys are stored nowhere.

import type { AccountSummary } from "../../accounts/account-summary.ts";
import { type KeyRates, RATE_WORDS } from "../../core/access/key-limits.ts";
import { dollars, type NanoUsd, toJsonNumber, ZERO } from "../../core/money/money.ts";
import type { KeyRow } from "../../store/accounts/accounts.ts";
import { table, utc } from "../print.ts";

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
    key.models === null ? "any model" : key.models.join(","),
    ratesText(key),
    key.tags.length === 0 ? "no tag" : key.tags.join(","),
    key.lastUsedAt === null ? "never used" : `used ${utc(key.lastUsedAt)}`,
    stateWords(key),
  ]);
  return table(rows);
}

function ratesText(key: KeyRow): string {
  const units = Object.entries(RATE_WORDS).map(([name, unit]) => {
    const rate = key[name as keyof KeyRates];
    return rate === null ? null : `${rate} ${unit}`;
  });
  return units.filter((words) => words !== null).join(", ") || "any rate";
}

function stateWords({ revokedAt, disabledAt, endsAt }: KeyRow): string {
  if (revokedAt !== null) return `revoked ${utc(revokedAt)}`;
  const disabled = disabledAt === null ? [] : [`disabled ${utc(disabledAt)}`];
  const end = endsAt === null ? [] : [`ends ${utc(endsAt)}`];
  return [...disabled, ...end].join(", ");
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
    ...keyLimitsJson(key),
    created_at: key.createdAt,
    last_used_at: key.lastUsedAt,
    revoked_at: key.revokedAt,
  };
}

/** The limits of a key in the JSON of commands. */
export function keyLimitsJson(key: KeyRow) {
  return {
    models: key.models,
    tags: key.tags,
    requests_per_minute: key.requestsPerMinute,
    requests_per_day: key.requestsPerDay,
    tokens_per_minute: key.tokensPerMinute,
    tokens_per_day: key.tokensPerDay,
    ends_at: key.endsAt,
    disabled_at: key.disabledAt,
  };
}
