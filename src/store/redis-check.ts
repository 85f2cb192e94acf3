// Refuses a Redis that could lose or drop what it acknowledged.

import type { Cluster, Redis } from "ioredis";

const VERSION_MIN = 7;

/** Settings without which the money is not safe (docs/decisions.md). */
const REQUIRED = [
  ["appendonly", "yes"],
  ["appendfsync", "always"],
  ["maxmemory-policy", "noeviction"],
] as const;

/**
 * Resolves with warnings. Throws when a server is too old or says that it runs with an unsafe
 * setting; one that does not let its settings be read (some hosted ones) is only warned about.
 */
export async function checkRedis(redis: Redis | Cluster): Promise<string[]> {
  await redis.ping();
  const servers = "nodes" in redis ? redis.nodes("master") : [redis];
  return (await Promise.all(servers.map(checkServer))).flat();
}

async function checkServer(server: Redis): Promise<string[]> {
  const version = /redis_version:(\d+)/.exec(await server.info("server"))?.[1];
  if (Number(version ?? 0) < VERSION_MIN) {
    throw new Error(
      `Redis ${version ?? "of unknown version"} is too old: ${VERSION_MIN} is needed`,
    );
  }
  const warnings: string[] = [];
  for (const [setting, wanted] of REQUIRED) {
    const value = await settingOf(server, setting);
    if (value === null) warnings.push(`Redis does not tell '${setting}'; it must be '${wanted}'`);
    else if (value !== wanted) {
      throw new Error(
        `Redis runs with '${setting} ${value}' and could lose money: set '${setting} ${wanted}'`,
      );
    }
  }
  return warnings;
}

async function settingOf(server: Redis, setting: string): Promise<string | null> {
  try {
    const reply = (await server.config("GET", setting)) as readonly string[];
    return reply[1] ?? null;
  } catch {
    // A server that forbids CONFIG answers with an error; the warning says what to look after.
    return null;
  }
}
