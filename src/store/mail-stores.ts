// The stores that a message passes through, opened for a process that takes messages in.

import type { Cluster, Redis } from "ioredis";
import type { Log } from "../core/log.ts";
import { ContentKeys } from "./content-keys.ts";
import type { Database } from "./database.ts";
import { MailMessages } from "./mail-messages.ts";
import { MailNotices, MailQueue } from "./mail-queue.ts";
import { MailRepeats } from "./mail-repeats.ts";
import { openRedis } from "./redis.ts";

export interface MailStores {
  readonly messages: MailMessages;
  readonly repeats: MailRepeats;
  readonly keys: ContentKeys;
  readonly queue: MailQueue;
  readonly notices: MailNotices;
  close(): Promise<void>;
}

export interface MailStoresDeps {
  readonly database: Database;
  /** The money Redis, which is durable; the keys of messages are there. */
  readonly redis: Redis | Cluster;
  readonly queueRedisUrl: string;
  readonly log: Pick<Log, "warn">;
}

/** Opens them; resolves once this process hears of every change of a message. */
export async function openMailStores(deps: MailStoresDeps): Promise<MailStores> {
  const { database, redis, queueRedisUrl, log } = deps;
  const onError = (error: unknown) => log.warn({ err: error }, "The mail queue is not reachable");
  const queue = new MailQueue(openRedis(queueRedisUrl, "queue"), onError);
  const notices = new MailNotices(openRedis(queueRedisUrl, "queue"), onError);
  await notices.start();
  return {
    messages: new MailMessages(database),
    repeats: new MailRepeats(database),
    keys: new ContentKeys(redis),
    queue,
    notices,
    close: async () => {
      await queue.close();
      notices.close();
    },
  };
}
