// Redis appends what it does to a file. A key that was destroyed can be read there until the file
// is rewritten, which Redis does by itself only once the file has doubled.

import type { Cluster, Redis } from "ioredis";
import { serversOf } from "../actors/redis/redis-servers.ts";
import type { Log } from "../src/core/log.ts";
import type { ContentKeys } from "../src/store/mail/content-keys.ts";

export interface RewriteDeps {
  readonly redis: Redis | Cluster;
  readonly keys: Pick<ContentKeys, "countDestroyed" | "forgetDestroyed">;
  readonly log: Pick<Log, "warn">;
}

/** A rewrite began earlier, perhaps before a key was destroyed: Redis begins no other meanwhile. */
const UNDER_WAY = /already in progress/i;

/**
 * Rewrites the append-only files of all servers if content keys were destroyed since the last time.
 * Returns whether it did; if a server was rewriting its file already, the next run does it. A
 * server that does not allow it is named in the log: what was destroyed then stays in its file
 * until it rewrites the file itself.
 */
export async function rewriteAppendOnlyFiles({ redis, keys, log }: RewriteDeps): Promise<boolean> {
  const destroyed = await keys.countDestroyed();
  if (destroyed === 0) return false;
  const begun = await Promise.all(serversOf(redis).map((server) => rewrite(server, log)));
  if (begun.includes(false)) return false;
  await keys.forgetDestroyed(destroyed);
  return true;
}

/** False if the server must be asked again. */
async function rewrite(server: Redis, log: RewriteDeps["log"]): Promise<boolean> {
  try {
    await server.bgrewriteaof();
  } catch (err) {
    if (err instanceof Error && UNDER_WAY.test(err.message)) return false;
    log.warn({ err }, "Redis did not rewrite its append-only file: destroyed keys stay in it");
  }
  return true;
}
