import { Cluster, Redis } from "ioredis";
import { isOfReplica } from "../../core/redis-replica.ts";
import type { RedisSocket } from "../../core/redis-socket.ts";
import { checkPatched } from "./patched.ts";
import { parseRedisUrl, type RedisCluster } from "./redis-url.ts";

/** The mark of our patch in the client, in its present version. */
const PATCHED = "farebox 1";
/** After this time a command fails, although Redis may still have executed it. */
const COMMAND_TIMEOUT_MS = 5_000;
const SLOTS_REFRESH_MS = 10_000;
/** A Sentinel that says nothing for so long is left for the next one. */
const SENTINEL_TIMEOUT_MS = 3_000;
/**
 * A connection is replaced if a command waits for so long and nothing at all comes back (D-432).
 * The queue's commands wait for jobs for up to 10 s.
 */
const SILENT_MS = { scripts: 2 * COMMAND_TIMEOUT_MS, queue: 30_000 };

/**
 * Opens a connection for scripts or for the job queue. redis-url.ts describes the URL. Commands of
 * all accounts share a pipeline. A command that got no answer because the connection was lost is
 * sent again, once.
 * @throws WrongRedisUrl
 * @throws StartError if the client lacks our patch (D-515)
 */
export function openRedis(url: string, use: "scripts" | "queue" = "scripts"): Redis | Cluster {
  checkPatched(Redis, PATCHED);
  // BullMQ waits for jobs in one long command, and requires that commands are retried without end.
  const socketTimeout = SILENT_MS[use];
  const limits =
    use === "queue"
      ? { socketTimeout, maxRetriesPerRequest: null }
      : {
          socketTimeout,
          enableAutoPipelining: true,
          commandTimeout: COMMAND_TIMEOUT_MS,
          maxRetriesPerRequest: 1,
        };
  const options = {
    ...limits,
    connectTimeout: 3_000,
    // The address may lead to another server by now (D-432).
    reconnectOnError: isOfReplica,
    retryStrategy: (attempt: number) => Math.min(50 * attempt, 1_000),
  };
  const target = parseRedisUrl(url);
  if (target.kind === "cluster") return openCluster(target, limits);
  if (target.kind === "server") {
    const { socket } = target;
    if (socket !== undefined) return new Redis({ ...options, ...optionsOf(socket) });
    return new Redis(target.url, { ...options, ...(target.tls && { tls: target.tls }) });
  }
  const { sentinels, master, database, access, sentinelLogin: login } = target;
  return new Redis({
    ...options,
    ...access,
    sentinels: sentinels.map((sentinel) => ({ ...sentinel })),
    name: master,
    sentinelCommandTimeout: SENTINEL_TIMEOUT_MS,
    db: database,
    // A master that hangs keeps its connections (D-432).
    failoverDetector: true,
    ...(login.username !== undefined && { sentinelUsername: login.username }),
    ...(login.password !== undefined && { sentinelPassword: login.password }),
    ...(access.tls && { sentinelTLS: access.tls, enableTLSForSentinelMode: true }),
  });
}

/** The client reads no `unix:` URL. */
function optionsOf({ path, user, password, database }: RedisSocket) {
  return {
    path,
    db: Number(database),
    ...(user !== "" && { username: user }),
    ...(password !== "" && { password }),
  };
}

function openCluster(
  { seeds, access }: RedisCluster,
  limits: {
    readonly socketTimeout: number;
    readonly maxRetriesPerRequest: number | null;
    readonly enableAutoPipelining?: boolean;
  },
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
