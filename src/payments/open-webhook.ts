// The webhook's part of payments, opened for an API process.

import { Counter, type Registry } from "prom-client";
import type { Database } from "../store/database.ts";
import type { PaymentQueue } from "../store/payment-queue.ts";
import { ProviderEvents } from "../store/provider-events.ts";
import type { PaymentConfig } from "./payment-config.ts";
import { createStripeProvider } from "./providers/stripe-provider.ts";
import type { WebhookServices } from "./webhook-endpoint.ts";

export interface OpenWebhookParts {
  readonly config: PaymentConfig;
  readonly database: Database;
  readonly queue: PaymentQueue;
  readonly registry: Registry;
  readonly now: () => number;
}

/** Opens it; nothing is asked of the provider. */
export function openWebhook(parts: OpenWebhookParts): WebhookServices {
  const { config, database, queue, registry, now } = parts;
  const events = new Counter({
    name: "farebox_payment_events_total",
    help: "Events that the payment provider sent, by type and what became of them",
    labelNames: ["type", "result"],
    registers: [registry],
  });
  return {
    provider: createStripeProvider({ ...config, now }),
    events: new ProviderEvents(database),
    queue,
    onEvent: (type, result) => events.inc({ type, result }),
  };
}
