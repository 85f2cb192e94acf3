// Raising the layout in force. Each process that serves says in Redis which layouts it knows, every
// few seconds: it is Redis that matters, so a process that is cut off from Postgres is seen too.
// Safety does not depend on it. A process that was missed refuses the buckets, in words.

import { BUCKETS } from "../src/core/limits.ts";
import { bucketKeys, KEY_PATTERN, PROCESS_PATTERN, processKey, WALLET_PATTERN } from "./keys.ts";
import { checkLayout, LAYOUT_MAX, LAYOUT_MIN } from "./layouts.ts";
import raiseLayoutLua from "./lua/raise_layout.lua" with { type: "text" };
import rewriteLua from "./lua/rewrite.lua" with { type: "text" };
import {
  pack,
  type RedisClient,
  runUnloaded,
  type Script,
  serversOf,
  verdictOf,
} from "./script.ts";
import { removeOtherLibraries } from "./script-library.ts";

/** A process that was not heard of for so long is gone. */
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

/** Processes run that do not know the layout that is to be in force. */
export class EarlierReleaseRuns extends Error {
  override readonly name = "EarlierReleaseRuns";

  constructor(readonly processes: readonly string[]) {
    super(
      `${processes.length} processes do not know layout ${LAYOUT_MAX}: ${processes.join(", ")}. ` +
        "Stop them, or wait a minute after they were killed, and try again.",
    );
  }
}

/** Says that a process serves, and what it knows. */
export async function announceProcess(redis: RedisClient, processId: string): Promise<void> {
  await redis.set(processKey(processId), `${LAYOUT_MIN} ${LAYOUT_MAX}`, "PX", ANNOUNCED_MS);
}

/** Says that it no longer does. */
export async function retractProcess(redis: RedisClient, processId: string): Promise<void> {
  await redis.del(processKey(processId));
}

/** The layouts in force, by bucket; null for one that is not set up. */
export async function layoutsInForce(redis: RedisClient): Promise<(number | null)[]> {
  const buckets = Array.from({ length: BUCKETS }, (_, bucket) => bucket);
  return await Promise.all(
    buckets.map(async (bucket) => {
      const bytes = await redis.getBuffer(bucketKeys(bucket).bucket);
      return bytes === null || bytes.length < 8 ? null : bytes.readDoubleLE(0);
    }),
  );
}

/** @throws UnknownLayout where a bucket's layout is none that this release knows. */
export async function checkLayouts(redis: RedisClient): Promise<void> {
  for (const layout of await layoutsInForce(redis)) if (layout !== null) checkLayout(layout);
}

/**
 * Puts this release's layout in force in all buckets, and returns in how many it was not.
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
  // Also where an earlier run ended in between.
  if (LAYOUT_MIN < LAYOUT_MAX) await rewriteAll(redis);
  return lower.length;
}

/** The processes that serve and do not know this release's layout. */
async function earlierProcesses(redis: RedisClient): Promise<string[]> {
  const earlier = new Set<string>();
  for await (const names of scan(redis, PROCESS_PATTERN)) {
    for (const name of names) {
      const [, max] = ((await redis.get(name)) ?? `0 ${LAYOUT_MAX}`).split(" ");
      if (Number(max) < LAYOUT_MAX) earlier.add(name.slice(name.indexOf(":") + 1));
    }
  }
  return [...earlier].sort();
}

/**
 * Idle wallets and keys would otherwise keep the older layout, and no later release could stop
 * reading it. Holds end by themselves.
 */
async function rewriteAll(redis: RedisClient): Promise<void> {
  for (const [kind, pattern] of [
    ["wallet", WALLET_PATTERN],
    ["key", KEY_PATTERN],
  ] as const) {
    for await (const names of scan(redis, pattern)) {
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

/** Names of keys on every server, page by page; some may come twice. */
async function* scan(redis: RedisClient, pattern: string): AsyncGenerator<readonly string[]> {
  for (const server of serversOf(redis)) {
    let cursor = "0";
    do {
      const [next, names] = await server.scan(cursor, "MATCH", pattern, "COUNT", SCAN_COUNT);
      cursor = next;
      yield names;
    } while (cursor !== "0");
  }
}
