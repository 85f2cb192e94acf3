// Defines the bodies with which people change themselves and their accounts.

import { LANGUAGE_TAGS } from "../../core/languages.ts";
import { FORM_FIELDS } from "../../core/text/form-fields.ts";
import { list, reply, time, usdSchema } from "../../http/console/fields.ts";
import {
  type Checked,
  nameText,
  nullable,
  oneOf,
  shortText,
  Type,
  text,
} from "../../http/schema.ts";

const strict = { additionalProperties: false } as const;

export const NameBody = Type.Object(
  { name: nameText(FORM_FIELDS.name.charactersMax, { description: "A name" }) },
  strict,
);
export const LanguageBody = Type.Object({ language: oneOf(LANGUAGE_TAGS) }, strict);
export const EmailBody = Type.Object(
  { email: text({ maxLength: FORM_FIELDS.email.charactersMax }) },
  strict,
);
export const TokenBody = Type.Object(
  { token: shortText(128, { description: "From the mailed link" }) },
  strict,
);
export const NewEmailBody = Type.Object(
  { token: shortText(512, { description: "From the mailed link; it ends with the address" }) },
  strict,
);
export const ProofBody = Type.Object(
  {
    password: Type.Optional(
      shortText(FORM_FIELDS.password.charactersMax, { description: "The password" }),
    ),
    otp: Type.Optional(
      text({ pattern: "^\\d{6}$", must: "must be six digits", description: "A mailed code" }),
    ),
  },
  strict,
);
export const NewAccountBody = Type.Object(
  {
    surface: oneOf(["application"]),
    name: nameText(FORM_FIELDS.name.charactersMax, { description: "What its people call it" }),
  },
  strict,
);

export const Changed = reply({ ok: Type.Boolean() });
export const Closed = reply({
  ok: Type.Boolean(),
  paid_left_usd: usdSchema("Paid balance that is left; the operator can refund it"),
});
export const CreatedAccount = reply({ id: text(), account: text({ description: "The same id" }) });
export const Email = reply({ email: text() });
export const Mailed = reply({
  ok: Type.Boolean(),
  development: Type.Optional(
    Type.Object({ link: Type.Optional(text()), code: Type.Optional(text()) }),
  ),
});

export const Sessions = reply({
  sessions: list(
    Type.Object({
      id: text(),
      is_this: Type.Boolean(),
      user_agent: nullable(text()),
      country: nullable(text()),
      created_at: time("When the person signed in"),
      expires_at: time("When it ends by itself"),
    }),
  ),
});
export type SessionsReply = Checked<typeof Sessions>;

export const SESSIONS_EXAMPLE: SessionsReply = {
  sessions: [
    {
      id: "session_7n42DGM5Tflk9n8mt7Fhc7",
      is_this: true,
      user_agent: "Mozilla/5.0",
      country: "DE",
      created_at: "2026-11-22T09:00:00.000Z",
      expires_at: "2026-12-06T09:00:00.000Z",
    },
  ],
};
