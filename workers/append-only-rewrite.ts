// Redis appends what it does to a file. A key that was destroyed can be read there until the file
// is rewritten, which Redis does by itself only once the file has doubled.

import type { Cluster, Redis } from "ioredis";
import { serversOf } from "../actors/redis-servers.ts";
import type { Log } from "../src/core/log.ts";

export interface RewriteDeps {
  readonly redis: Redis | Cluster;
  readonly keys: { takeDestroyed(): Promise<number> };
  readonly log: Pick<Log, "warn">;
}

/** A rewrite that another one keeps from starting is under way: Redis starts it afterwards. */
const UNDER_WAY = /already in progress|scheduled/i;

/**
 * Rewrites the append-only files of all servers if content keys were destroyed since the last time.
 * Returns whether it did. A server that does not allow it is named in the log: what was destroyed
 * then stays in its file until it rewrites the file itself.
 */
export async function rewriteAppendOnlyFiles({ redis, keys, log }: RewriteDeps): Promise<boolean> {
  if ((await keys.takeDestroyed()) === 0) return false;
  await Promise.all(
    serversOf(redis).map(async (server) => {
      try {
        await server.bgrewriteaof();
      } catch (err) {
        if (err instanceof Error && UNDER_WAY.test(err.message)) return;
        log.warn({ err }, "Redis did not rewrite its append-only file: destroyed keys stay in it");
      }
    }),
  );
  return true;
}
