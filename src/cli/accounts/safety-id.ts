// Finds the account behind an identifier that a provider names in a complaint.

import { accountPartOf, SafetyIds } from "../../core/access/safety-ids.ts";
import type { SecretList } from "../../core/secrets.ts";
import { PRESET_NAMES } from "../../services/chat/models/provider-presets.ts";
import { accountIds } from "../../store/accounts/account-search.ts";
import type { Database } from "../../store/servers/database.ts";
import { UsageError } from "../command.ts";

/** An account, and the provider that got the identifier. */
export interface IdentifiedAccount {
  readonly account: string;
  readonly provider: string;
  /** True if the identifier was made with a secret that is no longer the current one. */
  readonly isEarlier: boolean;
}

/** The part of an identifier to look for. @throws UsageError for a text that we never send */
export function safetyIdPart(text: string): string {
  const part = accountPartOf(text);
  if (part !== null) return part;
  throw new UsageError(
    "--safety-id must be 26 characters of a-z and 2-7, alone or before '_' and 26 more",
  );
}

/**
 * The account whose identifier begins with this part; null if there is none. Each account is hashed
 * for each provider and secret: identifiers are stored nowhere.
 */
export async function identifiedAccount(
  database: Database,
  part: string,
  secrets: SecretList,
): Promise<IdentifiedAccount | null> {
  const makers = secrets.flatMap((secret, at) =>
    PRESET_NAMES.map((provider) => {
      return { provider, ids: new SafetyIds(secret, provider), isEarlier: at > 0 };
    }),
  );
  for await (const account of accountIds(database)) {
    const maker = makers.find(({ ids }) => ids.accountPart(account) === part);
    if (maker === undefined) continue;
    const { provider, isEarlier } = maker;
    return { account, provider, isEarlier };
  }
  return null;
}
