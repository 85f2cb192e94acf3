// The append-only files of the Redis servers, written anew.
//
// A machine that loses its power may leave a file that ends within a script. Redis reads it and
// appends to it; at its next start it takes the half script and the one that follows for a single
// one, so the journal contradicts the ledger, and charges are lost. A rewritten file has no such
// end (D-597).

import type { Log } from "../../src/core/log.ts";
import { within } from "../../src/core/within.ts";
import type { RedisClient, RedisServer } from "../scripts/script.ts";
import { connectedServers } from "./redis-servers.ts";

/** What `INFO` says about the append-only file of a server. */
export interface AppendOnlyFile {
  readonly isOn: boolean;
  /** A rewrite runs, or begins when the server has time for it. */
  readonly isUnderWay: boolean;
  /** The last rewrite failed; false if there was none. */
  readonly hasFailed: boolean;
  /** Whether a rewrite ended well since the server started. */
  readonly isFresh: boolean;
}

export interface FreshFilesDeps {
  readonly redis: RedisClient;
  readonly log: Pick<Log, "warn">;
  /** How long a caller waits before it is refused; the rewrite goes on. */
  readonly callerMs?: number;
  /** How long to wait for a rewrite. */
  readonly rewriteMs?: number;
}

const CALLER_MS = 3_000;
const REWRITE_MS = 60_000;
const LOOK_MS = 20;
/** Redis begins no other rewrite while one runs. */
const UNDER_WAY = /already in progress/i;

export async function appendOnlyFileOf(server: RedisServer): Promise<AppendOnlyFile> {
  const info = await server.info("persistence");
  const fieldOf = (name: string) => new RegExp(`^${name}:(\\w+)`, "m").exec(info)?.[1];
  const isUnderWay =
    fieldOf("aof_rewrite_in_progress") === "1" || fieldOf("aof_rewrite_scheduled") === "1";
  const hasFailed = fieldOf("aof_last_bgrewrite_status") === "err";
  return {
    isOn: fieldOf("aof_enabled") === "1",
    isUnderWay,
    hasFailed,
    isFresh: Number(fieldOf("aof_rewrites") ?? 0) > 0 && !isUnderWay && !hasFailed,
  };
}

/**
 * Asks a server to write its file anew. False if a rewrite runs that began earlier. Throws if the
 * server refuses.
 */
export async function beginRewrite(server: RedisServer): Promise<boolean> {
  try {
    await server.bgrewriteaof();
    return true;
  } catch (error) {
    if (error instanceof Error && UNDER_WAY.test(error.message)) return false;
    throw error;
  }
}

/**
 * Makes a function that resolves once no server has a file that was there when it started.
 * It rejects after a few seconds, and its next call waits on. A server that refuses the rewrite, or
 * is too slow, is only named in the log: calls are served, as by a server without such a file.
 */
export function freshFiles(deps: FreshFilesDeps): () => Promise<void> {
  const { callerMs = CALLER_MS } = deps;
  let rewriting: Promise<void> | null = null;
  return () => {
    rewriting ??= rewriteAll(deps).finally(() => {
      rewriting = null;
    });
    return within(callerMs, rewriting, () => new Error("Redis writes its append-only file anew"));
  };
}

async function rewriteAll({ redis, log, rewriteMs = REWRITE_MS }: FreshFilesDeps): Promise<void> {
  const servers = await connectedServers(redis);
  await Promise.all(
    servers.map(async (server) => {
      const failure = await rewriteStale(server, rewriteMs);
      if (failure !== null)
        log.warn({ err: failure }, "Redis did not rewrite its append-only file: a cut end stays");
    }),
  );
}

/** Resolves with the reason why the server does not write its file anew, or null. */
async function rewriteStale(server: RedisServer, rewriteMs: number): Promise<Error | null> {
  const found = await appendOnlyFileOf(server);
  if (!found.isOn || found.isFresh) return null;
  if (!found.isUnderWay) {
    const refusal = await beginRewrite(server).then(() => null, asRefusal);
    if (refusal !== null) return refusal;
  }
  for (let waitedMs = 0; waitedMs < rewriteMs; waitedMs += LOOK_MS) {
    const { isUnderWay, hasFailed } = await appendOnlyFileOf(server);
    if (!isUnderWay) return hasFailed ? new Error("The rewrite failed: see Redis's log") : null;
    await Bun.sleep(LOOK_MS);
  }
  return new Error(`The rewrite takes over ${rewriteMs} ms`);
}

/** The reply by which Redis refuses a command; any other error says nothing about the server. */
function asRefusal(error: unknown): Error {
  if (error instanceof Error && error.name === "ReplyError") return error;
  throw error;
}
