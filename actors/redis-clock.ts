import type { RedisClient, ScriptTime } from "./script.ts";

/** Follows the time of Redis, as its replies tell it, between replies by this machine's clock. */
export class RedisClock {
  #offsetMs = 0;

  constructor(readonly localNow: () => number) {}

  /** Milliseconds since the epoch on Redis's clock. */
  now(): number {
    return this.localNow() + this.#offsetMs;
  }

  observe(redisNowMs: number): void {
    this.#offsetMs = redisNowMs - this.localNow();
  }
}

/** The time by which Redis decides, or the one that a test gives. */
export async function timeOf(redis: RedisClient, given: ScriptTime): Promise<number> {
  if (given > 0) return given;
  const [seconds, microseconds] = await redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
}
