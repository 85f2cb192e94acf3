// Keys that are refused again and again. Redis decides on every request, but a key that goes on
// after three times its limit is answered from memory for the rest of each second (D-176).

import { MINUTE_MS, SECOND_MS } from "../src/core/durations.ts";
import { ApiError, BEFORE_BODY, type ErrorCode } from "../src/core/errors.ts";
import type { Log } from "../src/core/log.ts";
import type { AskingCall, Decision, RateLimits } from "./account.ts";
import type { BucketKeys } from "./records/keys.ts";
import type { RedisClock } from "./redis/redis-clock.ts";
import type { ScriptRunner } from "./scripts/script-runner.ts";
import { countRefused } from "./scripts/wallet-scripts.ts";

/** A key is answered from memory after this many times its limit of refusals in a minute. */
const TIMES_ITS_LIMIT = 3;
/** Refused keys that are counted here, and reports that Redis did not confirm yet. */
export const REFUSED_KEYS_MAX = 10_000;

export interface RefusalBrakeDeps {
  readonly scripts: ScriptRunner;
  readonly clock: RedisClock;
  readonly log: Pick<Log, "warn">;
  /** Names this process in Redis. */
  readonly owner: string;
}

/** A key whose requests are refused, and the bucket that counts the refusals. */
export interface RefusedKey {
  readonly accountId: string;
  readonly keys: BucketKeys;
  readonly keyId: string;
  /** CallMetadata by `metadataText`. */
  readonly metadata: string;
  /** The requests that the key may make in any 60 seconds. */
  readonly limit: number;
}

/** The refusals of one key in one minute. */
interface Count {
  readonly minute: number;
  readonly of: RefusedKey;
  refused: number;
  rate: RateLimits;
  /** The key is answered from memory until this time. */
  untilMs: number;
  /** Refusals that were answered from memory, and are not yet reported to Redis. */
  uncounted: number;
  /** True if the last refusal needed no body. */
  isUnread: boolean;
}

type Refused = Extract<Decision, { readonly verdict: "refused" }>;

/** Refusals to count in Redis. Sent again under the same name, they count once. */
interface Report extends Pick<Count, "of" | "minute"> {
  readonly refusals: number;
  readonly name: string;
}

/** The keys that were refused in this minute, as far as this process knows. */
export class RefusalBrake {
  readonly #deps: RefusalBrakeDeps;
  readonly #counts = new Map<string, Count>();
  /** Reports that Redis has not confirmed yet. */
  readonly #reports: Report[] = [];
  #reported = 0;

  constructor(deps: RefusalBrakeDeps) {
    this.#deps = deps;
  }

  /** The refusal of a key that is answered from memory now; null if Redis must be asked. */
  refuse({ identity: { keyId } }: AskingCall): Refused | null {
    const count = this.#counts.get(keyId);
    if (count === undefined || this.#deps.clock.now() >= count.untilMs) return null;
    count.refused += 1;
    count.uncounted += 1;
    const { rate, of } = count;
    const message =
      `This key was refused more than ${TIMES_ITS_LIMIT} times its ${of.limit} requests a ` +
      "minute: wait for Retry-After";
    const error = new ApiError("rate_limit_exceeded", message, {
      retryAfterSeconds: Math.max(1, rate.resetSeconds),
      isFlood: true,
    });
    return { verdict: "refused", error, rate: { ...rate, remaining: 0 }, funds: null };
  }

  /** True if the last call of this key was refused for a reason that needs no body. */
  refusesUnread(keyId: string): boolean {
    return this.#counts.get(keyId)?.isUnread === true;
  }

  /** Notes that Redis did not refuse a call of this key ahead of its body. */
  notePass(keyId: string): void {
    const count = this.#counts.get(keyId);
    if (count !== undefined) count.isUnread = false;
  }

  /** Notes that Redis refused a request. */
  note(of: RefusedKey, { code, rate }: { code: ErrorCode; rate: RateLimits }): void {
    const nowMs = this.#deps.clock.now();
    const minute = Math.floor(nowMs / MINUTE_MS);
    const { keyId } = of;
    let count = this.#counts.get(keyId);
    if (count === undefined || count.minute !== minute) {
      if (count === undefined && this.#counts.size >= REFUSED_KEYS_MAX) return;
      if (count !== undefined) this.#report(count);
      count = { minute, of, refused: 0, rate, untilMs: 0, uncounted: 0, isUnread: false };
      this.#counts.set(keyId, count);
    }
    count.refused += 1;
    count.rate = rate;
    count.isUnread = BEFORE_BODY.has(code);
    if (count.refused <= TIMES_ITS_LIMIT * of.limit) return;
    count.untilMs = (Math.floor(nowMs / SECOND_MS) + 1) * SECOND_MS;
  }

  /** Counts in Redis the refusals from memory, for the summary rows; forgets past minutes. */
  async flush(): Promise<void> {
    const { clock, log } = this.#deps;
    const minute = Math.floor(clock.now() / MINUTE_MS);
    for (const [keyId, count] of this.#counts) {
      this.#report(count);
      if (count.minute !== minute) this.#counts.delete(keyId);
    }
    for (const report of this.#reports.splice(0)) {
      try {
        await this.#send(report);
      } catch (error) {
        // The next round sends the report again, if there is room.
        if (this.#reports.length < REFUSED_KEYS_MAX) this.#reports.push(report);
        log.warn({ err: error }, "Refusals from memory were not counted");
      }
    }
  }

  /** Beyond the bound, refusals of a past minute are missing in its summary row. */
  #report(count: Count): void {
    const { of, minute, uncounted: refusals } = count;
    if (refusals === 0 || this.#reports.length >= REFUSED_KEYS_MAX) return;
    count.uncounted = 0;
    this.#reported += 1;
    this.#reports.push({ of, minute, refusals, name: `${this.#deps.owner}.${this.#reported}` });
  }

  async #send({ of, minute, refusals, name }: Report): Promise<void> {
    const { accountId: account, keys, keyId, metadata } = of;
    await this.#deps.scripts.run(countRefused, {
      keys,
      minute,
      refusals,
      account,
      keyId,
      metadata,
      name,
    });
  }
}
