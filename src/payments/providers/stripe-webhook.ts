// Verifies events of Stripe. The signature covers the raw bytes and the time; the event itself only
// names the object to read.

import Stripe from "stripe";
import type { ProviderName } from "../../core/money/payment-names.ts";
import type { SecretList } from "../../core/secrets.ts";
import type { ProviderEvent } from "../../store/payments/provider-events.ts";
import { EventRefused } from "../provider.ts";

/** An event that was signed longer ago may be a copy that was kept. */
const TOLERANCE_SECONDS = 300;
const NAME_MAX = 255;
/** The end of the year 9999. */
const SECONDS_MAX = 253_402_300_799;
const STALE = "Timestamp outside the tolerance zone";

export interface EventRules {
  readonly name: ProviderName;
  readonly secrets: SecretList;
  /** True if the key of the account moves real money: then its events do too. */
  readonly isLive: boolean;
  readonly now: () => number;
}

/** The bytes of an event as text, and the header that signs them. */
interface SignedBody {
  readonly body: string;
  readonly signature: string;
}

/** Verifies an event by any of the secrets. @throws EventRefused */
export async function verifiedEvent(
  stripe: Stripe,
  rules: EventRules,
  signed: SignedBody,
): Promise<ProviderEvent> {
  const event = await constructed(stripe, rules, signed);
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

/** The reason why Stripe's client refuses a body with a valid signature. */
function malformedText(body: string): string {
  try {
    const event: unknown = JSON.parse(body);
    const { object = null } = { ...(event as { readonly object?: unknown } | null) };
    if (object === "v2.core.event") {
      const advice = "have the endpoint send snapshot events (v1)";
      return `The event is a thin one of Stripe's API v2: ${advice}`;
    }
    return "The event is none that Stripe's API v1 sends";
  } catch {
    return "The event is not JSON";
  }
}

/** Stripe's client accepts any time in the future: a copy would stay valid until then. */
function refuseFuture(signature: string, nowMs: number): void {
  const times = [...signature.matchAll(/(?:^|,)t=(\d+)/g)].map(([, seconds]) => Number(seconds));
  if (Math.max(...times) <= nowMs / 1_000 + TOLERANCE_SECONDS) return;
  throw new EventRefused("stale", "The event was signed more than 5 minutes ahead of this clock");
}

async function constructed(
  stripe: Stripe,
  { secrets, now }: EventRules,
  { body, signature }: SignedBody,
): Promise<Stripe.Event> {
  let refusal = new EventRefused("signature", "The event has no valid signature");
  for (const secret of secrets) {
    try {
      const event = await stripe.webhooks.constructEventAsync(
        ...([body, signature, secret, TOLERANCE_SECONDS, undefined, now()] as const),
      );
      refuseFuture(signature, now());
      return event;
    } catch (error) {
      if (error instanceof EventRefused) throw error;
      if (!(error instanceof Stripe.errors.StripeSignatureVerificationError)) {
        throw new EventRefused("malformed", malformedText(body));
      }
      if (error.message.includes(STALE)) {
        refusal = new EventRefused("stale", "The event was signed more than 5 minutes ago");
      }
    }
  }
  throw refusal;
}
