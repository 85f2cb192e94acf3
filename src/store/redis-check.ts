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
  if ((await settingOf(server, "maxmemory")) === "0") {
    warnings.push(
      "Redis has no 'maxmemory': when it has taken all memory of its machine it is killed, and " +
        "every call fails until it has loaded its data; set a limit (docs/operating.md)",
    );
  }
  return warnings;
}

/** Redis answers and takes no write; the message is for the operator. */
export class RedisTakesNoWrite extends Error {
  override readonly name = "RedisTakesNoWrite";
}

/** How the errors begin that Redis answers before it looks at what a command would write. */
const REFUSALS = {
  OOM: "Redis is full: it has reached its maxmemory",
  MISCONF: "Redis cannot write to its disk",
  READONLY: "Redis is a replica and takes no writes",
  NOREPLICAS: "Redis has too few replicas",
  CLUSTERDOWN: "Redis Cluster does not serve all slots",
};

/**
 * Proves that Redis takes writes, on every server that has one of the keys. Writing no bytes to a
 * key that does not exist passes all that keeps a write out, and changes neither memory nor disk:
 * whoever asks often costs nothing (D-156).
 * @throws RedisTakesNoWrite
 */
export async function checkWrites(
  redis: Redis | Cluster,
  keys: readonly [string, ...string[]],
): Promise<void> {
  const probed = "nodes" in redis ? keys : [keys[0]];
  try {
    await Promise.all(probed.map((key) => redis.setrange(key, 0, "")));
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : "";
    const refusal = Object.entries(REFUSALS).find(([code]) => message.startsWith(`${code} `));
    throw refusal === undefined ? cause : new RedisTakesNoWrite(refusal[1], { cause });
  }
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
