// Runs Lua scripts by their digest. A server that does not know a script has just been started or
// promoted, so before loading it the caller's `verify` compares that server with the ledger of
// record.

import type { Cluster, Redis } from "ioredis";
import { ApiError } from "../src/core/errors.ts";
import type { AccountKeys } from "./keys.ts";

export type RedisClient = Redis | Cluster;

export type RawReply = readonly (string | number | null)[];

/** A test's clock; '' is the time of Redis, and all that production uses. */
export type ScriptTime = number | "";

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
  readonly args: (input: Input) => readonly (string | number)[];
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

/** Runs a script by its source: for what is needed before a server may be given any. */
export async function runUnloaded<Input, Reply>(
  redis: RedisClient,
  script: Script<Input, Reply>,
  input: Input,
): Promise<Reply> {
  const keys = script.keys(input);
  const raw = await redis.eval(script.source, keys.length, ...keys, ...script.args(input));
  return script.reply(raw as RawReply);
}

export class ScriptRunner {
  #preparing: Promise<void> | null = null;

  constructor(
    readonly redis: RedisClient,
    /** Makes every bucket of Redis agree with Postgres; throws when it cannot be known. */
    readonly verify: () => Promise<void>,
  ) {}

  /** Runs a script. A Redis that does not answer is `service_unavailable`. */
  async run<Input, Reply>(script: Script<Input, Reply>, input: Input): Promise<Reply> {
    const keys = script.keys(input);
    const args = script.args(input);
    for (let attempt = 0; ; attempt++) {
      try {
        const raw = (await this.redis.evalsha(
          script.sha,
          keys.length,
          ...keys,
          ...args,
        )) as RawReply;
        if (raw[0] !== "recover" || attempt > 2) return script.reply(raw);
      } catch (error) {
        if (!isNoScript(error) || attempt > 2) throw unavailable(error);
      }
      await this.prepare();
    }
  }

  /**
   * Verifies Redis against the ledger, then loads all scripts; callers at the same time share one.
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
}

function isNoScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("NOSCRIPT");
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
