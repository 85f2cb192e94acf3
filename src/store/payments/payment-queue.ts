// Queues jobs for the workers of payments. A job only saves time: the work stands in Postgres, and
// the completer finds the work of a lost job.

import { Queue } from "bullmq";
import type { Cluster, Redis } from "ioredis";
import { QUEUE_STREAMS } from "../servers/queue-streams.ts";
import type { EventRef } from "./provider-events.ts";

export const PAYMENT_QUEUE = "payments";
/** A hash tag, so that the queue works on Redis Cluster. */
export const PAYMENT_QUEUE_PREFIX = "{farebox-payments}";

/** All that a job holds: an event to process, or an account that may need money. */
export type PaymentJob =
  | { readonly kind: "event"; readonly event: EventRef }
  | {
      readonly kind: "auto";
      readonly accountId: string;
      readonly bucket: number;
      /** The bound and the funds of the refused call, in nano-USD; null after a settlement. */
      readonly refused: { readonly bound: string; readonly spendable: string } | null;
    };

const REMOVED = { removeOnComplete: true, removeOnFail: true } as const;

export class PaymentQueue {
  readonly #queue: Queue<PaymentJob>;

  /** `redis` is a connection that `openRedis` opened for the queue; it ends with this. */
  constructor(
    readonly redis: Redis | Cluster,
    onError: (error: unknown) => void,
  ) {
    this.#queue = new Queue(PAYMENT_QUEUE, {
      connection: redis,
      prefix: PAYMENT_QUEUE_PREFIX,
      streams: QUEUE_STREAMS,
    });
    this.#queue.on("error", onError);
    redis.on("error", onError);
  }

  /** Queues an event, unless it is queued already. */
  async addEvent(event: EventRef): Promise<void> {
    const jobId = `event-${event.provider}-${event.id}`;
    await this.#queue.add("event", { kind: "event", event }, { ...REMOVED, jobId });
  }

  /**
   * Queues a check of whether an account needs a top-up. A check that waits serves all requests. A
   * check that runs may have read the balance already, so another one follows it.
   */
  async addAuto(job: Omit<Extract<PaymentJob, { kind: "auto" }>, "kind">): Promise<void> {
    const deduplication = { id: `auto-${job.accountId}`, keepLastIfActive: true };
    await this.#queue.add("auto", { kind: "auto", ...job }, { ...REMOVED, deduplication });
  }

  async close(): Promise<void> {
    await this.#queue.close();
    this.redis.disconnect();
  }
}
