// Lists the keys of an account, with their spending of this month.

import { readAccountSummary } from "../accounts/account-summary.ts";
import { KEY_PREFIXES } from "../core/access/keys.ts";
import {
  type Scope,
  type Surface,
  scopesOfSurface,
  serviceOfScope,
  serviceTitle,
} from "../core/access/services.ts";
import { ZERO } from "../core/money/money.ts";
import {
  flag,
  integer,
  jsonFrom,
  listOf,
  nested,
  nullable,
  text,
  time,
  usdField,
  type WireOf,
} from "../core/records.ts";
import type { AccountRow } from "../store/accounts/accounts.ts";
import type { WalletStores } from "./reading.ts";

const LATER = "2026-12-31T00:00:00.000Z";

function rate(about: string) {
  return nullable(integer({ about, sample: 60 }), { sample: null });
}

/** The fields of a key that Postgres has: the reply to a change needs no answer of Redis. */
export const KeyTerms = {
  id: text({ sample: "key_7n42DGM5Tflk9n8mt7Fhc7" }),
  name: text({ sample: "production" }),
  last_four: text({ sample: "k9Qz" }),
  scopes: listOf(text({ sample: "models" }), { sample: ["models", "search"] }),
  ip_allowlist: listOf(text({ sample: "203.0.113.0/24" })),
  monthly_limit_usd: nullable(
    usdField({ about: "The key's own budget for a UTC month", sample: "50" }),
  ),
  models: nullable(
    listOf(
      text({
        about: "Of a model that it may call; `*` stands for any characters",
        sample: "swift-*",
      }),
    ),
    { sample: null },
  ),
  tags: listOf(text({ about: "By which its calls are found and summed", sample: "web" })),
  requests_per_minute: rate("Requests in 60 seconds; null: those of the tier"),
  requests_per_day: rate("Requests in a UTC day"),
  tokens_per_minute: rate("Tokens of prompts and replies in 60 seconds"),
  tokens_per_day: rate("Tokens of prompts and replies in a UTC day"),
  ends_at: nullable(time({ about: "From when on it is refused", sample: LATER }), { sample: null }),
  disabled_at: nullable(time({ about: "Since when it is disabled", sample: LATER }), {
    sample: null,
  }),
  created_at: time({ sample: "2026-11-02T09:12:00.000Z" }),
  last_used_at: nullable(time({ sample: "2026-11-22T14:03:20.000Z" })),
  revoked_at: nullable(time({ sample: "2026-11-22T14:05:00.000Z" }), { sample: null }),
};

const Key = {
  ...KeyTerms,
  month_spent_usd: usdField({ about: "Charged to this key in this UTC month", sample: "12.40031" }),
};

const KeyScope = {
  scope: text({ sample: "models" }),
  title: text({ sample: "Chat" }),
  in_tier: flag({ sample: true }),
};

export const Keys = {
  prefix: text({ about: "What keys of this account begin with", sample: KEY_PREFIXES.gateway }),
  scopes: listOf(nested(KeyScope), {
    sample: scopesOf("gateway", ["models", "search", "maps"]),
  }),
  keys: listOf(nested(Key)),
};
export type KeysReply = WireOf<typeof Keys>;

export const keyTermsJson = jsonFrom(KeyTerms);
const keyJson = jsonFrom(Key);

export async function keysReply(
  { administration, wallets }: WalletStores,
  account: AccountRow,
): Promise<KeysReply> {
  const keys = await administration.accounts.listKeys(account);
  const ids = keys.map(({ id }) => id);
  const { tier, keys: use } = await readAccountSummary(wallets, account, ids);
  return {
    prefix: KEY_PREFIXES[account.surface],
    scopes: scopesOf(account.surface, tier.services),
    keys: keys.map((key) => keyJson({ ...key, monthSpent: use.get(key.id)?.spent ?? ZERO })),
  };
}

function scopesOf(surface: Surface, inTier: readonly Scope[]): WireOf<typeof KeyScope>[] {
  return scopesOfSurface(surface).map((scope) => ({
    scope,
    title: titleOf(surface, scope),
    in_tier: inTier.includes(scope),
  }));
}

/** The Application API calls its scope a permission (SPEC 2.1). */
function titleOf(surface: Surface, scope: Scope): string {
  if (surface === "application") return "Models API";
  return serviceTitle(serviceOfScope(scope));
}
