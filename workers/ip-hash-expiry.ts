import { IP_HASH_DAYS } from "../src/core/access/limits.ts";
import { DAY_MS } from "../src/core/durations.ts";
import type { LogUpkeep } from "../src/store/usage/log-upkeep.ts";

export interface IpHashExpiryDeps {
  readonly upkeep: Pick<LogUpkeep, "clearIpHashes">;
  readonly now: () => number;
}

/**
 * Clears every keyed hash of a client IP that is older than 90 days (SPEC 8.7). Returns how many.
 */
export async function expireIpHashes({ upkeep, now }: IpHashExpiryDeps): Promise<number> {
  return await upkeep.clearIpHashes(new Date(now() - IP_HASH_DAYS * DAY_MS));
}
