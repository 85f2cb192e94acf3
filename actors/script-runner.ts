// Runs scripts. A server that does not know them, or was not compared with Postgres since it
// started, is compared first by the caller's `verify`.

import { ApiError } from "../src/core/errors.ts";
import { UnknownLayout } from "./layouts.ts";
import {
  type RawReply,
  type RedisClient,
  type RedisServer,
  type Script,
  serversOf,
  verdictOf,
} from "./script.ts";
import { IoredisScriptClient, type ScriptClient } from "./script-client.ts";
import { runIdOf, SCRIPT_LIBRARY, type ScriptLibrary } from "./script-library.ts";

/**
 * Makes the client that runs scripts. `connected` must be awaited on every new
 * connection, with the server's `INFO replication`, before anything else is sent on it.
 */
export type OpenScriptClient = (connected: (replication: string) => Promise<void>) => ScriptClient;

export interface ScriptRunnerOptions {
  readonly openClient?: OpenScriptClient | undefined;
  /** A test's scripts. */
  readonly library?: ScriptLibrary;
  /** Told of a bucket that is in a layout which this release does not know. */
  readonly onUnknownLayout?: (error: UnknownLayout) => void;
}

/** How often a Redis that starts anew all the time is compared for one call. */
const VERIFICATIONS_MAX = 3;

export class ScriptRunner {
  readonly #client: ScriptClient;
  readonly #library: ScriptLibrary;
  readonly #onUnknownLayout: (error: UnknownLayout) => void;
  #preparing: Promise<void> | null = null;
  /** The replication id of the server that was last compared with Postgres. */
  #serverId: string | null = null;

  constructor(
    /** For everything but scripts. */
    readonly redis: RedisClient,
    /** Makes every bucket of Redis agree with Postgres; throws when it cannot be known. */
    readonly verify: () => Promise<void>,
    { openClient, library = SCRIPT_LIBRARY, onUnknownLayout = () => {} }: ScriptRunnerOptions = {},
  ) {
    this.#library = library;
    this.#onUnknownLayout = onUnknownLayout;
    if (openClient !== undefined) {
      this.#client = openClient((replication) => this.#connected(replication));
    } else {
      this.#client = new IoredisScriptClient(redis);
      if ("nodes" in redis) return;
      redis.on("ready", () => this.#askServer(redis));
      // A client that is connected already: the next server is compared with this one.
      if (redis.status === "ready") this.#askServer(redis);
    }
  }

  /** Ends the client of the scripts, where it is one of its own. */
  close(): void {
    this.#client.close?.();
  }

  /** Runs a script. A Redis that does not answer is `service_unavailable`. */
  async run<Input, Reply>(script: Script<Input, Reply>, input: Input): Promise<Reply> {
    const name = this.#library.functionOf(script.name);
    const keys = script.keys(input);
    const args = script.args(input).map((arg) => (typeof arg === "number" ? String(arg) : arg));
    if (this.#preparing !== null) await this.#preparing;
    for (let attempt = 0; ; attempt++) {
      try {
        const raw = (await this.#client.fcall(name, keys, args)) as RawReply;
        if (verdictOf(raw) !== "recover" || attempt > 2) return script.reply(raw);
      } catch (error) {
        this.#checkLayout(error);
        if (!isUnknownFunction(error) || attempt > 2) throw unavailable(error);
      }
      await this.prepare();
    }
  }

  #checkLayout(error: unknown): void {
    const unknown = unknownLayoutOf(error);
    if (unknown === null) return;
    this.#onUnknownLayout(unknown);
    throw unavailable(unknown);
  }

  /** Gives Redis the scripts and compares it with Postgres; callers at the same time share one. */
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

  /** False where a server was started anew meanwhile: what was compared is then another one. */
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
    // A server that cannot be asked fails the next script too, which says so.
    asking().catch(() => {
      this.#serverId = "";
    });
  }

  /**
   * A failback to an older server that has our scripts shows only in its replication id: another
   * one is compared with Postgres before any script runs on it.
   */
  async #connected(replication: string): Promise<void> {
    const id = /master_replid:(\w+)/.exec(replication)?.[1] ?? "";
    const isAnother = this.#serverId !== null && id !== this.#serverId;
    if (isAnother) await this.prepare();
    this.#serverId = id;
  }
}

function isUnknownFunction(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("ERR Function not found");
}

/** What `read_bucket` of records.lua says of a layout that it does not know. */
function unknownLayoutOf(error: unknown): UnknownLayout | null {
  const layout = error instanceof Error ? /\bLAYOUT (\d+) is in force/.exec(error.message) : null;
  return layout === null ? null : new UnknownLayout(Number(layout[1]));
}

/** Paid calls fail closed: what cannot be decided is refused, and nothing is charged. */
export function unavailable(cause: unknown): ApiError {
  if (cause instanceof ApiError) return cause;
  return new ApiError("service_unavailable", "The service cannot take calls right now", {
    retryAfterSeconds: 1,
    cause,
  });
}

/** A Postgres that does not answer is no mistake of ours: the call can be tried again. */
export function fromPostgres<Value>(reading: Promise<Value>): Promise<Value> {
  return reading.catch((error) => {
    throw unavailable(error);
  });
}
