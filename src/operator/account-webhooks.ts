// Shows operators the webhooks of an account: their state, and the ends of their deliveries.

import {
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
import type { AccountRow } from "../store/accounts/accounts.ts";
import type { Database } from "../store/servers/database.ts";
import { DISABLED_REASONS } from "../store/tables/webhook-schema.ts";
import { listReceiverStates } from "../store/webhooks/receiver-list.ts";

const AT = "2026-11-22T14:03:20.000Z";

const WebhookState = {
  id: text({ sample: "hook_7n42DGM5Tflk9n8mt7Fhc7" }),
  host: text({
    about: "Of its address, whose path may be a secret of the account",
    sample: "example.com",
  }),
  events: listOf(text({ about: "The types that it gets", sample: "balance.low" })),
  disabled: nullable(
    word(DISABLED_REASONS, {
      about: "Why it gets no events; null while it gets them",
      sample: "failing",
    }),
    { sample: null },
  ),
  disabled_at: nullable(time({ sample: AT }), { sample: null }),
  failing_since: nullable(
    time({ about: "Its first failure since the last event that it took", sample: AT }),
    { sample: null },
  ),
  last_delivered_at: nullable(time({ sample: AT })),
  waiting: integer({ about: "Deliveries that wait", sample: 0 }),
  failed: integer({ about: "Deliveries that failed in the last 24 hours", sample: 2 }),
  created_at: time({ sample: "2026-11-02T09:12:00.000Z" }),
};

export const AccountWebhooks = { webhooks: listOf(nested(WebhookState)) };
export type AccountWebhooksReply = WireOf<typeof AccountWebhooks>;

const toJson = jsonFrom(WebhookState);

/** The webhooks of an account, oldest first. */
export async function accountWebhooksReply(
  database: Database,
  { number }: Pick<AccountRow, "number">,
): Promise<AccountWebhooksReply> {
  const receivers = await listReceiverStates(database, number);
  return {
    webhooks: receivers.map(({ url, ...row }) => toJson({ ...row, host: new URL(url).host })),
  };
}
