// Changes of the keys of an account: POST …/keys, and …/keys/{key}/revoke, …/rename and …/limits

import { changeOwnKey, createKey, findOwnKey, revokeKey } from "../accounts/administration.ts";
import { type KeyChange, type KeyRates, keyChangeWords } from "../core/access/key-limits.ts";
import { ApiError } from "../core/errors.ts";
import { nested, sampleOf, text, type WireOf } from "../core/records.ts";
import {
  addressesFrom,
  amountFrom,
  futureFrom,
  modelsFrom,
  scopesFrom,
  tagsFrom,
  timeFrom,
} from "../core/text/field-rules.ts";
import { readField } from "../http/body/checks.ts";
import { jsonBody } from "../http/body/json-body.ts";
import {
  type AccountContext,
  accountEndpoint,
  type ConsoleFrameDeps,
} from "../http/console/console-endpoint.ts";
import { replyWith } from "../http/console/record-schema.ts";
import { KeyTerms, keyTermsJson } from "../readings/keys.ts";
import type { WalletStores } from "../readings/reading.ts";
import type { AccountRow, NewKey } from "../store/accounts/accounts.ts";
import { APPLIED } from "./applied.ts";
import {
  KeyLimitsBody,
  type KeyLimitsFields,
  type KeyName,
  KeyNameBody,
  NewKeyBody,
  type NewKeyFields,
} from "./keys-schema.ts";
import { noted } from "./noted.ts";

export interface KeysDeps extends ConsoleFrameDeps, WalletStores {}

type KeysContext = AccountContext<KeysDeps>;

const PATH = "/console/api/accounts/{account}/keys";
const BODY_BYTES_MAX = 16 * 1_024;

const CreatedKey = {
  key: text({
    about: "The key itself: shown here and never again",
    sample: "svc_live_7n42DGM5Tflk9n8mt7Fhc77n42DGM5Tflk9n8mt7Fhc7",
  }),
  created: nested(KeyTerms),
  applied: APPLIED,
};
export type CreatedKeyReply = WireOf<typeof CreatedKey>;

/** A key after a change of it. */
const ChangedKey = { key: nested(KeyTerms), applied: APPLIED };
export type ChangedKeyReply = WireOf<typeof ChangedKey>;

export const createConsoleKey = accountEndpoint({
  id: "createKey",
  method: "POST",
  path: PATH,
  role: "admin",
  summary: "Create a key; it is shown only once",
  body: jsonBody(NewKeyBody, { bytesMax: BODY_BYTES_MAX }),
  ...replyWith(CreatedKey, {
    summary: "A key for chat and search",
    body: {
      name: "production",
      scopes: ["models", "search"],
      ip_allowlist: ["203.0.113.0/24"],
      monthly_limit_usd: "50",
    },
  }),
  async run(context: KeysContext, fields: NewKeyFields) {
    const { deps, account } = context;
    const terms = termsOf(fields, deps.clock.now());
    const also = noted(context, "key_created", terms.name);
    const administration = { ...deps.administration, also };
    const { id, key, applied } = await createKey(administration, account.id, terms);
    const created = await oneKey(deps, account, id);
    return { key, created, applied };
  },
});

export const revokeConsoleKey = accountEndpoint({
  id: "revokeKey",
  method: "POST",
  path: `${PATH}/{key}/revoke`,
  role: "admin",
  summary: "Revoke a key: the next call with it is refused",
  ...replyWith(ChangedKey, {
    summary: "A key that is gone",
    reply: { key: { ...sampleOf(KeyTerms), revoked_at: "2026-11-22T14:05:00.000Z" } },
  }),
  async run(context: KeysContext) {
    const { deps, account, params } = context;
    const { id, name } = await findOwnKey(deps.administration, account, params.key ?? "");
    const also = noted(context, "key_revoked", name);
    const { applied } = await revokeKey({ ...deps.administration, also }, id);
    return { key: await oneKey(deps, account, id), applied };
  },
});

