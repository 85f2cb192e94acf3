// Refuses a Redis that could lose acknowledged writes.

import type { Cluster, Redis } from "ioredis";
import { REDIS_REFUSALS, redisRefusal } from "../../core/redis-refusals.ts";
import { StartError } from "../../core/start-error.ts";
import { orStartError } from "./store-away.ts";

const VERSION_MIN = 7;

/** Without these settings Redis could lose money. */
const REQUIRED = [
  ["appendonly", "yes"],
  ["appendfsync", "always"],
  ["maxmemory-policy", "noeviction"],
] as const;

/**
 * Resolves with warnings. A server that does not allow reading its settings, as some hosted ones,
 * only causes a warning.
 * @throws StartError if a server is away, is too old or has an unsafe setting
 */
export async function checkRedis(redis: Redis | Cluster): Promise<string[]> {
  return await orStartError(checkServers(redis));
}

async function checkServers(redis: Redis | Cluster): Promise<string[]> {
  await redis.ping();
  const servers = "nodes" in redis ? redis.nodes("master") : [redis];
  return (await Promise.all(servers.map(checkServer))).flat();
}

async function checkServer(server: Redis): Promise<string[]> {
  const version = /redis_version:(\d+)/.exec(await server.info("server"))?.[1];
  if (Number(version ?? 0) < VERSION_MIN) {
    throw new StartError(
      `Redis ${version ?? "of unknown version"} is too old: ${VERSION_MIN} is needed`,
    );
  }
  const warnings: string[] = [];
  for (const [setting, required] of REQUIRED) {
    const value = await settingOf(server, setting);
    if (value === null) {
      warnings.push(`Redis does not show '${setting}'; make sure that it is '${required}'`);
    } else if (value !== required) {
      throw new StartError(
        `Redis runs with '${setting} ${value}' and could lose money: set '${setting} ${required}'`,
      );
    }
  }
  if ((await settingOf(server, "maxmemory")) === "0") {
    warnings.push(
      "Redis has no 'maxmemory': if it uses up the memory of its machine it is killed, and every " +
        "call fails until it has loaded its data again; set a limit (docs/operating.md)",
    );
  }
  return warnings;
}

/**
 * Names the settings by which a failover would lose more than it must, of a Redis with Sentinels or
 * of a Cluster.
 */
export async function checkReplication(
  redis: Redis | Cluster,
  kind: "sentinel" | "cluster",
): Promise<string[]> {
  const servers = "nodes" in redis ? redis.nodes("master") : [redis];
  return (await Promise.all(servers.map((server) => checkReplicas(server, kind)))).flat();
}

async function checkReplicas(server: Redis, kind: "sentinel" | "cluster"): Promise<string[]> {
  const { host, port } = server.options;
  const name = kind === "cluster" ? `The master ${host}:${port}` : "The master";
  const replication = await server.info("replication");
  const online = replication.match(/^slave\d+:.*state=online/gm)?.length ?? 0;
  if (online === 0) return [`${name} has no replica: if it is lost, nothing takes its place`];
  const findings: string[] = [];
  const least = Number((await settingOf(server, "min-replicas-to-write")) ?? "1");
  if (least < 1) {
    findings.push(
      `${name} takes writes that no replica has: set 'min-replicas-to-write 1', or a failover ` +
        "may lose the charges of as long as the replicas were cut off",
    );
  }
  if (least >= online) {
    findings.push(
      `${name} has ${online} replicas and needs ${least}: after a failover, or when one is away, ` +
        "it refuses all calls",
    );
  }
  return findings;
}

/** Redis answers but refuses all writes; the message is for the operator. */
export class RedisNotWritable extends Error {
  override readonly name = "RedisNotWritable";
}

/**
 * Checks that every server that has one of the keys accepts writes. The check writes no bytes to a
 * key that does not exist: Redis checks this like any write, but uses no memory or disk for it, so
 * it can be called often (D-156).
 * @throws RedisNotWritable
 */
export async function checkWrites(
  redis: Redis | Cluster,
  keys: readonly [string, ...string[]],
): Promise<void> {
  const probed = "nodes" in redis ? keys : [keys[0]];
  try {
    await Promise.all(probed.map((key) => redis.setrange(key, 0, "")));
  } catch (cause) {
    const refusal = redisRefusal(cause);
    throw refusal === null ? cause : new RedisNotWritable(REDIS_REFUSALS[refusal], { cause });
  }
}

async function settingOf(server: Redis, setting: string): Promise<string | null> {
  try {
    const reply = (await server.config("GET", setting)) as readonly string[];
    return reply[1] ?? null;
  } catch {
    // The server forbids CONFIG; the caller warns.
    return null;
  }
}
