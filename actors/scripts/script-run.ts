// Runs a script: sends it until Redis replies, or until no further attempt can succeed.

import { ApiError } from "../../src/core/errors.ts";
import { UnknownLayout } from "../records/layouts.ts";
import type { Argument, Keys, Reply, ReplyReceiver, ScriptClient } from "../redis/script-client.ts";
import { type RawReply, type RedisClient, type Script, verdictOf } from "./script.ts";

/** Measures scripts by a clock that never goes back. */
export interface ScriptTiming {
  readonly monotonicMs: () => number;
  readonly onRun: (script: string, seconds: number) => void;
}

/** The services that all runs of a process share. */
export interface RunContext {
  readonly client: ScriptClient;
  readonly redis: RedisClient;
  readonly timing: ScriptTiming | undefined;
  readonly onUnknownLayout: (error: UnknownLayout) => void;
  /** Prepares Redis for a script. `isUnsent`: the script did not run, and a failure reports so. */
  prepareFor(name: string, isUnsent: boolean): Promise<void>;
}

/** A script with the keys and arguments of one run. */
export interface PreparedScript<Result> {
  readonly script: Pick<Script<never, Result>, "name" | "reply">;
  /** The name of its function. */
  readonly name: string;
  readonly keys: readonly Keys[];
  readonly args: readonly Argument[];
}

/** The most times that one call loads the library, or reads the map of the Cluster again. */
const REPAIRS_MAX = 3;
/**
 * The most times that one call prepares Redis because the bucket of the call is not set up. A Redis
 * that is emptied once may need two, because it can be emptied while it is being compared.
 */
const PREPARATIONS_MAX = 8;

/** One run of a script, with callbacks: every call has two runs, and `async` would cost more. */
export class ScriptRun<Result> implements ReplyReceiver {
  readonly #context: RunContext;
  readonly #prepared: PreparedScript<Result>;
  readonly #resolve: (result: Result) => void;
  readonly #reject: (error: unknown) => void;
  #attempt = 0;
  #startMs = 0;

  // biome-ignore lint/complexity/useMaxParams: an object for each script
  constructor(
    context: RunContext,
    prepared: PreparedScript<Result>,
    resolve: (result: Result) => void,
    reject: (error: unknown) => void,
  ) {
    this.#context = context;
    this.#prepared = prepared;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  send(): void {
    const { client, timing } = this.#context;
    const { name, keys, args } = this.#prepared;
    this.#startMs = timing?.monotonicMs() ?? 0;
    try {
      client.fcall(name, keys, args, this);
    } catch (error) {
      this.reject(error);
    }
  }

  resolve(reply: Reply): void {
    try {
      this.#take(reply as RawReply);
    } catch (error) {
      this.#fail(error);
    }
  }

  reject(error: unknown): void {
    try {
      this.#repair(error);
    } catch (fault) {
      this.#fail(fault);
    }
  }

  #take(raw: RawReply): void {
    const { timing, client } = this.#context;
    const { script } = this.#prepared;
    timing?.onRun(script.name, (timing.monotonicMs() - this.#startMs) / 1_000);
    // The value is no reply of the script: to read it as a reply would settle a call whose hold is
    // open.
    if (verdictOf(raw) !== "recover") this.#resolve(script.reply(raw));
    else if (this.#attempt < PREPARATIONS_MAX) this.#sendAfter(this.#prepare(!client.sendsTwice));
    else throw new Error("Redis was prepared, and still has to be");
  }

  /** Sends the script again if the cause of its failure can be repaired. */
  #repair(error: unknown): void {
    const { client, redis, onUnknownLayout } = this.#context;
    const unknown = unknownLayoutOf(error);
    if (unknown !== null) {
      onUnknownLayout(unknown);
      throw unknown;
    }
    if (this.#attempt >= REPAIRS_MAX) throw error;
    if (isMoved(error)) this.#sendAfter(refreshSlots(redis));
    else if (isUnknownFunction(error)) this.#sendAfter(this.#prepare(!client.sendsTwice));
    else throw error;
  }

  #fail(error: unknown): void {
    this.#reject(unavailable(error));
  }

  /** Sends the script once Redis is prepared. */
  sendPrepared(): void {
    this.#prepare(true).then(() => this.send(), this.#reject);
  }

  #prepare(isUnsent: boolean): Promise<void> {
    return this.#context.prepareFor(this.#prepared.script.name, isUnsent);
  }

  #sendAfter(ready: Promise<void>): void {
    this.#attempt += 1;
    ready.then(() => this.send(), this.#reject);
  }
}

/** The bucket's slot is on another server of the Cluster by now: the script did not run. */
function isMoved(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.message.startsWith("MOVED ") || error.message.startsWith(OTHER_SERVER);
}

/** The error of ioredis, before it sends anything, if its map of the slots is too old. */
const OTHER_SERVER = "All keys in the pipeline should belong to the same slots allocation group";

async function refreshSlots(redis: RedisClient): Promise<void> {
  if (!("nodes" in redis)) return;
  // A failure shows in the next attempt.
  await new Promise<void>((resolve) => redis.refreshSlotsCache(() => resolve()));
}

function isUnknownFunction(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("ERR Function not found");
}

/** Recognises the error of `read_bucket` in records.lua for an unknown layout. */
function unknownLayoutOf(error: unknown): UnknownLayout | null {
  const layout = error instanceof Error ? /\bLAYOUT (\d+) is in force/.exec(error.message) : null;
  return layout === null ? null : new UnknownLayout(Number(layout[1]));
}

/**
 * Paid calls fail closed: if no decision is possible, the call is refused and nothing is charged.
 */
export function unavailable(cause: unknown): ApiError {
  if (cause instanceof ApiError) return cause;
  return new ApiError("service_unavailable", "The service cannot take calls right now", {
    retryAfterSeconds: 1,
    cause,
  });
}
