import { Cluster, Redis } from "ioredis";
import { parseRedisUrl, type RedisCluster } from "./redis-url.ts";

/** A script that Redis does not answer within this time failed; it may still have run. */
const COMMAND_TIMEOUT_MS = 5_000;

/**
 * Opens a connection for scripts, or for the job queue, to what a URL names (redis-url.ts).
 * Commands of all accounts share a pipeline; a command that a lost connection leaves unanswered is
 * sent again, once.
 * @throws WrongRedisUrl
 */
export function openRedis(url: string, use: "scripts" | "queue" = "scripts"): Redis | Cluster {
  // BullMQ waits for jobs in one long command, and wants its commands tried for ever.
  const limits =
    use === "queue"
      ? { maxRetriesPerRequest: null }
      : {
          enableAutoPipelining: true,
          commandTimeout: COMMAND_TIMEOUT_MS,
          maxRetriesPerRequest: 1,
        };
  const options = {
    ...limits,
    connectTimeout: 3_000,
    retryStrategy: (attempt: number) => Math.min(50 * attempt, 1_000),
  };
  const target = parseRedisUrl(url);
  if (target.kind === "cluster") return openCluster(target, limits);
  if (target.kind === "server") {
    return new Redis(target.url, { ...options, ...(target.tls && { tls: target.tls }) });
  }
  const { sentinels, master, database, access, sentinelLogin: login } = target;
  return new Redis({
    ...options,
    ...access,
    sentinels: sentinels.map((sentinel) => ({ ...sentinel })),
    name: master,
    db: database,
    ...(login.username !== undefined && { sentinelUsername: login.username }),
    ...(login.password !== undefined && { sentinelPassword: login.password }),
    ...(access.tls && { sentinelTLS: access.tls, enableTLSForSentinelMode: true }),
  });
}

function openCluster(
  { seeds, access }: RedisCluster,
  limits: { readonly maxRetriesPerRequest: number | null; readonly enableAutoPipelining?: boolean },
): Cluster {
  return new Cluster(
    seeds.map((seed) => ({ ...seed })),
    {
      enableAutoPipelining: limits.enableAutoPipelining === true,
      redisOptions: { ...limits, ...access },
      // A certificate is for the name of a server, which a look-up would replace by its address.
      ...(access.tls && {
        dnsLookup: (host: string, found: (error: null, address: string) => void) =>
          found(null, host),
      }),
    },
  );
}
