import type { RedisClient, ScriptTime } from "../scripts/script.ts";

/** Estimates Redis's time: the time of its last reply, advanced by this machine's clock. */
export class RedisClock {
  #offsetMs = 0;

  constructor(readonly localNow: () => number) {}

  /** Milliseconds since 1970 on Redis's clock. */
  now(): number {
    return this.localNow() + this.#offsetMs;
  }

  observe(redisNowMs: number): void {
    this.#offsetMs = redisNowMs - this.localNow();
  }
}

/** Redis's time, or the time that a test sets. */
export async function redisTime(redis: RedisClient, given: ScriptTime): Promise<number> {
  if (given > 0) return given;
  const [seconds, microseconds] = await redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
}
