// GET …/limits: what limits an account now, and which limit is the first to bind.

import { AsOf, list, reply, time, usd } from "../http/console/fields.ts";
import { type Checked, nullable, oneOf, Type, text } from "../http/schema.ts";

export const Limits = reply({
  as_of: AsOf,
  tier: Type.Object({ kind: oneOf(["tier", "plan"]), name: text() }),
  binds: oneOf(["balance", "tier_cap", "own_cap", "owed", "inactive"], {
    description: "What limits spending now",
  }),
  month: Type.Object({
    spent_usd: usd("Charged in this UTC month"),
    held_usd: usd("Held"),
    tier_cap_usd: nullable(usd("The tier's cap; null for a plan")),
    own_cap_usd: nullable(usd("The account's own cap")),
    resets_at: time("When the next month begins"),
  }),
  requests: Type.Object({
    per_minute_key: Type.Number({ description: "Of one key" }),
    per_minute_account: nullable(Type.Number({ description: "Of all keys together" })),
    used_account: nullable(
      Type.Number({ description: "Of all keys within the last 60 seconds; null for a tier" }),
    ),
    keys: list(
      Type.Object({
        id: text(),
        name: text(),
        used: Type.Number({ description: "Requests of the last 60 seconds" }),
        month_spent_usd: usd("Charged"),
        monthly_limit_usd: nullable(usd("Its budget")),
      }),
    ),
  }),
  open: Type.Object({
    streams: Type.Number(),
    streams_max: Type.Number(),
    calls: Type.Number(),
    calls_max: Type.Number(),
  }),
  mail: nullable(
    Type.Object({
      messages_minute: Type.Number({ description: "Sent in this minute" }),
      messages_minute_max: Type.Number(),
      recipients_day: Type.Number({ description: "Of this UTC day" }),
      recipients_day_max: Type.Number(),
      recipients_message_max: Type.Number(),
    }),
  ),
  batch_searches_max: Type.Number(),
  tiers: list(
    Type.Object({
      name: text(),
      requests_per_minute: Type.Number({ description: "Of one key; of a plan, of all keys" }),
      streams: Type.Number(),
      monthly_cap_usd: nullable(usd("At most this in a month; null for a plan")),
      services: list(text()),
      unlock: text({ description: "In words" }),
      is_current: Type.Boolean(),
    }),
  ),
});
export type LimitsReply = Checked<typeof Limits>;

export const CapBody = Type.Object(
  { own_cap_usd: nullable(usd("The account's own monthly cap; null takes it away")) },
  { additionalProperties: false },
);
export type CapFields = Checked<typeof CapBody>;

export const Cap = reply({
  own_cap_usd: nullable(usd("The account's own monthly cap")),
  applied: Type.Boolean({
    description: "False where Redis did not answer: the change takes effect once it does",
  }),
});
export type CapReply = Checked<typeof Cap>;

export const CAP_EXAMPLE: CapReply = { own_cap_usd: "40", applied: true };

export const LIMITS_EXAMPLE: LimitsReply = {
  as_of: { at: "2026-11-22T14:03:22.000Z", behind_seconds: 0 },
  tier: { kind: "tier", name: "starter" },
  binds: "balance",
  month: {
    spent_usd: "18.420319",
    held_usd: "0.0412",
    tier_cap_usd: "100",
    own_cap_usd: null,
    resets_at: "2026-12-01T00:00:00.000Z",
  },
  requests: {
    per_minute_key: 60,
    per_minute_account: null,
    used_account: null,
    keys: [
      {
        id: "key_7n42DGM5Tflk9n8mt7Fhc7",
        name: "production",
        used: 12,
        month_spent_usd: "12.40031",
        monthly_limit_usd: "50",
      },
    ],
  },
  open: { streams: 1, streams_max: 5, calls: 2, calls_max: 20 },
  mail: null,
  batch_searches_max: 10,
  tiers: [
    {
      name: "starter",
      requests_per_minute: 60,
      streams: 5,
      monthly_cap_usd: "100",
      services: ["models", "search", "maps"],
      unlock: "$5 paid",
      is_current: true,
    },
  ],
};
