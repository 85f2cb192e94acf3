// Runs Lua scripts by their digest. A server that does not know a script has just been started or
// promoted, so before loading it the caller's `verify` compares that server with Postgres.

import type { Cluster, Redis } from "ioredis";
import { ApiError } from "../src/core/errors.ts";
import type { AccountKeys } from "./keys.ts";
import { UnknownLayout } from "./layouts.ts";
import { IoredisScriptClient, type ScriptClient } from "./script-client.ts";

export type RedisClient = Redis | Cluster;

/** A reply with its bulk strings as bytes. */
export type RawReply = Buffer | number | string | null | readonly RawReply[];

export type ScriptArgument = string | number | Buffer;

/** What ioredis has beside `eval` and its types do not: bulk strings as bytes. */
interface ByteScripts {
  evalBuffer(source: string, count: number, ...rest: ScriptArgument[]): Promise<RawReply>;
}

export function asBytes(redis: RedisClient): ByteScripts {
  return redis as unknown as ByteScripts;
}

/** A test's clock; 0 is the time of Redis, and all that production uses. */
export type ScriptTime = number;

export interface Timed {
  readonly nowMs: ScriptTime;
}

export interface OfAccount {
  readonly account: string;
  readonly keys: AccountKeys;
}

export interface Script<Input, Reply> {
  readonly source: string;
  readonly sha: string;
  readonly keys: (input: Input) => readonly string[];
  readonly args: (input: Input) => readonly ScriptArgument[];
  readonly reply: (raw: RawReply) => Reply;
}

/** Every script defined, so that a new server can be given all of them at once. */
const sources = new Map<string, string>();

export function defineScript<Input, Reply>(
  source: string,
  parts: Omit<Script<Input, Reply>, "source" | "sha">,
): Script<Input, Reply> {
  const sha = new Bun.CryptoHasher("sha1").update(source).digest("hex");
  sources.set(sha, source);
  return { source, sha, ...parts };
}

/** Numbers as one argument of little-endian doubles, which a script unpacks at once. */
export function pack(...numbers: readonly number[]): Buffer {
  return Buffer.from(new Float64Array(numbers).buffer);
}

/** What `pack` wrote, or a script. */
export function unpack(bytes: Buffer): readonly number[] {
  const numbers: number[] = new Array(bytes.length / 8);
  for (let at = 0; at < numbers.length; at++) numbers[at] = bytes.readDoubleLE(8 * at);
  return numbers;
}

/** The verdict of a reply: its first word, or null for a packed reply. */
export function verdictOf(raw: RawReply): string | null {
  return Array.isArray(raw) ? String(raw[0]) : null;
}

/** A part of a reply as bytes; an assertion, for the scripts are ours. */
export function bytesOf(part: RawReply | undefined): Buffer {
  if (part instanceof Buffer) return part;
  throw new Error("A script answered no bytes where bytes were due");
}

/** Runs a script by its source: for what is needed before a server may be given any. */
export async function runUnloaded<Input, Reply>(
  redis: RedisClient,
  script: Script<Input, Reply>,
  input: Input,
): Promise<Reply> {
  const keys = script.keys(input);
  const args = script.args(input);
  const raw = await asBytes(redis).evalBuffer(script.source, keys.length, ...keys, ...args);
  return script.reply(raw);
}

/**
 * Makes the client that runs scripts by their digest. `connected` must be awaited on every new
 * connection, with the server's `INFO replication`, before anything else is sent on it.
 */
export type OpenScriptClient = (connected: (replication: string) => Promise<void>) => ScriptClient;

export interface ScriptRunnerOptions {
  readonly openClient?: OpenScriptClient | undefined;
  /** Told of a bucket that is in a layout which this release does not know. */
  readonly onUnknownLayout?: (error: UnknownLayout) => void;
}

export class ScriptRunner {
  readonly #client: ScriptClient;
  readonly #onUnknownLayout: (error: UnknownLayout) => void;
  #preparing: Promise<void> | null = null;
  /** The replication id of the server that was last compared with Postgres. */
  #serverId: string | null = null;

  constructor(
    /** For everything but scripts. */
    readonly redis: RedisClient,
    /** Makes every bucket of Redis agree with Postgres; throws when it cannot be known. */
    readonly verify: () => Promise<void>,
    { openClient, onUnknownLayout = () => {} }: ScriptRunnerOptions = {},
  ) {
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
    const keys = script.keys(input);
    const args = script.args(input).map((arg) => (typeof arg === "number" ? String(arg) : arg));
    if (this.#preparing !== null) await this.#preparing;
    for (let attempt = 0; ; attempt++) {
      try {
        const raw = (await this.#client.evalsha(script.sha, keys, args)) as RawReply;
        if (verdictOf(raw) !== "recover" || attempt > 2) return script.reply(raw);
      } catch (error) {
        this.#checkLayout(error);
        if (!isNoScript(error) || attempt > 2) throw unavailable(error);
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

  /**
   * Verifies Redis against Postgres, then loads all scripts; callers at the same time share one.
   */
  prepare(): Promise<void> {
    this.#preparing ??= this.#verifyAndLoad().finally(() => {
      this.#preparing = null;
    });
    return this.#preparing;
  }

  async #verifyAndLoad(): Promise<void> {
    try {
      await this.verify();
      const servers = "nodes" in this.redis ? this.redis.nodes("master") : [this.redis];
      await Promise.all(
        servers.flatMap((server) =>
          [...sources.values()].map((source) => server.script("LOAD", source)),
        ),
      );
    } catch (error) {
      throw unavailable(error);
    }
  }

  #askServer(redis: Redis): void {
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

function isNoScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("NOSCRIPT");
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
