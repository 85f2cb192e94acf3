// Which events of Stripe are believed. The signature covers the raw bytes and the time; the rest of
// the event only names what to read.

import Stripe from "stripe";
import type { SecretList } from "../../core/secrets.ts";
import type { ProviderEvent } from "../../store/provider-events.ts";
import { EventRefused, type ProviderName } from "../provider.ts";

/** An event that was signed longer ago may be a copy that somebody kept. */
const TOLERANCE_SECONDS = 300;
const NAME_MAX = 255;
/** The end of the year 9999. */
const SECONDS_MAX = 253_402_300_799;
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
  signature: string,
): Promise<ProviderEvent> {
  const event = await constructed(stripe, rules, body, signature);
  // The body is any JSON.
  if (typeof event !== "object" || event === null) {
    throw new EventRefused("malformed", "The event is no object");
  }
  if (event.account !== undefined || event.livemode !== rules.isLive) {
    throw new EventRefused("wrong_account", `The event ${event.id} is of another account or mode`);
  }
  return eventOf(rules.name, event);
}

/** An event as the inbox stores it. @throws EventRefused if it could not be stored */
export function eventOf(provider: ProviderName, event: Stripe.Event): ProviderEvent {
  const changed: unknown = event.data?.object;
  const { id, object } = { id: "", object: "", ...(changed as object | null) };
  const { created } = event;
  if (!Number.isInteger(created) || created <= 0 || created > SECONDS_MAX) {
    throw new EventRefused("malformed", "The event has no time");
  }
  return {
    provider,
    id: nameOf(event.id),
    type: nameOf(event.type),
    object: typeof object === "string" ? nameOf(object) : "",
    objectId: typeof id === "string" ? nameOf(id) : "",
    occurredAt: new Date(created * 1_000),
  };
}

/** A text that Postgres can store. @throws EventRefused */
function nameOf(text: unknown): string {
  if (typeof text === "string" && text.length <= NAME_MAX && !text.includes("\0")) return text;
  throw new EventRefused("malformed", "The event has no usable id or type");
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
