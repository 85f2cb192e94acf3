// Keys of an account: listed, created, renamed, and revoked.

import { NAME_CHARACTERS_MAX } from "../core/text/field-rules.ts";
import { list, reply, time, usd } from "../http/console/fields.ts";
import { type Checked, nameText, nullable, optional, Type, text } from "../http/schema.ts";

const IP_ENTRIES_MAX = 100;

/** What Postgres has of a key: a change is answered with it though Redis does not answer. */
const TERMS = {
  id: text(),
  name: text(),
  last_four: text(),
  scopes: list(text()),
  ip_allowlist: list(text()),
  monthly_limit_usd: nullable(usd("The key's own budget for a UTC month")),
  created_at: time("When"),
  last_used_at: nullable(time("When")),
  revoked_at: nullable(time("When")),
};

const Key = Type.Object({
  ...TERMS,
  month_spent_usd: usd("Charged to this key in this UTC month"),
});
const KeyTerms = Type.Object(TERMS);

export const Keys = reply({
  prefix: text({ description: "What keys of this account begin with" }),
  scopes: list(Type.Object({ scope: text(), title: text(), in_tier: Type.Boolean() })),
  keys: list(Key),
});
export type KeysReply = Checked<typeof Keys>;

/** The scope of an application key is always `models`: its permission "Models API". */
export const NewKey = Type.Object(
  {
    name: nameText(NAME_CHARACTERS_MAX),
    scopes: Type.Array(text(), {
      minItems: 1,
      maxItems: 8,
      must: "must be a list of at least one scope",
    }),
    ip_allowlist: Type.Optional(Type.Array(text(), { maxItems: IP_ENTRIES_MAX })),
    monthly_limit_usd: optional(usd("A budget for each UTC month; none if missing")),
  },
  { additionalProperties: false },
);
export type NewKeyBody = Checked<typeof NewKey>;

const Applied = Type.Boolean({
  description: "False where Redis did not answer: the change takes effect once it does",
});

export const CreatedKey = reply({
  key: text({ description: "The key itself: shown here and never again" }),
  created: KeyTerms,
  applied: Applied,
});
export type CreatedKeyReply = Checked<typeof CreatedKey>;

export const KeyName = Type.Object(
  { name: nameText(NAME_CHARACTERS_MAX) },
  { additionalProperties: false },
);

/** A key after a change of it. */
export const ChangedKey = reply({ key: KeyTerms, applied: Applied });
export type ChangedKeyReply = Checked<typeof ChangedKey>;

const TERMS_EXAMPLE: ChangedKeyReply["key"] = {
  id: "key_7n42DGM5Tflk9n8mt7Fhc7",
  name: "production",
  last_four: "k9Qz",
  scopes: ["models", "search"],
  ip_allowlist: ["203.0.113.0/24"],
  monthly_limit_usd: "50",
  created_at: "2026-11-02T09:12:00.000Z",
  last_used_at: "2026-11-22T14:03:20.000Z",
  revoked_at: null,
};

export const KEYS_EXAMPLE: KeysReply = {
  prefix: "svc_live_",
  scopes: [
    { scope: "models", title: "Chat", in_tier: true },
    { scope: "search", title: "Search", in_tier: true },
    { scope: "maps", title: "Maps", in_tier: true },
    { scope: "mail", title: "Mail", in_tier: false },
  ],
  keys: [{ ...TERMS_EXAMPLE, month_spent_usd: "12.40031" }],
};

export const CREATED_KEY_EXAMPLE: CreatedKeyReply = {
  key: "svc_live_7n42DGM5Tflk9n8mt7Fhc77n42DGM5Tflk9n8mt7Fhc7",
  created: TERMS_EXAMPLE,
  applied: true,
};

export const CHANGED_KEY_EXAMPLE: ChangedKeyReply = {
  key: { ...TERMS_EXAMPLE, revoked_at: "2026-11-22T14:05:00.000Z" },
  applied: true,
};
