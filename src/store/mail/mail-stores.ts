// The stores of mail, opened for a process that accepts messages.

import type { Cluster, Redis } from "ioredis";
import type { Log } from "../../core/log.ts";
import type { Database } from "../servers/database.ts";
import { openRedis } from "../servers/redis.ts";
import { ContentKeys } from "./content-keys.ts";
import { IdempotencyKeys } from "./idempotency-keys.ts";
import { MailMessages } from "./mail-messages.ts";
import { MailNotices, MailQueue } from "./mail-queue.ts";
import { MailTurns } from "./mail-turns.ts";

export interface MailStores {
  readonly messages: MailMessages;
  readonly idempotencyKeys: IdempotencyKeys;
  readonly keys: ContentKeys;
  readonly queue: MailQueue;
  readonly turns: MailTurns;
  readonly notices: MailNotices;
  close(): Promise<void>;
}

export interface MailStoresDeps {
  readonly database: Database;
  /** The durable Redis of the accounts, which also has the content keys. */
  readonly redis: Redis | Cluster;
  readonly queueRedisUrl: string;
  readonly log: Pick<Log, "warn">;
}

/** Opens the stores. The queue may be away: without it, messages are taken and wait. */
export function openMailStores(deps: MailStoresDeps): MailStores {
  const { database, redis, queueRedisUrl, log } = deps;
  const onError = (error: unknown) => log.warn({ err: error }, "The mail queue is not reachable");
  const queue = new MailQueue(openRedis(queueRedisUrl, "queue"), onError);
  const notices = new MailNotices(openRedis(queueRedisUrl, "queue"), onError);
  notices.start();
  return {
    messages: new MailMessages(database),
    idempotencyKeys: new IdempotencyKeys(database),
    keys: new ContentKeys(redis),
    queue,
    turns: new MailTurns(),
    notices,
    close: async () => {
      await queue.close();
      notices.close();
    },
  };
}
