// Defines the events that customers get by webhooks, and their data. A row is enough for a new
// event: its type, the console, the pages and the documentation follow from the row. The data has
// ids, amounts and times, never an address, a name or any content.

import { BURN_ACTIONS } from "../access/burn-rules.ts";
import { DISPUTE_STATES, PAYMENT_PURPOSES } from "../money/payment-credit.ts";
import {
  type Fields,
  integer,
  jsonFrom,
  listOf,
  nullable,
  type RowOf,
  sampleOf,
  text,
  time,
  usdField,
  type WireOf,
  word,
} from "../records.ts";

interface EventRow {
  /** The case in which it is sent, for people: a sentence. */
  readonly about: string;
  readonly data: Fields;
}

const TopUp = {
  top_up: text({ about: "The id of the top-up", sample: "topup_7n42DGM5Tflk9n8mt7Fhc7" }),
  kind: word(["checkout", "card", "auto", "plan"], {
    about:
      "`checkout` on the provider's page, `card` by a saved card, `auto` automatically, " +
      "`plan` for the price of a plan",
    sample: "auto",
  }),
  amount_usd: usdField({ about: "What is credited, or the price of the plan", sample: "25" }),
};

const Payment = {
  payment: text({ about: "The id of the payment", sample: "pay_7n42DGM5Tflk9n8mt7Fhc7" }),
  purpose: word(PAYMENT_PURPOSES, {
    about: "`balance` for credit, `plan` for the price of a plan",
    sample: "balance",
  }),
  amount_usd: usdField({ about: "The payment, without fee and tax", sample: "25" }),
};

const Refused = {
  key: text({ about: "The id of the key", sample: "key_7n42DGM5Tflk9n8mt7Fhc7" }),
  code: text({ about: "The code of the refusal", sample: "rate_limit_exceeded" }),
  limit: nullable(
    text({ about: "Which limit it was, by its name in the request log", sample: "requests" }),
  ),
};

const LowBalance = {
  paid_usd: usdField({
    about: "The paid balance that is left, held amounts included",
    sample: "4.87",
  }),
  top_up_usd: usdField({ about: "The last top-up", sample: "25" }),
};

const Run = {
  run: text({ about: "The id of the run", sample: "nightly-7" }),
  max_usd: usdField({ about: "What its calls may cost together", sample: "2" }),
  ends_at: time({ about: "From when on it takes no calls", sample: "2026-11-23T14:03:20.000Z" }),
};

