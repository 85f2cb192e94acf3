// The replies of GET /v1/me and GET /api/v1/me.

import { SPENDING_LIMITS, STANDING_OWNERS, STANDING_SPANS } from "../core/access/budgets.ts";
import { PLANS, TIERS, type Tier } from "../core/access/limits.ts";
import { SCOPES, type Surface } from "../core/access/services.ts";
import { PlainCost } from "../http/reply-schema.ts";
import {
  named,
  nullable,
  oneOf,
  type TSchema,
  Type,
  text,
  usdAmount,
  wholeCount,
} from "../http/schema.ts";
import { BUDGET_USE_FIELDS, bindingBudget, time } from "./budget-json.ts";

const scopes = (description: string) => Type.Array(oneOf(SCOPES), { description });

/** The fields that differ between the surfaces. */
interface OwnFields {
  readonly tier: TSchema;
  readonly cap: TSchema;
  readonly limits: Readonly<Record<string, TSchema>>;
}

const meReply = ({ tier, cap, limits }: OwnFields) =>
  named("Account", {
    id: text({ pattern: "^acct_[0-9A-Za-z]{22}$" }),
    object: Type.Literal("account"),
    state: oneOf(["active", "suspended", "closed"]),
    tier,
    balance: Type.Object({
      paid_usd: usdAmount("Paid credit, without what is held"),
      free_usd: usdAmount("Free credit, without what is held"),
      free_expires_at: nullable(time("When the free credit ends; the first end of several")),
      held_usd: usdAmount("What calls under way have reserved"),
      spendable_usd: usdAmount("What one call could reserve now"),
      spendable_limit: oneOf(SPENDING_LIMITS, {
        description: "What keeps it from being more",
      }),
      spendable_budget: bindingBudget({ month: "that of `key.budget_usd`" }),
    }),
    month: Type.Object({
      month: text({ pattern: "^\\d{4}-\\d{2}$", description: "The UTC month" }),
      spent_usd: usdAmount("What the account spent in it"),
      cap_usd: cap,
      own_cap_usd: nullable(usdAmount("What the account holder lets it spend in a month")),
      resets_at: time("When the next month begins"),
    }),
    limits: Type.Object({
      requests_per_minute: wholeCount("Of this key"),
      ...limits,
      requests_per_day: nullable(wholeCount("Of this key in a UTC day; null without a limit")),
      tokens_per_minute: nullable(
        wholeCount("Of this key's prompts and replies; null without a limit"),
      ),
      tokens_per_day: nullable(wholeCount("The same in a UTC day; null without a limit")),
      concurrent_streams: wholeCount("Of the account"),
      open_streams: wholeCount("Streams that are open now"),
    }),
    services: scopes("What the tier includes"),
    key: Type.Object({
      id: text({ pattern: "^key_[0-9A-Za-z]{22}$" }),
      name: text(),
      scopes: scopes("What this key may use"),
      budget_usd: nullable(usdAmount("What this key may spend in a month")),
      spent_usd: usdAmount("What it spent in this month"),
      models: nullable(
        Type.Array(text(), { description: "The models that it may call, `*` for any characters" }),
      ),
      ends_at: nullable(time("From when on it is refused")),
    }),
    budgets: Type.Array(
      Type.Object({
        of: oneOf(STANDING_OWNERS),
        span: oneOf(STANDING_SPANS, {
          description: "`5h` begins with its first call; `week` on Monday, UTC",
        }),
        ...BUDGET_USE_FIELDS,
      }),
      { description: "The budgets that count calls of this key, beside those of the month" },
    ),
    svc: PlainCost,
  });

const nameOf = (limits: readonly Pick<Tier, "name">[]) => oneOf(limits.map(({ name }) => name));

/** The reply at each surface: an account of the Application API has a plan for a tier. */
export const ME_REPLIES = {
  gateway: meReply({
    tier: Type.Object({
      name: nameOf(TIERS),
      next: nullable(
        Type.Object(
          {
            name: nameOf(TIERS),
            paid_usd_missing: usdAmount("What is still to be paid for it"),
            days_left: wholeCount("Days from the first payment on that have still to pass"),
          },
          { description: "The next tier that payments unlock; null if there is none" },
        ),
      ),
    }),
    cap: usdAmount("What the tier lets it spend in a month"),
    limits: {},
  }),
  application: meReply({
    tier: Type.Object(
      {
        name: nameOf(Object.values(PLANS)),
        next: Type.Null({ description: "No payment changes a plan" }),
      },
      { description: "The plan of the account" },
    ),
    cap: Type.Null({ description: "A plan caps no month" }),
    limits: { account_requests_per_minute: wholeCount("Of all keys together, by the plan") },
  }),
} as const satisfies Record<Surface, TSchema>;

const GATEWAY_EXAMPLE = {
  id: "acct_0351Ki6Po6Ze8c7RSniYDy",
  object: "account",
  state: "active",
  tier: { name: "free", next: { name: "starter", paid_usd_missing: 5, days_left: 0 } },
  balance: {
    paid_usd: 0,
    free_usd: 5,
    free_expires_at: "2027-02-19T08:00:00.000Z",
    held_usd: 0,
    spendable_usd: 5,
    spendable_limit: "balance",
    spendable_budget: null,
  },
  month: {
    month: "2026-11",
    spent_usd: 0,
    cap_usd: 5,
    own_cap_usd: null,
    resets_at: "2026-12-01T00:00:00.000Z",
  },
  limits: {
    requests_per_minute: 20,
    requests_per_day: null,
    tokens_per_minute: null,
    tokens_per_day: null,
    concurrent_streams: 2,
    open_streams: 0,
  },
  services: ["models"],
  key: {
    id: "key_0351Ki6Po6Ze8c7RSniYDy",
    name: "default",
    scopes: ["models"],
    budget_usd: null,
    spent_usd: 0,
    models: null,
    ends_at: null,
  },
  budgets: [],
  svc: { request_id: "req_0351Ki6Po6Ze8c7RSniYDy", cost_usd: 0 },
};

export const ME_EXAMPLES = {
  gateway: GATEWAY_EXAMPLE,
  application: {
    ...GATEWAY_EXAMPLE,
    tier: { name: "free", next: null },
    balance: { ...GATEWAY_EXAMPLE.balance, free_usd: 1, spendable_usd: 1 },
    month: { ...GATEWAY_EXAMPLE.month, cap_usd: null },
    limits: {
      ...GATEWAY_EXAMPLE.limits,
      requests_per_minute: 60,
      account_requests_per_minute: 10,
      concurrent_streams: 8,
    },
  },
} as const satisfies Record<Surface, object>;
