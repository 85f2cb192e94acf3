// Makes secrets of receivers and signs their deliveries, as Standard Webhooks 1.0 defines it
// (https://www.standardwebhooks.com), by the library of its authors (D-785).

import { Webhook } from "standardwebhooks";
import type { RandomBytes } from "../ids.ts";

const SECRET_BYTES = 24;

/** A new secret: `whsec_` and 24 random bytes in base64. */
export function newWebhookSecret(random: RandomBytes): string {
  return `whsec_${Buffer.from(random(SECRET_BYTES)).toString("base64")}`;
}

export interface SignedParts {
  /** The id of the event, the same at every attempt. */
  readonly id: string;
  /** The time of the attempt. */
  readonly at: Date;
  readonly body: string;
}

/** The headers of a request, with one signature for each secret. */
export function webhookHeaders(
  { id, at, body }: SignedParts,
  secrets: readonly string[],
): Readonly<Record<string, string>> {
  return {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
    "webhook-signature": secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(" "),
  };
}
