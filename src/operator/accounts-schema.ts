// Accounts as operators find and read them.

import { before, list, reply, time, usd } from "../console/fields.ts";
import { TEAM_EXAMPLE, Team } from "../console/people/team-schema.ts";
import { OVERVIEW_EXAMPLE, Overview } from "../console/usage/overview-schema.ts";
import { PLAN_NAMES } from "../core/access/limits.ts";
import { type Checked, nullable, oneOf, optional, Type, text } from "../http/schema.ts";

const TEXT_CHARACTERS_MAX = 200;
const STATES = ["active", "suspended", "closed"] as const;
const SURFACES = ["gateway", "application"] as const;

export const SearchQuery = Type.Object(
  {
    text: optional(
      text({
        maxLength: TEXT_CHARACTERS_MAX,
        description:
          "An id of an account, key, payment, top-up, card, person or request; an id that the " +
          "payment provider gave; a part of a name or an address; the last four characters of a " +
          "key. Every account if missing",
      }),
    ),
    before,
  },
  { additionalProperties: false },
);

const FoundAccount = Type.Object({
  id: text(),
  name: nullable(text()),
  email: nullable(text()),
  surface: oneOf(SURFACES),
  state: oneOf(STATES),
  state_reason: nullable(text()),
  paid_usd: usd("Paid balance as the ledger has it, with what is held"),
  free_usd: usd("Free credit as the ledger has it, with what is held"),
  owed_usd: usd("Owed for reversed payments"),
  created_at: time("When"),
});

export const FoundAccounts = reply({ accounts: list(FoundAccount), next: nullable(text()) });
export type FoundAccountsReply = Checked<typeof FoundAccounts>;

export const OperatorAccount = reply({
  id: text(),
  name: nullable(text()),
  email: nullable(text()),
  surface: oneOf(SURFACES),
  plan: nullable(oneOf(PLAN_NAMES)),
  contract: nullable(oneOf(["enterprise"])),
  mail_domain: nullable(text()),
  created_at: time("When"),
  open_calls: Type.Number({ minimum: 0, description: "Calls that hold money now" }),
  open_streams: Type.Number({ minimum: 0 }),
  overview: Overview,
  people: Team,
});
export type OperatorAccountReply = Checked<typeof OperatorAccount>;

export const FOUND_EXAMPLE: FoundAccountsReply = {
  accounts: [
    {
      id: "acct_7n42DGM5Tflk9n8mt7Fhc7",
      name: "Ada's account",
      email: "ada@example.com",
      surface: "gateway",
      state: "active",
      state_reason: null,
      paid_usd: "43.184120875",
      free_usd: "3.2",
      owed_usd: "0",
      created_at: "2026-11-01T09:00:00.000Z",
    },
  ],
  next: null,
};

export const OPERATOR_ACCOUNT_EXAMPLE: OperatorAccountReply = {
  id: "acct_7n42DGM5Tflk9n8mt7Fhc7",
  name: "Ada's account",
  email: "ada@example.com",
  surface: "gateway",
  plan: null,
  contract: null,
  mail_domain: "example.com",
  created_at: "2026-11-01T09:00:00.000Z",
  open_calls: 1,
  open_streams: 0,
  overview: OVERVIEW_EXAMPLE,
  people: TEAM_EXAMPLE,
};
