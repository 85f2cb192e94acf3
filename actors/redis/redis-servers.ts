// The servers of a Redis deployment, one by one.

import type { RedisClient, RedisServer } from "../scripts/script.ts";

/** The servers that own data, as far as the client knows them: none before it is connected. */
export function serversOf(redis: RedisClient): readonly RedisServer[] {
  return "nodes" in redis ? redis.nodes("master") : [redis];
}

/** The servers that own data; waits until the client knows them. */
export async function connectedServers(redis: RedisClient): Promise<readonly RedisServer[]> {
  if ("nodes" in redis) await redis.ping();
  return serversOf(redis);
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
  for (const server of await connectedServers(redis)) {
    let cursor = "0";
    do {
      const [next, names] = await server.scan(cursor, "MATCH", pattern, "COUNT", pageSize);
      cursor = next;
      yield names;
    } while (cursor !== "0");
  }
}
