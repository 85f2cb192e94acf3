// The webhook's part of payments, opened for an API process.

import { Counter, type Registry } from "prom-client";
import type { Log } from "../core/log.ts";
import type { Database } from "../store/database.ts";
import { PaymentQueue } from "../store/payment-queue.ts";
import { ProviderEvents } from "../store/provider-events.ts";
import { openRedis } from "../store/redis.ts";
import type { PaymentConfig } from "./payment-config.ts";
import { createStripeProvider } from "./providers/stripe-provider.ts";
import type { WebhookServices } from "./webhook-endpoint.ts";

export interface OpenWebhookParts {
  readonly config: PaymentConfig;
  readonly database: Database;
  readonly queueRedisUrl: string;
  readonly registry: Registry;
  readonly now: () => number;
  readonly log: Pick<Log, "warn">;
}

/** Opens it, with a connection of its own to the queue. */
export function openWebhook(parts: OpenWebhookParts): WebhookServices & { close(): Promise<void> } {
  const { config, database, queueRedisUrl, registry, now, log } = parts;
  const queue = new PaymentQueue(openRedis(queueRedisUrl, "queue"), (error) =>
    log.warn({ err: error }, "The queue of payments is not reachable"),
  );
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
    close: () => queue.close(),
  };
}
