// GET …/overview: what an account can spend, what it spends, and what to do next.

import { ERRORS } from "../../core/errors.ts";
import { AsOf, list, reply, time, usd } from "../../http/console/fields.ts";
import { type Checked, nullable, oneOf, Type, text } from "../../http/schema.ts";

/** What an account has; the same picture on every page. */
export const Balance = Type.Object({
  paid_usd: usd("Paid balance that is not held"),
  free_usd: usd("Free credit that is not held"),
  free_expires_at: nullable(time("When free credit ends")),
  held_usd: usd("Held by calls that have not ended"),
  owed_usd: usd("Paid first by the next payment"),
  spendable_usd: usd("What a call can hold now"),
  spendable_limit: oneOf(["balance", "tier_cap", "own_cap", "owed", "inactive"]),
});

export const Overview = reply({
  as_of: AsOf,
  account: Type.Object({
    id: text(),
    name: text(),
    surface: oneOf(["gateway", "application"]),
    state: oneOf(["active", "suspended", "closed"]),
    state_reason: nullable(text()),
  }),
  balance: Balance,
  free_credit: oneOf(["granted", "used_elsewhere", "disposable_inbox", "ended", "none"], {
    description: "Why there is, or is not, free credit",
  }),
  month: Type.Object({
    month: text({ pattern: "^\\d{4}-\\d\\d$" }),
    spent_usd: usd("Charged to calls of this UTC month"),
    held_usd: usd("Held by calls of this month that have not ended"),
    cap_usd: nullable(usd("The lower one of tier cap and own cap")),
    own_cap_usd: nullable(usd("The account's own cap")),
    resets_at: time("When the next month begins"),
  }),
  burn: Type.Object({
    usd_per_day: usd("The mean of the last seven full days, or of fewer on a young account"),
    days: Type.Number({ minimum: 0, maximum: 7, description: "How many days the mean is of" }),
    lasts_days: nullable(
      Type.Number({ minimum: 0, description: "At this rate; null without spending" }),
    ),
  }),
  today: Type.Object({
    calls: Type.Number({ minimum: 0 }),
    errors: Type.Number({ minimum: 0, description: "Refused and failed ones" }),
    cost_usd: usd("Charged since midnight UTC"),
  }),
  tier: Type.Object({
    kind: oneOf(["tier", "plan"]),
    name: text(),
    services: list(text()),
    next: nullable(
      Type.Object({
        name: text(),
        paid_usd_missing: usd("Still to be paid for it"),
        days_left: Type.Number({ minimum: 0 }),
        unlocks: list(text({ description: "A service that it adds" })),
      }),
    ),
  }),
  auto_top_up: nullable(oneOf(["enabled", "paused"])),
  first_steps: Type.Object({
    has_key: Type.Boolean(),
    has_called: Type.Boolean(),
    has_paid: Type.Boolean(),
  }),
  last_errors: list(
    Type.Object({
      request_id: text(),
      at: time("When"),
      endpoint: text(),
      status: Type.Number(),
      code: text(),
    }),
  ),
});
export type OverviewReply = Checked<typeof Overview>;

export const OVERVIEW_EXAMPLE: OverviewReply = {
  as_of: { at: "2026-11-22T14:03:22.000Z", behind_seconds: 0.4 },
  account: {
    id: "acct_7n42DGM5Tflk9n8mt7Fhc7",
    name: "Ada's account",
    surface: "gateway",
    state: "active",
    state_reason: null,
  },
  balance: {
    paid_usd: "43.184120875",
    free_usd: "3.2",
    free_expires_at: "2027-02-20T00:00:00.000Z",
    held_usd: "0.0412",
    owed_usd: "0",
    spendable_usd: "46.384120875",
    spendable_limit: "balance",
  },
  free_credit: "granted",
  month: {
    month: "2026-11",
    spent_usd: "18.420319",
    held_usd: "0.0412",
    cap_usd: "100",
    own_cap_usd: null,
    resets_at: "2026-12-01T00:00:00.000Z",
  },
  burn: { usd_per_day: "1.204", days: 7, lasts_days: 38 },
  today: { calls: 1204, errors: 7, cost_usd: "0.94123" },
  tier: {
    kind: "tier",
    name: "starter",
    services: ["models", "search", "maps"],
    next: { name: "build", paid_usd_missing: "25", days_left: 2, unlocks: ["mail"] },
  },
  auto_top_up: "enabled",
  first_steps: { has_key: true, has_called: true, has_paid: true },
  last_errors: [
    {
      request_id: "req_7n42DGM5Tflk9n8mt7Fhc7",
      at: "2026-11-22T13:59:01.120Z",
      endpoint: "/v1/chat/completions",
      status: ERRORS.insufficient_credits.status,
      code: "insufficient_credits",
    },
  ],
};
