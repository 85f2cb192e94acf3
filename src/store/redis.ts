import { Cluster, Redis } from "ioredis";
import { parseRedisUrl, type RedisCluster } from "./redis-url.ts";

/** After this time a command fails, although Redis may still have executed it. */
const COMMAND_TIMEOUT_MS = 5_000;
const SLOTS_REFRESH_MS = 10_000;

/**
 * Opens a connection for scripts or for the job queue. redis-url.ts describes the URL. Commands of
 * all accounts share a pipeline. A command that got no answer because the connection was lost is
 * sent again, once.
 * @throws WrongRedisUrl
 */
export function openRedis(url: string, use: "scripts" | "queue" = "scripts"): Redis | Cluster {
  // BullMQ waits for jobs in one long command, and requires that commands are retried without end.
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
    // A master that hangs keeps its connections (D-300).
    failoverDetector: true,
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
      // A client that makes no calls would not notice that slots have moved.
      slotsRefreshInterval: SLOTS_REFRESH_MS,
      redisOptions: { ...limits, ...access },
      // Do not replace host names by addresses: TLS certificates are issued for the names.
      ...(access.tls && {
        dnsLookup: (host: string, found: (error: null, address: string) => void) =>
          found(null, host),
      }),
    },
  );
}
