// GET /console/api/me: the person who is signed in, and the facts of this installation for the
// pages.

import { ROLES } from "../../core/access/roles.ts";
import { LANGUAGE_TAGS } from "../../core/languages.ts";
import { PROVIDER_NAMES } from "../../core/money/payment-names.ts";
import { list, reply, time } from "../../http/console/fields.ts";
import { type Checked, nullable, oneOf, Type, text } from "../../http/schema.ts";

export const Me = reply({
  person: Type.Object({
    id: text(),
    email: text(),
    name: text(),
    language: nullable(
      oneOf(LANGUAGE_TAGS, {
        description: "Of their pages and mails; null if it is not offered here any more",
      }),
    ),
    is_operator: Type.Boolean(),
    has_two_factor: Type.Boolean({ description: "The app for codes is on" }),
    second_factor: oneOf(["on", "off", "needs_link"], {
      description:
        "Whether the person has an app or a passkey; an operator who has neither sets one up " +
        "after signing in with a link of `farebox operator invite`",
    }),
    operator_pages: nullable(
      oneOf(["open", "need_sso", "need_second_factor"], {
        description: "What the pages of operators ask of this session; null for everybody else",
      }),
    ),
    is_by_sso: Type.Boolean({
      description: "This session began at the provider of single sign-on; a passkey begins another",
    }),
    proved_at: time("When the password, a code or a link was last given"),
  }),
  accounts: list(
    Type.Object({
      id: text(),
      name: text(),
      surface: oneOf(["gateway", "application"]),
      state: oneOf(["active", "suspended", "closed"]),
      role: oneOf(ROLES),
    }),
  ),
  installation: Type.Object({
    base_url: text({ description: "The address to put into an SDK, without /v1" }),
    version: text(),
    payments: nullable(oneOf(PROVIDER_NAMES)),
    mail_sink: Type.Boolean({
      description: "Mails reach nobody: no mail server is configured",
    }),
  }),
});
export type MeReply = Checked<typeof Me>;

export const ME_EXAMPLE: MeReply = {
  person: {
    id: "person_7n42DGM5Tflk9n8mt7Fhc7",
    email: "ada@example.com",
    name: "Ada",
    language: "en",
    is_operator: false,
    has_two_factor: false,
    second_factor: "off",
    operator_pages: null,
    is_by_sso: false,
    proved_at: "2026-11-22T09:00:00.000Z",
  },
  accounts: [
    {
      id: "acct_7n42DGM5Tflk9n8mt7Fhc7",
      name: "Ada's account",
      surface: "gateway",
      state: "active",
      role: "owner",
    },
  ],
  installation: {
    base_url: "http://127.0.0.1:8080",
    version: "0.1.0",
    payments: "sandbox",
    mail_sink: true,
  },
};
