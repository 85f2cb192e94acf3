// Reads and changes the webhooks of an account.

import type { DeliveriesReply, WebhooksReply } from "../../../src/console/webhook-lists.ts";
import type { ChangedWebhookReply, WebhookWithSecretReply } from "../../../src/console/webhooks.ts";
import { post, type Query } from "./client.ts";
import { accountQuery, ofAccount } from "./queries.ts";

export type Webhook = WebhooksReply["webhooks"][number];
export type WebhookTerms = Pick<Webhook, "url" | "description" | "events">;

export const webhooksQuery = (account: string) => accountQuery<WebhooksReply>(account, "webhooks");

export const deliveriesQuery = (account: string, query: Query) =>
  accountQuery<DeliveriesReply>(account, "webhooks/deliveries", {
    query,
    renew: query.before === undefined,
  });

/** Adds a webhook; the reply has its secret. The same `request` and terms add no second one. */
export async function addWebhook(
  account: string,
  terms: WebhookTerms & { readonly request: string },
): Promise<WebhookWithSecretReply> {
  return await post<WebhookWithSecretReply>(ofAccount(account, "webhooks"), terms);
}

export async function changeWebhook(
  account: string,
  id: string,
  terms: WebhookTerms & Pick<Webhook, "enabled">,
): Promise<ChangedWebhookReply> {
  return await post<ChangedWebhookReply>(pathOf(account, id, "change"), terms);
}

/** Gives a webhook a new secret; the same `request` gets the same secret. */
export async function rotateWebhook(
  account: string,
  id: string,
  request: string,
): Promise<WebhookWithSecretReply> {
  return await post<WebhookWithSecretReply>(pathOf(account, id, "rotate"), { request });
}

export async function deleteWebhook(account: string, id: string): Promise<void> {
  await post(pathOf(account, id, "delete"));
}

export async function testWebhook(account: string, id: string): Promise<void> {
  await post(pathOf(account, id, "test"));
}

/** Sends the events again that a webhook did not take since a time; returns their number. */
export async function replayWebhook(account: string, id: string, since: string): Promise<number> {
  const reply = await post<{ readonly replayed: number }>(pathOf(account, id, "replay"), { since });
  return reply.replayed;
}

export async function replayDelivery(account: string, delivery: number): Promise<void> {
  await post(ofAccount(account, `webhooks/deliveries/${delivery}/replay`));
}

function pathOf(account: string, id: string, action: string): string {
  return ofAccount(account, `webhooks/${encodeURIComponent(id)}/${action}`);
}
