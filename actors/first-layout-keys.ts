// The names of the first layout's keys, where they differ from today's (keys.ts).

import { accountOfWallet } from "./keys.ts";
import { scanNames } from "./redis-servers.ts";
import type { RedisClient } from "./script.ts";

export function firstLayoutKeys(bucket: number) {
  const tag = `{b${bucket}}`;
  return {
    /** Epoch and number of the last entry. */
    meta: `${tag}:meta`,
    /**
     * `meta` is renamed to this, so processes of the earlier release can no longer change anything.
     */
    fencedMeta: `${tag}:first-layout`,
    journal: `${tag}:journal`,
    wallet: (account: string) => `${tag}:wallet:${account}`,
    holds: (account: string) => `${tag}:holds:${account}`,
  };
}

/** A key found by a scan, with the parts of its name. */
export interface FoundKey {
  readonly name: string;
  readonly bucket: number;
  readonly kind: string;
  /** The id of an account, key or request. */
  readonly id: string;
}

const SCAN_COUNT = 1_000;

/** All keys that match these patterns on every server, page by page; some may appear twice. */
export async function* scanFirstLayout(
  redis: RedisClient,
  patterns: readonly string[],
): AsyncGenerator<FoundKey[]> {
  for (const pattern of patterns) {
    for await (const names of scanNames(redis, pattern, SCAN_COUNT)) {
      if (names.length > 0) yield names.map(foundKey);
    }
  }
}

function foundKey(name: string): FoundKey {
  const [, bucket, kind = ""] = /^\{b(\d+)\}:([a-z]+):/.exec(name) ?? [];
  return { name, bucket: Number(bucket), kind, id: accountOfWallet(name) };
}
