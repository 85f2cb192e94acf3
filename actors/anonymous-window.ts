import { ANONYMOUS_REQUESTS_PER_MINUTE } from "../src/core/access/limits.ts";
import type { RateLimits } from "./account.ts";
import { anonymousWindowKey } from "./records/keys.ts";
import { count } from "./records/window.ts";
import type { ScriptRunner } from "./scripts/script-runner.ts";

/** Counts callers without a valid key, by a keyed hash of their address. */
export class AnonymousWindow {
  constructor(readonly scripts: ScriptRunner) {}

  /** Counts one request. Throws `service_unavailable` when Redis does not answer. */
  async count(caller: string): Promise<RateLimits & { readonly allowed: boolean }> {
    const limit = ANONYMOUS_REQUESTS_PER_MINUTE;
    const key = anonymousWindowKey(caller);
    return { limit, ...(await this.scripts.run(count, { nowMs: 0, key, limit })) };
  }
}
