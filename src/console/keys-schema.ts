// Defines the bodies of changes of keys.

import { MODEL_PATTERNS_MAX, RATE_MAX, TAGS_MAX } from "../core/access/key-limits.ts";
import { FORM_FIELDS } from "../core/text/form-fields.ts";
import { time, usdSchema } from "../http/console/fields.ts";
import { type Checked, nameText, nullable, optional, Type, text, whole } from "../http/schema.ts";

const IP_ENTRIES_MAX = 100;
const CLOSED = { additionalProperties: false } as const;

const models = Type.Array(text(), {
  minItems: 1,
  maxItems: MODEL_PATTERNS_MAX,
  must: `must be a list of 1 to ${MODEL_PATTERNS_MAX} models`,
  description: "Ids of the models that it may call; `*` stands for any characters",
});

const tags = Type.Array(text(), {
  maxItems: TAGS_MAX,
  description: "Words by which its calls are found and summed; an empty list takes them away",
});

const rate = (description: string) =>
  Type.Optional(nullable(whole(1, RATE_MAX, { description: `${description}; null for any` })));

const rates = {
  requests_per_minute: rate("Requests in 60 seconds; those of the tier apply too"),
  requests_per_day: rate("Requests in a UTC day"),
  tokens_per_minute: rate("Tokens of prompts and replies in 60 seconds"),
  tokens_per_day: rate("Tokens of prompts and replies in a UTC day"),
};

/** The scope of an application key is always `models`: its permission "Models API". */
export const NewKeyBody = Type.Object(
  {
    name: nameText(FORM_FIELDS.name.charactersMax),
    scopes: Type.Array(text(), {
      minItems: 1,
      maxItems: 8,
      must: "must be a list of at least one scope",
    }),
    ip_allowlist: Type.Optional(Type.Array(text(), { maxItems: IP_ENTRIES_MAX })),
    monthly_limit_usd: optional(usdSchema("A budget for each UTC month; none if missing")),
    ends_at: optional(time("From when on it is refused; never if missing")),
    models: Type.Optional(models),
    tags: Type.Optional(tags),
    ...rates,
  },
  CLOSED,
);
export type NewKeyFields = Checked<typeof NewKeyBody>;

export const KeyNameBody = Type.Object({ name: nameText(FORM_FIELDS.name.charactersMax) }, CLOSED);
export type KeyName = Checked<typeof KeyNameBody>;

/** A field that is missing stays as it is. */
export const KeyLimitsBody = Type.Object(
  {
    disabled: Type.Optional(
      Type.Boolean({ description: "True refuses every call until it is false again" }),
    ),
    ends_at: Type.Optional(nullable(time("From when on it is refused; null takes the end away"))),
    models: Type.Optional(nullable(models)),
    tags: Type.Optional(tags),
    ...rates,
  },
  CLOSED,
);
export type KeyLimitsFields = Checked<typeof KeyLimitsBody>;
