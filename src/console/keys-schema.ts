// Defines the bodies of changes of keys.

import { FORM_FIELDS } from "../core/text/form-fields.ts";
import { usd } from "../http/console/fields.ts";
import { type Checked, nameText, optional, Type, text } from "../http/schema.ts";

const IP_ENTRIES_MAX = 100;
const CLOSED = { additionalProperties: false } as const;

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
    monthly_limit_usd: optional(usd("A budget for each UTC month; none if missing")),
  },
  CLOSED,
);
export type NewKeyFields = Checked<typeof NewKeyBody>;

export const KeyNameBody = Type.Object({ name: nameText(FORM_FIELDS.name.charactersMax) }, CLOSED);
export type KeyName = Checked<typeof KeyNameBody>;
