// Keys of an account: GET and POST …/keys, POST …/keys/{key}/revoke and …/keys/{key}/rename

import { type ReadableAccounts, readAccountSummary } from "../accounts/account-summary.ts";
import {
  type AdministrationDeps,
  createKey,
  findOwnKey,
  renameOwnKey,
  revokeKey,
} from "../accounts/administration.ts";
import { KEY_PREFIXES } from "../core/access/keys.ts";
import {
  type Scope,
  SERVICE_NAMES,
  SERVICES,
  type Surface,
  scopesOfSurface,
} from "../core/access/services.ts";
import { toDecimal, ZERO } from "../core/money/money.ts";
import { addressesFrom, amountFrom, scopesFrom } from "../core/text/field-rules.ts";
import { jsonBody } from "../http/body/json-body.ts";
import {
  type AccountContext,
  accountEndpoint,
  type ConsoleFrameDeps,
} from "../http/console/console-endpoint.ts";
import type { AccountRow, KeyRow, NewKey } from "../store/accounts/accounts.ts";
import {
  CHANGED_KEY_EXAMPLE,
  ChangedKey,
  type ChangedKeyReply,
  CREATED_KEY_EXAMPLE,
  CreatedKey,
  type CreatedKeyReply,
  KEYS_EXAMPLE,
  KeyName,
  Keys,
  type KeysReply,
  NewKey as NewKeyBody,
  type NewKeyBody as NewKeyFields,
} from "./keys-schema.ts";
import { noted } from "./noted.ts";
import { readField } from "./read-fields.ts";

export interface KeysDeps extends ConsoleFrameDeps {
  readonly administration: AdministrationDeps;
  readonly wallets: ReadableAccounts;
}

type Context = AccountContext<KeysDeps>;

const PATH = "/console/api/accounts/{account}/keys";
const BODY_BYTES_MAX = 16 * 1_024;

export const listKeys = accountEndpoint({
  id: "listKeys",
  method: "GET",
  path: PATH,
  role: "viewer",
  summary: "List the keys of an account",
  reply: Keys,
  examples: [{ summary: "One key", reply: KEYS_EXAMPLE }],
  run: ({ deps, account }: Context) => keysReply(deps, account),
});

/** Reads the keys of an account, and what they spent this month. */
export async function keysReply(
  deps: Pick<KeysDeps, "administration" | "wallets">,
  account: AccountRow,
): Promise<KeysReply> {
  const keys = await deps.administration.accounts.listKeys(account);
  const ids = keys.map(({ id }) => id);
  const summary = await readAccountSummary(deps.wallets, account, ids);
  return {
    prefix: KEY_PREFIXES[account.surface],
    scopes: scopesOfSurface(account.surface).map((scope) => ({
      scope,
      title: titleOf(account.surface, scope),
      in_tier: summary.tier.services.includes(scope),
    })),
    keys: keys.map((key) => ({
      ...termsJson(key),
      month_spent_usd: toDecimal(summary.keys.get(key.id)?.spent ?? ZERO),
    })),
  };
}

export const createConsoleKey = accountEndpoint({
  id: "createKey",
  method: "POST",
  path: PATH,
  role: "admin",
  summary: "Create a key; it is shown only once",
  body: jsonBody(NewKeyBody, { bytesMax: BODY_BYTES_MAX }),
  reply: CreatedKey,
  examples: [
    {
      summary: "A key for chat and search",
      body: {
        name: "production",
        scopes: ["models", "search"],
        ip_allowlist: ["203.0.113.0/24"],
        monthly_limit_usd: "50",
      },
      reply: CREATED_KEY_EXAMPLE,
    },
  ],
  async run(context: Context, fields: NewKeyFields) {
    const { deps, account } = context;
    const terms = termsOf(fields);
    const also = noted(context, "key_created", terms.name);
    const administration = { ...deps.administration, also };
    const { id, key, applied } = await createKey(administration, account.id, terms);
    const created = await oneKey(deps, account, id);
    return { key, created, applied } satisfies CreatedKeyReply;
  },
});

export const revokeConsoleKey = accountEndpoint({
  id: "revokeKey",
  method: "POST",
  path: `${PATH}/{key}/revoke`,
  role: "admin",
  summary: "Revoke a key: the next call with it is refused",
  reply: ChangedKey,
  examples: [{ summary: "A key that is gone", reply: CHANGED_KEY_EXAMPLE }],
  async run(context: Context) {
    const { deps, account, params } = context;
    const { id, name } = await findOwnKey(deps.administration, account, params.key ?? "");
    const also = noted(context, "key_revoked", name);
    const { applied } = await revokeKey({ ...deps.administration, also }, id);
    return { key: await oneKey(deps, account, id), applied } satisfies ChangedKeyReply;
  },
});

export const renameConsoleKey = accountEndpoint({
  id: "renameKey",
  method: "POST",
  path: `${PATH}/{key}/rename`,
  role: "admin",
  summary: "Give a key another name",
  body: jsonBody(KeyName, { bytesMax: BODY_BYTES_MAX }),
  reply: ChangedKey,
  examples: [
    {
      summary: "A new name",
      body: { name: "production" },
      reply: { ...CHANGED_KEY_EXAMPLE, key: CREATED_KEY_EXAMPLE.created },
    },
  ],
  async run(context: Context, fields: { readonly name: string }) {
    const { deps, account, params } = context;
    const named = { keyId: params.key ?? "", name: fields.name.trim() };
    const also = noted(context, "key_renamed", named.name);
    const { id, applied } = await renameOwnKey({ ...deps.administration, also }, account, named);
    return { key: await oneKey(deps, account, id), applied } satisfies ChangedKeyReply;
  },
});

/** The checks of `farebox key create`. */
function termsOf(fields: NewKeyFields): NewKey {
  const { scopes, ip_allowlist: entries = [], monthly_limit_usd: limit } = fields;
  return {
    name: fields.name.trim(),
    scopes: readField("scopes", () => scopesFrom(scopes)),
    ipAllowlist: readField("ip_allowlist", () => addressesFrom(entries)),
    monthlyLimit: limit == null ? null : readField("monthly_limit_usd", () => amountFrom(limit)),
  };
}

/** The Application API calls its scope a permission (SPEC 2.1). */
function titleOf(surface: Surface, scope: Scope): string {
  if (surface === "application") return "Models API";
  const service = SERVICE_NAMES.find((name) => SERVICES[name].scope === scope);
  return service === undefined ? scope : SERVICES[service].title;
}

async function oneKey({ administration }: KeysDeps, account: AccountRow, id: string) {
  return termsJson(await findOwnKey(administration, account, id));
}

function termsJson(key: KeyRow): ChangedKeyReply["key"] {
  const { monthlyLimit, createdAt, lastUsedAt, revokedAt } = key;
  return {
    id: key.id,
    name: key.name,
    last_four: key.lastFour,
    scopes: key.scopes,
    ip_allowlist: key.ipAllowlist,
    monthly_limit_usd: monthlyLimit === null ? null : toDecimal(monthlyLimit),
    created_at: createdAt.toISOString(),
    last_used_at: lastUsedAt?.toISOString() ?? null,
    revoked_at: revokedAt?.toISOString() ?? null,
  };
}
