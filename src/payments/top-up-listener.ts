// Passes requests for automatic top-ups from actors to the payment workers.

import type { TopUpListener } from "../../actors/top-up-trigger.ts";
import type { Log } from "../core/log.ts";
import { PaymentQueue } from "../store/payments/payment-queue.ts";
import { openRedis } from "../store/servers/redis.ts";

/** Opens the queue of payments with a connection of its own. */
export function openPaymentQueue(queueRedisUrl: string, log: Pick<Log, "warn">): PaymentQueue {
  return new PaymentQueue(openRedis(queueRedisUrl, "queue"), (error) =>
    log.warn({ err: error }, "The queue of payments is not reachable"),
  );
}

/** Adds a job for each request, which checks whether the account needs a top-up. */
export function topUpListener(queue: PaymentQueue, log: Pick<Log, "warn">): TopUpListener {
  return {
    needed: ({ accountId, bucket, refused }) =>
      queue.addAuto({
        accountId,
        bucket,
        refused:
          refused === null
            ? null
            : { bound: refused.bound.toString(), spendable: refused.spendable.toString() },
      }),
    lost: (accountId, error) =>
      log.warn({ accountId, err: error }, "A need for a top-up waits for the reconciliation"),
  };
}