export const WEBHOOK_EVENTS = {
  "balance.low": {
    about:
      "The paid balance fell below 20 or 5 percent of the last top-up: once each until the next.",
    data: { percent: integer({ about: "20 or 5", sample: 20 }), ...LowBalance },
  },
  "balance.empty": {
    about: "The paid balance fell below one cent: once until the next top-up.",
    data: LowBalance,
  },
  "free_credit.ending": {
    about: "Free credit ends within seven days, and in less than half of its time.",
    data: {
      free_usd: usdField({ about: "The free credit that is left", sample: "3.5" }),
      ends_at: time({ about: "When it ends", sample: "2026-11-29T00:00:00.000Z" }),
    },
  },
  "topup.succeeded": {
    about: "A top-up, or the price of a plan, was paid.",
    data: { ...TopUp, bonus_usd: usdField({ about: "Credited on top of it", sample: "0" }) },
  },
  "topup.failed": {
    about: "The card was declined or the payment did not fit; an automatic top-up may try again.",
    data: {
      ...TopUp,
      failure: nullable(text({ about: "The provider's reason", sample: "card_declined" })),
      next_attempt_at: nullable(
        time({ about: "When it is tried again; null: never", sample: "2026-11-22T15:00:00.000Z" }),
      ),
    },
  },
  "payment.succeeded": {
    about: "A payment was booked, by a provider or by the operator.",
    data: {
      ...Payment,
      bonus_usd: usdField({ about: "Credited on top of it", sample: "0" }),
      fee_usd: usdField({ about: "Paid on top of it", sample: "1.05" }),
      tax_usd: usdField({ about: "The tax on top of both", sample: "0" }),
    },
  },
  "payment.refunded": {
    about: "The refunded part of a payment changed.",
    data: { ...Payment, refunded_usd: usdField({ about: "Refunded of it by now", sample: "25" }) },
  },
  "payment.disputed": {
    about: "A payment was disputed, or a dispute was decided.",
    data: {
      ...Payment,
      disputed_usd: usdField({ about: "Held or taken by disputes", sample: "25" }),
      dispute: nullable(word(DISPUTE_STATES, { about: "null: it was taken back", sample: "open" })),
    },
  },
  "key.budget_reached": {
    about: "A budget of a key refused a call: once a UTC day for each.",
    data: {
      ...Refused,
      code: text({ about: "The code of the refusal", sample: "key_budget_exceeded" }),
      limit: nullable(
        text({
          about: "`budget` for the month's, or `budget_day` and so on",
          sample: "budget_day",
        }),
      ),
    },
  },
  "key.burn_rate": {
    about: "A burn-rate rule found that a key spends fast: once for each breach.",
    data: {
      key: text({ about: "The id of the key", sample: "key_7n42DGM5Tflk9n8mt7Fhc7" }),
      spent_usd: usdField({ about: "Charged within five minutes", sample: "6.4" }),
      threshold_usd: usdField({ about: "From which amount on the rule fires", sample: "5" }),
      action: word(BURN_ACTIONS, { about: "What happens to the key", sample: "pause" }),
      until: nullable(
        time({ about: "When that ends; null for an alert", sample: "2026-11-22T14:33:20.000Z" }),
      ),
    },
  },
  "run.budget_reached": {
    about: "A run refused a call, because its amount does not cover it: once a UTC day for each.",
    data: {
      run: text({ about: "The id of the run", sample: "nightly-7" }),
      key: text({ about: "The id of the key", sample: "key_7n42DGM5Tflk9n8mt7Fhc7" }),
    },
  },
  "run.paused": { about: "A run was paused: it refuses calls until it is resumed.", data: Run },
  "run.resumed": { about: "A paused run takes calls again.", data: Run },
  "run.changed": { about: "A run was given another amount or another end.", data: Run },
  "run.ended": {
    about: "The time of a run is over, and its last call was settled.",
    data: {
      ...Run,
      spent_usd: usdField({ about: "What its calls cost together", sample: "1.95" }),
    },
  },
  "limit.reached": {
    about:
      "Another limit refused a call (requests, streams, mail, the balance, a cap or budget of " +
      "the account, a budget of an end user): once a UTC day for each and each key, and for each " +
      "end user.",
    data: {
      ...Refused,
      end_user: nullable(
        text({
          about:
            "The end user whose budget it was, by the `id` that `GET /v1/end-user` shows; null " +
            "for another limit",
          sample: "kPrK_qmxVWaYVA9wwBF6Iu",
        }),
        { sample: null },
      ),
      run: nullable(text({ about: "The run that the refused call named", sample: "nightly-7" }), {
        sample: null,
      }),
    },
  },
  "mail.bounced": {
    about: "A message that you sent came back.",
    data: {
      message: text({ about: "The id of the message", sample: "msg_7n42DGM5Tflk9n8mt7Fhc7" }),
      domains: listOf(text({ sample: "example.com" }), { about: "The domains of its recipients" }),
    },
  },
} as const satisfies Readonly<Record<string, EventRow>>;

/** A type that a receiver can choose. */
export type WebhookEventType = keyof typeof WEBHOOK_EVENTS;

export const WEBHOOK_EVENT_TYPES = Object.keys(WEBHOOK_EVENTS) as readonly WebhookEventType[];

/** The type of the event of the test button, which every receiver gets. */
export const TEST_EVENT = "webhook.test";

type DataOf<Type extends WebhookEventType> = (typeof WEBHOOK_EVENTS)[Type]["data"];

/** An event before it is stored. */
export interface NewWebhookEvent {
  readonly type: WebhookEventType;
  /** The fact as a key: an account gets one event of a key; null: each is an event of its own. */
  readonly uniqueKey: string | null;
  /** The data of the event as JSON text. */
  readonly data: string;
}

/** Makes an event of the values of its fields, named as in records. */
export function webhookEvent<Type extends WebhookEventType>(
  type: Type,
  uniqueKey: string | null,
  values: RowOf<DataOf<Type>>,
): NewWebhookEvent {
  const fields: DataOf<Type> = WEBHOOK_EVENTS[type].data;
  return { type, uniqueKey, data: JSON.stringify(jsonFrom(fields)(values)) };
}

/** The body that is sent. The bytes are the same at every attempt. */
export function webhookBody(event: {
  readonly id: string;
  readonly type: string;
  readonly account: string;
  readonly at: Date;
  /** JSON text. */
  readonly data: string;
}): string {
  const { id, type, account, at, data } = event;
  const head = JSON.stringify({ id, type, timestamp: at.toISOString(), account });
  return `${head.slice(0, -1)},"data":${data}}`;
}

/** An example of the data of an event. */
export function sampleData(type: WebhookEventType): WireOf<Fields> {
  return sampleOf(WEBHOOK_EVENTS[type].data);
}
