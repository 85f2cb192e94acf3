// Redis appends its commands to a file. A key that was destroyed can be read there until the file
// is rewritten, which Redis does by itself only once the file has doubled.

import { beginRewrite } from "../actors/redis/append-only-file.ts";
import { serversOf } from "../actors/redis/redis-servers.ts";
import type { RedisClient, RedisServer } from "../actors/scripts/script.ts";
import type { Log } from "../src/core/log.ts";
import type { ContentKeys } from "../src/store/mail/content-keys.ts";

export interface RewriteDeps {
  readonly redis: RedisClient;
  readonly keys: Pick<ContentKeys, "countDestroyed" | "forgetDestroyed">;
  readonly log: Pick<Log, "warn">;
}

/**
 * Rewrites the append-only files of all servers if content keys were destroyed since the last time.
 * Returns true after a rewrite. If a server was already rewriting its file, perhaps since before a
 * key was destroyed, the next run makes that server rewrite its file again. If a server refuses,
 * the log has a warning: destroyed keys stay in the file until the server rewrites the file by
 * itself.
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
function rewrite(server: RedisServer, log: RewriteDeps["log"]): Promise<boolean> {
  return beginRewrite(server).catch((err) => {
    log.warn({ err }, "Redis did not rewrite its append-only file: destroyed keys stay in it");
    return true;
  });
}
