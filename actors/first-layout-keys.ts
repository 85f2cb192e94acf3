// The names of the first layout's keys, those that differ from today's (keys.ts).

import { accountOfWallet } from "./keys.ts";
import type { RedisClient } from "./script.ts";

export function firstLayoutKeys(bucket: number) {
  const tag = `{b${bucket}}`;
  return {
    /** Epoch and number of the last entry. */
    meta: `${tag}:meta`,
    /** Where `meta` is moved, so that no process of the earlier release changes anything. */
    fencedMeta: `${tag}:first-layout`,
    journal: `${tag}:journal`,
    wallet: (account: string) => `${tag}:wallet:${account}`,
    holds: (account: string) => `${tag}:holds:${account}`,
  };
}

/** A key found by a scan, by what its name says. */
export interface FoundKey {
  readonly name: string;
  readonly bucket: number;
  readonly kind: string;
  /** An account, key or request. */
  readonly id: string;
}

const SCAN_COUNT = 1_000;

/** All keys of these patterns on every server, page by page; some may come twice. */
export async function* scanFirstLayout(
  redis: RedisClient,
  patterns: readonly string[],
): AsyncGenerator<FoundKey[]> {
  const servers = "nodes" in redis ? redis.nodes("master") : [redis];
  for (const server of servers) {
    for (const pattern of patterns) {
      let cursor = "0";
      do {
        const [next, names] = await server.scan(cursor, "MATCH", pattern, "COUNT", SCAN_COUNT);
        cursor = next;
        if (names.length > 0) yield names.map(foundKey);
      } while (cursor !== "0");
    }
  }
}

function foundKey(name: string): FoundKey {
  const [, bucket, kind = ""] = /^\{b(\d+)\}:([a-z]+):/.exec(name) ?? [];
  return { name, bucket: Number(bucket), kind, id: accountOfWallet(name) };
}
