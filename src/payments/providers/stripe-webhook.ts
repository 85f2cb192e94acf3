// Which events of Stripe are believed. The signature covers the raw bytes and the time; the rest of
// the event only names what to read.

import Stripe from "stripe";
import type { SecretList } from "../../core/secrets.ts";
import type { ProviderEvent } from "../../store/provider-events.ts";
import { EventRefused, type ProviderName } from "../provider.ts";

/** An event that was signed longer ago may be a copy that somebody kept. */
const TOLERANCE_SECONDS = 300;
const STALE = "Timestamp outside the tolerance zone";

export interface EventRules {
  readonly name: ProviderName;
  readonly secrets: SecretList;
  /** Whether the key of the account moves real money: then its events do too. */
  readonly isLive: boolean;
  readonly now: () => number;
}

/** Verifies an event by any of the secrets. @throws EventRefused */
export async function verifiedEvent(
  stripe: Stripe,
  rules: EventRules,
  body: string,
  signature: string | null,
): Promise<ProviderEvent> {
  const event = await constructed(stripe, rules, body, signature ?? "");
  if (event.account !== undefined || event.livemode !== rules.isLive) {
    throw new EventRefused("wrong_account", `The event ${event.id} is of another account or mode`);
  }
  return eventOf(rules.name, event);
}

/** An event as the inbox stores it. @throws EventRefused if it names no object */
export function eventOf(provider: ProviderName, event: Stripe.Event): ProviderEvent {
  const changed: unknown = event.data?.object;
  const { id, object } = { id: "", object: "", ...(changed as object | null) };
  if (typeof event.id !== "string" || typeof event.type !== "string" || !event.created) {
    throw new EventRefused("malformed", "The event has no id, type or time");
  }
  return {
    provider,
    id: event.id,
    type: event.type,
    object: typeof object === "string" ? object : "",
    objectId: typeof id === "string" ? id : "",
    occurredAt: new Date(event.created * 1_000),
  };
}

async function constructed(
  stripe: Stripe,
  { secrets, now }: EventRules,
  body: string,
  signature: string,
): Promise<Stripe.Event> {
  let refusal = new EventRefused("signature", "The event has no valid signature");
  for (const secret of secrets) {
    try {
      return await stripe.webhooks.constructEventAsync(
        ...([body, signature, secret, TOLERANCE_SECONDS, undefined, now()] as const),
      );
    } catch (error) {
      if (!(error instanceof Stripe.errors.StripeSignatureVerificationError)) {
        throw new EventRefused("malformed", "The event is not JSON");
      }
      if (error.message.includes(STALE)) {
        refusal = new EventRefused("stale", "The event was signed more than 5 minutes ago");
      }
    }
  }
  throw refusal;
}
