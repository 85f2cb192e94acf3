// Accounts as operators find and read them.

import { TEAM_EXAMPLE, Team } from "../console/people/team-schema.ts";
import { OVERVIEW_EXAMPLE, Overview } from "../console/usage/overview-schema.ts";
import { PLAN_NAMES } from "../core/access/limits.ts";
import { reply, time } from "../http/console/fields.ts";
import { type Checked, nullable, oneOf, Type, text } from "../http/schema.ts";

const SURFACES = ["gateway", "application"] as const;

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
