// Lists the webhooks of an account, and their deliveries.

import {
  flag,
  integer,
  jsonFrom,
  listOf,
  nested,
  nullable,
  text,
  time,
  type WireOf,
  word,
} from "../core/records.ts";
import {
  TEST_EVENT,
  WEBHOOK_EVENT_TYPES,
  WEBHOOK_EVENTS,
} from "../core/webhooks/webhook-events.ts";
import { oneOf, optional, text as textSchema } from "../http/schema.ts";
import { byNumber, listReading, type PageOf } from "../readings/list-reading.ts";
import type { AccountSource } from "../readings/reading.ts";
import type { AccountRow } from "../store/accounts/accounts.ts";
import type { Database } from "../store/servers/database.ts";
import { DELIVERY_STATUSES, DISABLED_REASONS } from "../store/tables/webhook-schema.ts";
import { listDeliveries } from "../store/webhooks/delivery-log.ts";
import { listReceivers, type Receiver } from "../store/webhooks/receivers.ts";

export const Webhook = {
  id: text({ sample: "hook_7n42DGM5Tflk9n8mt7Fhc7" }),
  url: text({ sample: "https://example.com/hooks/farebox" }),
  description: text({ sample: "production" }),
  events: listOf(word(WEBHOOK_EVENT_TYPES, { sample: "balance.low" })),
  enabled: flag({ about: "Whether it gets events", sample: true }),
  disabled: nullable(
    word(DISABLED_REASONS, {
      about:
        "Why it gets no events: a person of the account, the operator, its answer 410, or " +
        "that it took nothing for 24 hours",
      sample: "failing",
    }),
    { sample: null },
  ),
  failing_since: nullable(
    time({
      about: "Its first failure since the last event that it took",
      sample: "2026-11-22T14:03:20.000Z",
    }),
    { sample: null },
  ),
  last_delivered_at: nullable(time({ sample: "2026-11-22T14:03:20.000Z" })),
  old_secret_until: nullable(
    time({
      about: "Until then the secret before a rotation signs too",
      sample: "2026-11-23T14:03:20.000Z",
    }),
    { sample: null },
  ),
  created_at: time({ sample: "2026-11-02T09:12:00.000Z" }),
};
export type WebhookJson = WireOf<typeof Webhook>;

const EventType = {
  type: word(WEBHOOK_EVENT_TYPES, { sample: "balance.low" }),
  about: text({ sample: WEBHOOK_EVENTS["balance.low"].about }),
};

export const Webhooks = {
  webhooks: listOf(nested(Webhook)),
  types: listOf(nested(EventType), { about: "What a webhook can choose" }),
};
export type WebhooksReply = WireOf<typeof Webhooks>;

const webhookFields = jsonFrom(Webhook);

/** The JSON of a receiver, without its secrets. */
export function webhookJson(receiver: Receiver): WebhookJson {
  const known = receiver.events.filter((type) => WEBHOOK_EVENT_TYPES.some((one) => one === type));
  const events = known as WebhookJson["events"];
  const { id, url, description, disabled, failingSince, lastDeliveredAt } = receiver;
  const { oldSecretUntil, createdAt } = receiver;
  return webhookFields({
    id,
    url,
    description,
    events,
    enabled: disabled === null,
    disabled,
    failingSince,
    lastDeliveredAt,
    oldSecretUntil,
    createdAt,
  });
}

/** The receivers of an account, oldest first, and the types that they can choose. */
export async function webhooksReply(
  { db }: Pick<Database, "db">,
  { number }: Pick<AccountRow, "number">,
): Promise<WebhooksReply> {
  const receivers = await listReceivers(db, number);
  const types = WEBHOOK_EVENT_TYPES.map((type) => ({ type, about: WEBHOOK_EVENTS[type].about }));
  return { webhooks: receivers.map(webhookJson), types };
}

const Delivery = {
  number: integer({ about: "Names the delivery, for a replay", sample: 41 }),
  webhook: text({ sample: "hook_7n42DGM5Tflk9n8mt7Fhc7" }),
  event: text({ about: "The id that the receiver sees", sample: "evt_7n42DGM5Tflk9n8mt7Fhc7" }),
  type: text({ about: `A type, or \`${TEST_EVENT}\``, sample: "balance.low" }),
  status: word(DELIVERY_STATUSES, { sample: "delivered" }),
  attempts: integer({ about: "Since it was stored, or last replayed", sample: 1 }),
  created_at: time({ about: "When it happened", sample: "2026-11-22T14:03:20.000Z" }),
  attempted_at: nullable(time({ about: "The last attempt", sample: "2026-11-22T14:03:21.000Z" })),
  next_attempt_at: nullable(
    time({ about: "null once it has ended", sample: "2026-11-22T14:03:26.000Z" }),
    { sample: null },
  ),
  http_status: nullable(integer({ about: "Of the last attempt", sample: 200 })),
  duration_ms: nullable(integer({ about: "Of the last attempt", sample: 112 })),
  error: nullable(text({ about: "Why the last attempt failed", sample: "It answered 500" }), {
    sample: null,
  }),
};

export const DELIVERIES = listReading({
  name: "deliveries",
  line: Delivery,
  filters: {
    webhook: optional(textSchema({ description: "Only those of this webhook" })),
    status: optional(oneOf(DELIVERY_STATUSES, { description: "Only those with this status" })),
  },
  keyset: byNumber("number"),
  read: ({ reading, account }: AccountSource, { webhook, status }, page) =>
    listDeliveries(reading.database, account.number, {
      receiver: webhook ?? null,
      status: status ?? null,
      ...page,
    }),
});
export type DeliveriesReply = PageOf<typeof DELIVERIES>;
