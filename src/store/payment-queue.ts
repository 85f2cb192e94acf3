// How processes tell the workers of payments to work on. A job only saves time: what is to be done
// stands in Postgres, and a lost job is found by the completer.

import { Queue } from "bullmq";
import type { Cluster, Redis } from "ioredis";
import type { EventRef } from "./provider-events.ts";

export const PAYMENT_QUEUE = "payments";
/** A hash tag, so that the queue works on Redis Cluster. */
export const PAYMENT_QUEUE_PREFIX = "{farebox-payments}";

/** All that a job holds: an event to process, or an account that may need money. */
export type PaymentJob =
  | { readonly kind: "event"; readonly event: EventRef }
  | { readonly kind: "auto"; readonly accountId: string; readonly bucket: number };

export class PaymentQueue {
  readonly #queue: Queue<PaymentJob>;

  /** `redis` is a connection that `openRedis` opened for the queue; it ends with this. */
  constructor(
    readonly redis: Redis | Cluster,
    onError: (error: unknown) => void,
  ) {
    this.#queue = new Queue(PAYMENT_QUEUE, { connection: redis, prefix: PAYMENT_QUEUE_PREFIX });
    this.#queue.on("error", onError);
    redis.on("error", onError);
  }

  /** Has an event processed; asked for twice while it waits, it is processed once. */
  async addEvent(event: EventRef): Promise<void> {
    await this.#add({ kind: "event", event }, `event-${event.provider}-${event.id}`);
  }

  /** Has it checked whether an account needs a top-up; a check that waits counts for all. */
  async addAuto(account: { readonly id: string; readonly bucket: number }): Promise<void> {
    const { id: accountId, bucket } = account;
    await this.#add({ kind: "auto", accountId, bucket }, `auto-${accountId}`);
  }

  async #add(job: PaymentJob, jobId: string): Promise<void> {
    const options = { removeOnComplete: true, removeOnFail: true };
    await this.#queue.add(job.kind, job, { ...options, jobId });
  }

  async close(): Promise<void> {
    await this.#queue.close();
    this.redis.disconnect();
  }
}
