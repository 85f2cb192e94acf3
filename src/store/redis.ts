import { Cluster, Redis } from "ioredis";

/** A script that Redis does not answer within this time failed; it may still have run. */
const COMMAND_TIMEOUT_MS = 5_000;

/**
 * Opens a connection for scripts, or for the job queue. `redis://host:port` is one server; several
 * addresses joined with commas, or `redis+cluster://`, are the seeds of a Redis Cluster. Commands
 * of all accounts share a pipeline; a command that a lost connection leaves unanswered is sent
 * again, once.
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
  if (!isCluster(url)) return new Redis(url, options);
  const seeds = url.split(",").map((seed) => new URL(seed.replace(/^redis\+cluster:/, "redis:")));
  const [first] = seeds;
  return new Cluster(
    seeds.map((seed) => ({ host: seed.hostname, port: Number(seed.port || 6379) })),
    {
      enableAutoPipelining: use === "scripts",
      redisOptions: {
        ...limits,
        ...(first?.password ? { password: decodeURIComponent(first.password) } : {}),
      },
    },
  );
}

/** True when the URL names a Redis Cluster. */
export function isCluster(url: string): boolean {
  return url.includes(",") || url.startsWith("redis+cluster:");
}
