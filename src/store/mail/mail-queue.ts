// The API and the workers notify each other about messages: a job for each attempt, a notice for
// each change. Both only save time: Postgres has all the work, so a lost job or notice is replaced.

import { Queue } from "bullmq";
import type { Cluster, Redis } from "ioredis";
import { isId } from "../../core/ids.ts";
import { QUEUE_STREAMS } from "../servers/queue-streams.ts";

export const MAIL_QUEUE = "mail";
/** A hash tag, so that the queue works on Redis Cluster. */
export const MAIL_QUEUE_PREFIX = "{farebox-mail}";
const NOTICES = "{farebox-mail}:notices";

/** The data of a job. */
export interface MailJob {
  readonly id: string;
}

export class MailQueue {
  readonly #queue: Queue<MailJob>;

  /** `redis` is a connection that `openRedis` opened for the queue; `close` closes it. */
  constructor(
    readonly redis: Redis | Cluster,
    onError: (error: unknown) => void,
  ) {
    this.#queue = new Queue(MAIL_QUEUE, {
      connection: redis,
      prefix: MAIL_QUEUE_PREFIX,
      streams: QUEUE_STREAMS,
    });
    this.#queue.on("error", onError);
    redis.on("error", onError);
  }

  /**
   * Schedules the attempt after `attempts` earlier ones. Scheduling an attempt twice has no effect,
   * but one without a delay does not wait for one with a delay, which a clock that was ahead may
   * have made. One of a lower rank goes first.
   */
  async add(id: string, attempts: number, { delayMs = 0, rank = 0 } = {}): Promise<void> {
    const order = { delay: delayMs, priority: rank };
    const options = { removeOnComplete: true, removeOnFail: true, ...order };
    const jobId = `${id}-${attempts}${delayMs > 0 ? "-later" : ""}`;
    await this.#queue.add("deliver", { id }, { ...options, jobId });
  }

  /** Notifies every process that a message has changed. */
  async notify(id: string): Promise<void> {
    await this.redis.publish(NOTICES, id);
  }

  async close(): Promise<void> {
    await this.#queue.close();
    this.redis.disconnect();
  }
}

/** Receives notices. A notice can be lost with its connection, so a waiter must also poll. */
export class MailNotices {
  readonly #listeners = new Map<string, Set<() => void>>();

  /** `redis` is a separate connection, because a subscribed one can do nothing else. */
  constructor(
    readonly redis: Redis | Cluster,
    readonly onError: (error: unknown) => void,
  ) {
    redis.on("error", onError);
    redis.on("message", (_channel: string, id: string) => {
      for (const listener of this.#listeners.get(id) ?? []) listener();
    });
  }

  /** Receives notices from the time on at which Redis is there. */
  start(): void {
    this.redis.subscribe(NOTICES).catch(this.onError);
  }

  close(): void {
    this.redis.disconnect();
  }

  /** Calls `listener` at each change of the message until the returned function is called. */
  listen(id: string, listener: () => void): () => void {
    if (!isId("message", id)) throw new RangeError(`'${id}' is not the id of a message`);
    const listeners = this.#listeners.get(id) ?? new Set();
    this.#listeners.set(id, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(id);
    };
  }
}
