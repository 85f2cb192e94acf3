// Makes secrets of receivers and signs their deliveries, as Standard Webhooks 1.0 defines it
// (https://www.standardwebhooks.com), by the library of its authors (D-785).

import { Webhook } from "standardwebhooks";
import type { RandomBytes } from "../ids.ts";

const SECRET_BYTES = 24;

/** A new secret: `whsec_` and 24 random bytes in base64. */
export function newWebhookSecret(random: RandomBytes): string {
  return `whsec_${Buffer.from(random(SECRET_BYTES)).toString("base64")}`;
}

/** The headers that a receiver needs to verify a request, by what they have. */
export const WEBHOOK_HEADERS = {
  "webhook-id": "The id of the event, the same at every attempt: ignore one that was seen before",
  "webhook-timestamp": "The time of the attempt, in Unix seconds",
  "webhook-signature":
    "`v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64. For 24 hours after a rotation " +
    "of the secret there are two, with a space between them",
} as const;

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
  const own: Readonly<Record<keyof typeof WEBHOOK_HEADERS, string>> = {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
    "webhook-signature": secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(" "),
  };
  return { "content-type": "application/json", ...own };
}
