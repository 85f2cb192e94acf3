// Runs scripts. If a server does not know them, or was not compared with Postgres since it started,
// the caller's `verify` compares it first.

import { ApiError } from "../../src/core/errors.ts";
import { redisRefusal } from "../../src/core/redis-refusals.ts";
import { UnknownLayout } from "../records/layouts.ts";
import { serversOf } from "../redis/redis-servers.ts";
import { ConnectionLost } from "../redis/resp-connection.ts";
import { ReplyError } from "../redis/resp-reader.ts";
import { IoredisScriptClient, type ScriptClient } from "../redis/script-client.ts";
import type { RedisClient, RedisServer, Script } from "./script.ts";
import { runIdOf, SCRIPT_LIBRARY, type ScriptLibrary } from "./script-library.ts";
import { type RunContext, ScriptRun, type ScriptTiming, unavailable } from "./script-run.ts";

/**
 * Makes the client that runs scripts. `connected` must be awaited on every new
 * connection, with the server's `INFO replication`, before anything else is sent on it.
 */
export type OpenScriptClient = (connected: (replication: string) => Promise<void>) => ScriptClient;

export interface ScriptRunnerOptions {
  readonly openClient?: OpenScriptClient | undefined;
  /** The scripts of a test. */
  readonly library?: ScriptLibrary;
  /** Called with the duration of each run. */
  readonly timing?: ScriptTiming | undefined;
  /** Called for a bucket with a layout that this release does not know. */
  readonly onUnknownLayout?: (error: UnknownLayout) => void;
}

/** Redis could not be prepared for a script, which did not run. */
class NotBegun extends Error {
  override readonly name = "NotBegun";
}

/** The most times that one call compares a Redis that keeps restarting. */
const VERIFICATIONS_MAX = 3;

export class ScriptRunner {
  readonly #context: RunContext;
  readonly #library: ScriptLibrary;
  #preparing: Promise<void> | null = null;
  /** The replication id of the server that was last compared with Postgres. */
  #serverId: string | null = null;

  constructor(
    /** For everything except scripts. */
    readonly redis: RedisClient,
    /** Makes every bucket of Redis agree with Postgres; throws if that fails. */
    readonly verify: () => Promise<void>,
    options: ScriptRunnerOptions = {},
  ) {
    const { openClient, library = SCRIPT_LIBRARY, onUnknownLayout = () => {}, timing } = options;
    this.#library = library;
    const client =
      openClient?.((replication) => this.#connected(replication)) ?? new IoredisScriptClient(redis);
    const prepareFor: RunContext["prepareFor"] = (...script) => this.#prepareFor(...script);
    this.#context = { client, redis, timing, onUnknownLayout, prepareFor };
    if (openClient !== undefined || "nodes" in redis) return;
    redis.on("ready", () => this.#askServer(redis));
    // The client is already connected: record this server, to recognise another one later.
    if (redis.status === "ready") this.#askServer(redis);
  }

  /** Ends the client of the scripts if it is a separate one. */
  close(): void {
    this.#context.client.close?.();
  }

  /** Runs a script. Rejects with `service_unavailable` if Redis does not reply. */
  run<Input, Result>(script: Script<Input, Result>, input: Input): Promise<Result> {
    return new Promise((resolve, reject) => {
      const name = this.#library.functionOf(script.name);
      const keys = script.keys(input);
      const args = script.args(input);
      const run = new ScriptRun(this.#context, { script, name, keys, args }, resolve, reject);
      if (this.#preparing === null) run.send();
      else run.sendPrepared();
    });
  }

  async #prepareFor(name: string, isUnsent: boolean): Promise<void> {
    try {
      await this.prepare();
    } catch (error) {
      if (!isUnsent) throw error;
      throw unavailable(new NotBegun(`'${name}' waits for a prepared Redis`, { cause: error }));
    }
  }

  /**
   * Loads the scripts into Redis and compares it with Postgres; concurrent callers share one run.
   */
  prepare(): Promise<void> {
    this.#preparing ??= this.#loadAndVerify().finally(() => {
      this.#preparing = null;
    });
    return this.#preparing;
  }

  async #loadAndVerify(): Promise<void> {
    try {
      for (let attempt = 1; !(await this.#verifyOnce()); attempt++) {
        if (attempt < VERIFICATIONS_MAX) continue;
        throw new Error("Redis starts anew whenever it is compared with Postgres");
      }
    } catch (error) {
      throw unavailable(error);
    }
  }

  /** False if a server was restarted meanwhile: the comparison then says nothing about it. */
  async #verifyOnce(): Promise<boolean> {
    const servers = serversOf(this.redis);
    await Promise.all(servers.map((server) => this.#library.load(server)));
    const runIds = await Promise.all(servers.map(runIdOf));
    await this.verify();
    const ended = await Promise.all(
      servers.map((server, index) => this.#library.verified(server, runIds[index] ?? "")),
    );
    return ended.every(Boolean);
  }

  #askServer(redis: RedisServer): void {
    const asking = async () => this.#connected(await redis.info("replication"));
    // If the load fails, the next script fails too and reports the error.
    asking().catch(() => {
      this.#serverId = "";
    });
  }

  /**
   * After a failback to an older server that has our scripts, only the replication id is different.
   * A server with another id is compared with Postgres before any script runs on it.
   */
  async #connected(replication: string): Promise<void> {
    const id = /master_replid:(\w+)/.exec(replication)?.[1] ?? "";
    const isAnother = this.#serverId !== null && id !== this.#serverId;
    if (isAnother) await this.prepare();
    this.#serverId = id;
  }
}

/** False if a script that failed with this error certainly did not run. */
export function mayHaveRun(error: unknown): boolean {
  const cause = error instanceof ApiError ? error.cause : error;
  if (cause instanceof NotBegun || cause instanceof UnknownLayout) return false;
  if (cause instanceof ConnectionLost) return cause.mayHaveRun;
  // ioredis may have sent the script twice, and reports only the result of the second copy.
  return !(cause instanceof ReplyError && isRefused(cause));
}

/** The words that Redis adds to the error of a command within a script. */
const WITHIN_SCRIPT = " script: ";

/** True if Redis refused a script before it began (D-343). */
function isRefused(error: ReplyError): boolean {
  return redisRefusal(error) !== null && !error.message.includes(WITHIN_SCRIPT);
}

/** Turns a failure of Postgres into `service_unavailable`: the caller can try again. */
export function fromPostgres<Value>(reading: Promise<Value>): Promise<Value> {
  return reading.catch((error) => {
    throw unavailable(error);
  });
}
