// How the API and the workers tell each other of messages: a job for each attempt, and a notice for
// each change. Both only save time. What is to be done stands in Postgres, and a lost one is found.

import { Queue } from "bullmq";
import type { Cluster, Redis } from "ioredis";
import { isId } from "../core/ids.ts";

export const MAIL_QUEUE = "mail";
/** A hash tag, so that the queue works on Redis Cluster. */
export const MAIL_QUEUE_PREFIX = "{farebox-mail}";
/** Nobody listens to the events that the library keeps of a queue. */
export const QUEUE_EVENTS_MAX = 1_000;
export const QUEUE_STREAMS = { events: { maxLen: QUEUE_EVENTS_MAX } } as const;
const NOTICES = "{farebox-mail}:notices";

/** All that a job holds. */
export interface MailJob {
  readonly id: string;
}

export class MailQueue {
  readonly #queue: Queue<MailJob>;

  /** `redis` is a connection that `openRedis` opened for the queue; it ends with this. */
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

  /** Has the attempt that follows the `attempts`-th made; asked for twice, it is made once. */
  async add(id: string, attempts: number, delayMs = 0): Promise<void> {
    const options = { removeOnComplete: true, removeOnFail: true, delay: delayMs };
    await this.#queue.add("deliver", { id }, { ...options, jobId: `${id}-${attempts}` });
  }

  /** Tells every process that a message has changed. */
  async notify(id: string): Promise<void> {
    await this.redis.publish(NOTICES, id);
  }

  async close(): Promise<void> {
    await this.#queue.close();
    this.redis.disconnect();
  }
}

/** Hears of changes. A notice may be lost with its connection, so whoever waits also looks. */
export class MailNotices {
  readonly #listeners = new Map<string, Set<() => void>>();

  /** `redis` is a connection of its own, for one that listens can do nothing else. */
  constructor(
    readonly redis: Redis | Cluster,
    onError: (error: unknown) => void,
  ) {
    redis.on("error", onError);
    redis.on("message", (_channel: string, id: string) => {
      for (const tell of this.#listeners.get(id) ?? []) tell();
    });
  }

  async start(): Promise<void> {
    await this.redis.subscribe(NOTICES);
  }

  close(): void {
    this.redis.disconnect();
  }

  /** Calls `tell` at each change of the message until the function it returns is called. */
  listen(id: string, tell: () => void): () => void {
    if (!isId("message", id)) throw new RangeError(`'${id}' is not the id of a message`);
    const tellers = this.#listeners.get(id) ?? new Set();
    this.#listeners.set(id, tellers.add(tell));
    return () => {
      tellers.delete(tell);
      if (tellers.size === 0) this.#listeners.delete(id);
    };
  }
}
