// The servers of a Redis deployment, one by one.

import type { RedisClient, RedisServer } from "./script.ts";

/** The servers that own data. */
export function serversOf(redis: RedisClient): readonly RedisServer[] {
  return "nodes" in redis ? redis.nodes("master") : [redis];
}

/**
 * The names of all keys that match a pattern, page by page over every server. Some may appear
 * twice; one that appears or disappears meanwhile may be missing.
 */
export async function* scanNames(
  redis: RedisClient,
  pattern: string,
  pageSize: number,
): AsyncGenerator<readonly string[]> {
  for (const server of serversOf(redis)) {
    let cursor = "0";
    do {
      const [next, names] = await server.scan(cursor, "MATCH", pattern, "COUNT", pageSize);
      cursor = next;
      yield names;
    } while (cursor !== "0");
  }
}
