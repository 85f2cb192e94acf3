import type { Cluster, Redis } from "ioredis";
import { MAIL } from "../core/limits.ts";

/**
 * The keys that queued messages are sealed with. They are in Redis and what they open is in
 * Postgres, so that neither store, nor a copy of it, tells anything alone.
 */
export class ContentKeys {
  constructor(readonly redis: Redis | Cluster) {}

  /** Keeps a key until `destroy`, or until no attempt can need it any more. */
  async put(messageId: string, key: Uint8Array): Promise<void> {
    await this.redis.set(name(messageId), Buffer.from(key), "PX", MAIL.contentKeyMs);
  }

  /** The key, or null when it is gone. */
  find(messageId: string): Promise<Uint8Array | null> {
    return this.redis.getBuffer(name(messageId));
  }

  async destroy(messageId: string): Promise<void> {
    await this.redis.del(name(messageId));
    await this.redis.incr(DESTROYED);
  }

  /** How many keys were destroyed since this was asked last. */
  async takeDestroyed(): Promise<number> {
    return Number((await this.redis.getdel(DESTROYED)) ?? 0);
  }
}

const DESTROYED = "content-keys-destroyed";

function name(messageId: string): string {
  return `content-key:${messageId}`;
}
