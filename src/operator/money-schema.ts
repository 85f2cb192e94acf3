// Money over all accounts: disputes, grants of free credit, and revenue.

import { REVENUE_GROUPS } from "../core/usage-query.ts";
import { list, reply, usd } from "../http/console/fields.ts";
import { type Checked, oneOf, optional, Type, text } from "../http/schema.ts";

const CLOSED = { additionalProperties: false } as const;
const count = (description: string) => Type.Integer({ minimum: 0, description });

function dayText(description: string) {
  return text({
    pattern: "^\\d{4}-\\d\\d-\\d\\d$",
    must: "must be a day such as 2026-11-22",
    description,
  });
}

const SUMS = {
  calls: count("Calls that were served or charged"),
  charged_usd: usd("Charged, of paid and free credit"),
  free_usd: usd("The part that free credit paid"),
  known_calls: count("Calls among them whose upstream cost is known"),
  known_usd: usd("What those were charged"),
  upstream_usd: usd("What those cost the operator"),
  margin_usd: usd("What is left of them"),
};

export const RevenueQuery = Type.Object(
  {
    from: dayText("The first UTC day"),
    to: dayText("The last UTC day; at most 366 days"),
    group: optional(oneOf(REVENUE_GROUPS)),
  },
  CLOSED,
);
export const Revenue = reply({
  days: list(dayText("Each UTC day of the range")),
  groups: list(
    Type.Object({
      name: text({ description: "Empty where the log has none" }),
      title: text(),
      ...SUMS,
      by_day: list(usd("Charged on each day")),
    }),
  ),
  total: Type.Object({
    ...SUMS,
    earned_usd: usd("Charged of paid credit"),
  }),
  received: Type.Object({
    payments: count("Payments of these days"),
    amount_usd: usd("Credited for them, without bonus"),
    fee_usd: usd("Fees that payers paid on top"),
    taken_back_usd: usd("Refunded, disputed or lost of them by now"),
    by_day: list(usd("Credited on each day")),
  }),
});
export type RevenueReply = Checked<typeof Revenue>;

const EXAMPLE_SUMS = {
  calls: 1204,
  charged_usd: "18.420319",
  free_usd: "1.2",
  known_calls: 1204,
  known_usd: "18.420319",
  upstream_usd: "11.2",
  margin_usd: "7.220319",
};

export const REVENUE_EXAMPLE: RevenueReply = {
  days: ["2026-11-21", "2026-11-22"],
  groups: [
    {
      name: "chat",
      title: "Chat",
      ...EXAMPLE_SUMS,
      by_day: ["9.1", "9.320319"],
    },
  ],
  total: { ...EXAMPLE_SUMS, earned_usd: "17.220319" },
  received: {
    payments: 1,
    amount_usd: "25",
    fee_usd: "0",
    taken_back_usd: "0",
    by_day: ["25", "0"],
  },
};
