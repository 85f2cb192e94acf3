import { bucketKeys } from "./keys.ts";
import type { RedisClient, ScriptTime } from "./script.ts";

export interface DueLease {
  readonly account: string;
  readonly request: string;
}

/** The leases of a bucket that ran out by `nowMs`, at most `count`, the oldest first. */
export async function dueLeases(
  redis: RedisClient,
  bucket: number,
  nowMs: number,
  count: number,
): Promise<DueLease[]> {
  const { leases } = bucketKeys(bucket);
  const members = await redis.zrangebyscore(leases, "-inf", nowMs, "LIMIT", 0, count);
  return members.map((member) => {
    const slash = member.lastIndexOf("/");
    return { account: member.slice(0, slash), request: member.slice(slash + 1) };
  });
}

/** The time by which Redis decides, or the one that a test gives. */
export async function timeOf(redis: RedisClient, given: ScriptTime): Promise<number> {
  if (given !== "") return given;
  const [seconds, microseconds] = await redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
}
