// Makes Redis servers rewrite their append-only files.
//
// A machine that loses power may leave a file that ends inside a script. Redis loads such a file
// and appends further scripts to the file. At the next start, Redis reads the half script and the
// script after the half as one script. The journal then contradicts the ledger, and charges are
// lost. A rewritten file ends with a whole script (D-491).

import type { Log } from "../../src/core/log.ts";
import { within } from "../../src/core/within.ts";
import type { RedisClient, RedisServer } from "../scripts/script.ts";
import { connectedServers } from "./redis-servers.ts";

/** The state of the append-only file of a server, from `INFO persistence`. */
export interface AppendOnlyFile {
  readonly isOn: boolean;
  /** True while a rewrite runs, or waits until the server has time. */
  readonly isUnderWay: boolean;
  /** True if the last rewrite failed; false if the server had no rewrite. */
  readonly hasFailed: boolean;
  /** True if a rewrite succeeded since the server started, and none runs now. */
  readonly isFresh: boolean;
}

export interface FreshFilesDeps {
  readonly redis: RedisClient;
  readonly log: Pick<Log, "warn">;
  /** A caller waits this long and is then refused, while the rewrite goes on. */
  readonly callerMs?: number;
  /** The longest wait for a rewrite. */
  readonly rewriteMs?: number;
}

const CALLER_MS = 3_000;
const REWRITE_MS = 60_000;
const LOOK_MS = 20;
/** The error by which Redis refuses a second rewrite while the first runs. */
const UNDER_WAY = /already in progress/i;

/** Reads the state of a server's append-only file. */
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

/** Starts a rewrite. False if an earlier rewrite still runs. Throws if the server refuses. */
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
 * Makes a function that resolves once every server has rewritten the file with which the server
 * started. The function rejects after a few seconds, and its next call waits for the same rewrite.
 * If a server refuses the rewrite, or takes too long, the function logs a warning and resolves:
 * calls are served, as they are with a server that has no append-only file.
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

/** Makes a server rewrite its file, unless the file is fresh. Resolves with a failure, or null. */
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

/**
 * Returns an error by which Redis refused a command. Throws any other error, such as the loss of a
 * connection.
 */
function asRefusal(error: unknown): Error {
  if (error instanceof Error && error.name === "ReplyError") return error;
  throw error;
}