export const renameConsoleKey = accountEndpoint({
  id: "renameKey",
  method: "POST",
  path: `${PATH}/{key}/rename`,
  role: "admin",
  summary: "Give a key another name",
  body: jsonBody(KeyNameBody, { bytesMax: BODY_BYTES_MAX }),
  ...replyWith(ChangedKey, { summary: "A new name", body: { name: "production" } }),
  async run(context: KeysContext, fields: KeyName) {
    const { deps, account, params } = context;
    const named = { keyId: params.key ?? "", name: fields.name.trim() };
    const also = noted(context, "key_renamed", named.name);
    const { id, applied } = await changeOwnKey({ ...deps.administration, also }, account, named);
    return { key: await oneKey(deps, account, id), applied };
  },
});

export const setKeyLimits = accountEndpoint({
  id: "setKeyLimits",
  method: "POST",
  path: `${PATH}/{key}/limits`,
  role: "admin",
  summary: "Disable or enable a key, or change its end or its models",
  body: jsonBody(KeyLimitsBody, { bytesMax: BODY_BYTES_MAX }),
  ...replyWith(ChangedKey, {
    summary: "Only the models of one family",
    body: { models: ["swift-*"] },
    reply: { key: { ...sampleOf(KeyTerms), models: ["swift-*"] } },
  }),
  async run(context: KeysContext, fields: KeyLimitsFields) {
    const { deps, account, params } = context;
    const change = changeOf(fields, deps.clock.now());
    const words = keyChangeWords(change);
    if (words === "") throw new ApiError("invalid_parameter", "The body must change something");
    const { id, name } = await findOwnKey(deps.administration, account, params.key ?? "");
    const also = noted(context, "key_limited", `${name}: ${words}`);
    const changed = { ...change, keyId: id };
    const { applied } = await changeOwnKey({ ...deps.administration, also }, account, changed);
    return { key: await oneKey(deps, account, id), applied };
  },
});

/** The checks of `farebox key create`. */
function termsOf(fields: NewKeyFields, nowMs: number): NewKey {
  const { scopes, ip_allowlist: entries = [], monthly_limit_usd: limit } = fields;
  const { ends_at: end, ...others } = fields;
  return {
    name: fields.name.trim(),
    scopes: readField("scopes", () => scopesFrom(scopes)),
    ipAllowlist: readField("ip_allowlist", () => addressesFrom(entries)),
    monthlyLimit: limit == null ? null : readField("monthly_limit_usd", () => amountFrom(limit)),
    ...changeOf({ ...others, ...(end != null && { ends_at: end }) }, nowMs),
  };
}

/** The checks of `farebox key set`. */
function changeOf(
  { disabled, ends_at: end, models, tags, ...rates }: KeyLimitsFields,
  nowMs: number,
): KeyChange {
  return {
    ...(disabled !== undefined && { isDisabled: disabled }),
    ...(end !== undefined && {
      endsAt: end === null ? null : readField("ends_at", () => futureFrom(timeFrom(end), nowMs)),
    }),
    ...(models !== undefined && {
      models: models === null ? null : readField("models", () => modelsFrom(models)),
    }),
    ...(tags !== undefined && { tags: readField("tags", () => tagsFrom(tags)) }),
    ...ratesOf(rates),
  };
}

function ratesOf({
  requests_per_minute: requestsPerMinute,
  requests_per_day: requestsPerDay,
  tokens_per_minute: tokensPerMinute,
  tokens_per_day: tokensPerDay,
}: KeyLimitsFields): Partial<KeyRates> {
  return {
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(requestsPerDay !== undefined && { requestsPerDay }),
    ...(tokensPerMinute !== undefined && { tokensPerMinute }),
    ...(tokensPerDay !== undefined && { tokensPerDay }),
  };
}

async function oneKey({ administration }: KeysDeps, account: AccountRow, id: string) {
  return keyTermsJson(await findOwnKey(administration, account, id));
}
