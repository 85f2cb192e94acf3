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
