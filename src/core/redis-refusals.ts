// Recognises replies by which Redis refuses to execute a command now.

/** Codes of such replies, and their meaning: Redis may execute the same command later. */
export const REDIS_REFUSALS = {
  ASK: "Redis Cluster is moving a slot to another server",
  BUSY: "Redis runs a script that does not end",
  CLUSTERDOWN: "Redis Cluster does not serve all slots",
  LOADING: "Redis is loading its data",
  MASTERDOWN: "Redis is a replica without its master",
  MISCONF: "Redis cannot write to its disk",
  MOVED: "Redis Cluster has moved a slot to another server",
  NOREPLICAS: "Redis has too few replicas",
  OOM: "Redis is full: it has reached its maxmemory",
  READONLY: "Redis is a replica and takes no writes",
  TRYAGAIN: "Redis Cluster is moving a slot to another server",
} as const;

export type RedisRefusal = keyof typeof REDIS_REFUSALS;

/** Returns why Redis refuses a command now; null for any other error. */
export function redisRefusal(error: unknown): RedisRefusal | null {
  if (!(error instanceof Error && error.name === "ReplyError")) return null;
  const [code = ""] = error.message.split(" ", 1);
  return isRefusal(code) ? code : null;
}

function isRefusal(code: string): code is RedisRefusal {
  return Object.hasOwn(REDIS_REFUSALS, code);
}
