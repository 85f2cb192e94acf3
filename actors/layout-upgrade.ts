// Raises the layout in force. Every few seconds, each serving process announces in Redis which
// layouts it knows. The announcement is in Redis and not in Postgres, because a process that lost
// Postgres still uses Redis. Safety does not depend on it: a process that was overlooked refuses
// the buckets with a clear error.

import project from "../package.json";
import { BUCKETS } from "../src/core/access/limits.ts";
import { Unreleased } from "../src/core/start-error.ts";
import raiseLayoutLua from "./lua/raise_layout.lua" with { type: "text" };
import rewriteLua from "./lua/rewrite.lua" with { type: "text" };
import {
  bucketKeys,
  KEY_PATTERN,
  PROCESS_PATTERN,
  processKey,
  WALLET_PATTERN,
} from "./records/keys.ts";
import { checkLayout, LAYOUT_MAX, LAYOUT_MIN } from "./records/layouts.ts";
import { scanNames, serversOf } from "./redis/redis-servers.ts";
import { pack, type RedisClient, runUnloaded, type Script, verdictOf } from "./scripts/script.ts";
import { removeOtherLibraries } from "./scripts/script-library.ts";

/** A process that has not announced itself for this long is gone. */
const ANNOUNCED_MS = 60_000;
const SCAN_COUNT = 1_000;

const raiseLayout: Script<{ readonly bucket: number }, "ok" | "absent"> = {
  name: "raise_layout",
  lua: raiseLayoutLua,
  flags: [],
  keys: ({ bucket }) => [bucketKeys(bucket).bucket],
  args: () => [pack(LAYOUT_MAX)],
  reply: (raw) => verdictOf(raw) as "ok" | "absent",
};

interface RewriteArgs {
  readonly bucket: number;
  readonly record: string;
  readonly kind: "wallet" | "key";
}

const rewrite: Script<RewriteArgs, "ok"> = {
  name: "rewrite",
  lua: rewriteLua,
  flags: [],
  keys: ({ bucket, record }) => [bucketKeys(bucket).bucket, record],
  args: ({ kind }) => [kind],
  reply: () => "ok",
};

/** Some running processes do not know the layout that is to come into force. */
export class EarlierReleaseRuns extends Error {
  override readonly name = "EarlierReleaseRuns";

  constructor(readonly processes: readonly string[]) {
    super(
      `${processes.length} processes do not know layout ${LAYOUT_MAX}: ${processes.join(", ")}. ` +
        "Stop them, or wait a minute after they were killed, and try again.",
    );
  }
}

/**
 * Refuses a Redis whose buckets have the layout from before the first release, where each bucket
 * had a key named `meta`.
 * @throws Unreleased
 */
export async function refuseFirstLayout(redis: RedisClient): Promise<void> {
  const names = Array.from({ length: BUCKETS }, (_, bucket) => `{b${bucket}}:meta`);
  const found = await Promise.all(names.map((name) => redis.exists(name)));
  if (found.includes(1)) throw new Unreleased("Redis");
}

/**
 * Announces a serving process, the layouts that it knows, its release, and the version of the
 * configuration that it runs; null for a process that uses none.
 */
export async function announceProcess(
  redis: RedisClient,
  processId: string,
  configuration: number | null = null,
): Promise<void> {
  const text = `${LAYOUT_MIN} ${LAYOUT_MAX} ${project.version} ${configuration ?? "-"}`;
  await redis.set(processKey(processId), text, "PX", ANNOUNCED_MS);
}

/** A process that announced itself within the last minute. */
export interface RunningProcess {
  readonly id: string;
  readonly layouts: { readonly min: number; readonly max: number };
  /** Null for a release that did not announce its version. */
  readonly version: string | null;
  /** The version of the configuration that it runs, 0 for its own file; null if it uses none. */
  readonly configuration: number | null;
}

/** The processes that serve now, API and workers. */
export async function runningProcesses(redis: RedisClient): Promise<RunningProcess[]> {
  const found = new Map<string, RunningProcess>();
  for await (const names of scanNames(redis, PROCESS_PATTERN, SCAN_COUNT)) {
    for (const name of names) {
      const words = (await redis.get(name))?.split(" ") ?? [];
      const [min, max, version = null, applied = "-"] = words;
      const id = name.slice(name.indexOf(":") + 1);
      const layouts = { min: Number(min), max: Number(max) };
      const configuration = /^\d+$/.test(applied) ? Number(applied) : null;
      if (max !== undefined) found.set(id, { id, layouts, version, configuration });
    }
  }
  return [...found.values()].sort((a, b) => a.id.localeCompare(b.id));
}

/** Withdraws the announcement of a process. */
export async function retractProcess(redis: RedisClient, processId: string): Promise<void> {
  await redis.del(processKey(processId));
}

/** The layout in force in each bucket; null if the bucket is not set up. */
export async function layoutsInForce(redis: RedisClient): Promise<(number | null)[]> {
  const buckets = Array.from({ length: BUCKETS }, (_, bucket) => bucket);
  return await Promise.all(
    buckets.map(async (bucket) => {
      const bytes = await redis.getBuffer(bucketKeys(bucket).bucket);
      return bytes === null || bytes.length < 8 ? null : bytes.readDoubleLE(0);
    }),
  );
}

/** @throws UnknownLayout if a bucket has a layout that this release does not know. */
export async function checkLayouts(redis: RedisClient): Promise<void> {
  for (const layout of await layoutsInForce(redis)) if (layout !== null) checkLayout(layout);
}

/**
 * Puts this release's layout in force in all buckets. Returns how many had an older one.
 * @throws EarlierReleaseRuns, UnknownLayout
 */
export async function raiseLayouts(redis: RedisClient): Promise<number> {
  const layouts = await layoutsInForce(redis);
  for (const layout of layouts) if (layout !== null) checkLayout(layout);
  const lower = layouts.flatMap((layout, bucket) =>
    layout !== null && layout < LAYOUT_MAX ? [bucket] : [],
  );
  if (lower.length > 0) {
    const earlier = await earlierProcesses(redis);
    if (earlier.length > 0) throw new EarlierReleaseRuns(earlier);
    await Promise.all(lower.map((bucket) => runUnloaded(redis, raiseLayout, { bucket })));
  }
  await Promise.all(serversOf(redis).map(removeOtherLibraries));
  // Runs even if no layout was raised: an earlier run may have ended before its rewrite.
  if (LAYOUT_MIN < LAYOUT_MAX) await rewriteAll(redis);
  return lower.length;
}

/** Serving processes that do not know this release's layout. */
async function earlierProcesses(redis: RedisClient): Promise<string[]> {
  const earlier = (await runningProcesses(redis)).filter(({ layouts }) => layouts.max < LAYOUT_MAX);
  return earlier.map(({ id }) => id);
}

/**
 * Rewrites the records of wallets and keys: idle ones would otherwise keep the older layout, and
 * every later release would have to read that layout. Holds need no rewrite, because they end.
 */
async function rewriteAll(redis: RedisClient): Promise<void> {
  for (const [kind, pattern] of [
    ["wallet", WALLET_PATTERN],
    ["key", KEY_PATTERN],
  ] as const) {
    for await (const names of scanNames(redis, pattern, SCAN_COUNT)) {
      await Promise.all(
        names.map(async (record) => {
          const bytes = await redis.getBuffer(record);
          if (bytes === null || bytes.readDoubleLE(0) >= LAYOUT_MAX) return;
          const bucket = Number(/^\{b(\d+)\}/.exec(record)?.[1]);
          await runUnloaded(redis, rewrite, { bucket, record, kind });
        }),
      );
    }
  }
}
