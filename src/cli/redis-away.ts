import { REDIS_REFUSALS } from "../core/redis-refusals.ts";
import { redisFault } from "../store/redis-errors.ts";

const WORDS = {
  ...REDIS_REFUSALS,
  unreachable: "Redis cannot be reached: check its address, user and password, and firewalls",
  late: "Redis does not answer in time",
} as const;

/** In words, that Redis is away; null for any other error. The client's own are about retries. */
export function redisAway(error: unknown): string | null {
  const fault = redisFault(error);
  return fault === null ? null : WORDS[fault];
}
