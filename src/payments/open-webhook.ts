// The webhook's part of payments, opened for an API process.

import type { Registry } from "prom-client";
import { BoundedLabel, counter } from "../http/telemetry/metrics.ts";
import type { PaymentQueue } from "../store/payments/payment-queue.ts";
import { ProviderEvents } from "../store/payments/provider-events.ts";
import type { Database } from "../store/servers/database.ts";
import type { PaymentConfig } from "./payment-config.ts";
import { PROVIDERS } from "./providers.ts";
import type { WebhookServices } from "./webhook-endpoint.ts";

export interface OpenWebhookParts {
  readonly config: PaymentConfig;
  readonly database: Database;
  readonly queue: PaymentQueue;
  readonly registry: Registry;
  readonly now: () => number;
}

/** The provider has some 270 types of events. */
const EVENT_TYPES_MAX = 300;

/** Opens the webhook without a request to the provider. */
export function openWebhook(parts: OpenWebhookParts): WebhookServices {
  const { config, database, queue, registry, now } = parts;
  const events = counter(registry, "farebox_payment_events_total");
  const types = new BoundedLabel(EVENT_TYPES_MAX);
  return {
    kind: config.kind,
    provider: PROVIDERS[config.kind].open({ ...config, now }),
    events: new ProviderEvents(database),
    queue,
    onEvent: (type, result) => events.inc({ type: types.of(type), result }),
  };
}
