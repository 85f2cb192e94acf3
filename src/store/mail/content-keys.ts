import type { Cluster, Redis } from "ioredis";
import { MAIL } from "../../core/access/limits.ts";

/**
 * The keys that encrypt queued messages. The keys are in Redis and the messages in Postgres, so
 * that one store, or a backup of it, does not reveal a message.
 */
export class ContentKeys {
  constructor(readonly redis: Redis | Cluster) {}

  /** Stores a key until `destroy`, or until no attempt can need it any more. */
  async put(messageId: string, key: Uint8Array): Promise<void> {
    await this.redis.set(name(messageId), Buffer.from(key), "PX", MAIL.contentKeyMs);
  }

  /** Null if the key was destroyed or has expired. */
  find(messageId: string): Promise<Uint8Array | null> {
    return this.redis.getBuffer(name(messageId));
  }

  async destroy(messageId: string): Promise<void> {
    await this.redis.del(name(messageId));
    await this.redis.incr(DESTROYED);
  }

  /** Counts the destroyed keys, without those that were forgotten. */
  async countDestroyed(): Promise<number> {
    return Number((await this.redis.get(DESTROYED)) ?? 0);
  }

  async forgetDestroyed(count: number): Promise<void> {
    await this.redis.decrby(DESTROYED, count);
  }
}

const DESTROYED = "content-keys-destroyed";

function name(messageId: string): string {
  return `content-key:${messageId}`;
}
