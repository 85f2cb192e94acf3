// Money of an account: payments, cards, top-ups, and the automatic top-up.

import { AsOf, list, reply, time, usd } from "../../http/console/fields.ts";
import { type Checked, nullable, oneOf, optional, Type, text } from "../../http/schema.ts";
import { Balance, OVERVIEW_EXAMPLE } from "../usage/overview-schema.ts";

const TopUpRow = Type.Object({
  id: text(),
  kind: oneOf(["checkout", "card", "auto", "plan"]),
  status: oneOf(["open", "succeeded", "failed", "expired"]),
  amount_usd: usd("What is credited"),
  fee_usd: usd("What is paid on top of it"),
  tax_usd: usd("The tax on top of both, once it is paid"),
  bonus_usd: usd("Credited on top of it"),
  failure: nullable(text({ description: "The provider's reason" })),
  url: nullable(text({ description: "The page where it is paid, while it is open" })),
  created_at: time("When"),
  ended_at: nullable(time("When")),
});

const Payment = Type.Object({
  id: text(),
  kind: nullable(
    oneOf(["checkout", "card", "auto", "plan"], {
      description: "Of its top-up; null if it had none",
    }),
  ),
  provider: text(),
  amount_usd: usd("What was credited"),
  fee_usd: usd("What was paid on top of it"),
  tax_usd: usd("The tax on top of both"),
  bonus_usd: usd("Credited on top of it"),
  refunded_usd: usd("Refunded"),
  disputed_usd: usd("Held or taken by a dispute"),
  dispute: nullable(oneOf(["open", "won", "lost"])),
  paid_at: time("When"),
  receipt_url: nullable(text()),
});

const Card = Type.Object({
  id: text(),
  brand: text(),
  last_four: text(),
  expires: text({ pattern: "^\\d{4}-\\d\\d$" }),
  saved_at: time("When"),
});

const Auto = Type.Object({
  state: oneOf(["enabled", "paused"]),
  amount_usd: usd("What each one credits"),
  threshold_usd: usd("Below this balance it tops up"),
  monthly_cap_usd: usd("At most this in a UTC month"),
  card: nullable(text({ description: "The id of the card" })),
  reason: nullable(text({ description: "Why it is paused" })),
});

export const Billing = reply({
  as_of: AsOf,
  balance: Balance,
  provider: nullable(oneOf(["stripe", "sandbox"])),
  caps: Type.Object({
    min_usd: usd("The least that a top-up may be"),
    now_usd: usd("The most that a top-up may be now"),
    at_once_usd: usd("Of one top-up"),
    day_usd: usd("In 24 hours"),
    auto_usd: usd("Of one automatic top-up; 0 where there are none"),
    auto_day_usd: usd("Automatically in 24 hours"),
    auto_month_usd: usd("Automatically in a UTC month"),
  }),
  fee: nullable(
    Type.Object({ percent: Type.Number(), fixed_usd: usd("On top of the percentage") }),
  ),
  adds_tax: Type.Boolean({
    description: "Whether the provider adds a tax to amount and fee, which is not known before",
  }),
  bonus: nullable(
    Type.Object(
      { percent: Type.Number(), max_usd: usd("At most this") },
      { description: "Given on top of the next top-up, which is the first; else null" },
    ),
  ),
  consent: Type.Object({ version: text(), text: text() }),
  top_ups: list(TopUpRow),
  payments: list(Payment),
  cards: list(Card),
  auto: nullable(Auto),
});
export type BillingReply = Checked<typeof Billing>;

const RequestId = text({
  pattern: "^[\\w-]{8,64}$",
  must: "must be an id of 8 to 64 letters, digits, - and _",
  description: "The page's own id of this order: the same one never makes two top-ups",
});

export const CheckoutBody = Type.Object(
  {
    amount_usd: usd("What is to be credited"),
    save_card: Type.Optional(Type.Boolean()),
    request: Type.Optional(RequestId),
  },
  { additionalProperties: false },
);
export type CheckoutFields = Checked<typeof CheckoutBody>;

export const ChargeBody = Type.Object(
  {
    amount_usd: usd("What is to be credited"),
    card: optional(text({ description: "The id of a saved card; the newest if missing" })),
    request: RequestId,
  },
  { additionalProperties: false },
);
export type ChargeFields = Checked<typeof ChargeBody>;
/** The answer to a top-up that was started: for a page, `url` leads there. */
export const StartedTopUp = reply({ top_up: TopUpRow });
export type StartedTopUpReply = Checked<typeof StartedTopUp>;

export const AutoBody = Type.Object(
  {
    amount_usd: usd("What each one credits"),
    threshold_usd: usd("Below this balance it tops up"),
    monthly_cap_usd: usd("At most this in a UTC month"),
    card: optional(text()),
    consent_version: text({ description: "The version of the text that the person agreed to" }),
  },
  { additionalProperties: false },
);

export type AutoFields = Checked<typeof AutoBody>;

/** The cards that are left after a removal, and the automatic top-up, which that may pause. */
export const LeftCards = reply({ cards: list(Card), auto: nullable(Auto) });
export type LeftCardsReply = Checked<typeof LeftCards>;

export const AutoTopUp = reply({ auto: nullable(Auto) });
export type AutoTopUpReply = Checked<typeof AutoTopUp>;

export const BILLING_EXAMPLE: BillingReply = {
  as_of: { at: "2026-11-22T14:03:22.000Z", behind_seconds: 0.4 },
  balance: OVERVIEW_EXAMPLE.balance,
  provider: "sandbox",
  caps: {
    min_usd: "5",
    now_usd: "100",
    at_once_usd: "100",
    day_usd: "200",
    auto_usd: "50",
    auto_day_usd: "100",
    auto_month_usd: "100",
  },
  fee: { percent: 3, fixed_usd: "0.3" },
  adds_tax: false,
  bonus: null,
  consent: { version: "2026-11-21", text: "This card may be charged later without you." },
  top_ups: [
    {
      id: "topup_7n42DGM5Tflk9n8mt7Fhc7",
      kind: "checkout",
      status: "open",
      amount_usd: "25",
      fee_usd: "1.05",
      tax_usd: "0",
      bonus_usd: "0",
      failure: null,
      url: "http://127.0.0.1:8090/pay/cs_1",
      created_at: "2026-11-22T14:00:00.000Z",
      ended_at: null,
    },
  ],
  payments: [
    {
      id: "pay_7n42DGM5Tflk9n8mt7Fhc7",
      kind: "checkout",
      provider: "sandbox",
      amount_usd: "25",
      fee_usd: "1.05",
      tax_usd: "0",
      bonus_usd: "0",
      refunded_usd: "5",
      disputed_usd: "0",
      dispute: null,
      paid_at: "2026-11-12T10:00:00.000Z",
      receipt_url: null,
    },
  ],
  cards: [
    {
      id: "card_7n42DGM5Tflk9n8mt7Fhc7",
      brand: "visa",
      last_four: "4242",
      expires: "2029-04",
      saved_at: "2026-11-12T10:00:00.000Z",
    },
  ],
  auto: {
    state: "enabled",
    amount_usd: "25",
    threshold_usd: "10",
    monthly_cap_usd: "100",
    card: "card_7n42DGM5Tflk9n8mt7Fhc7",
    reason: null,
  },
};
