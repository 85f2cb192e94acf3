// A Lua script with typed arguments and a typed reply.

import type { Cluster, Redis } from "ioredis";
import type { AccountKeys } from "../records/keys.ts";
import { plainParts } from "../redis/fixed-parts.ts";
import type { Argument, Keys } from "../redis/script-client.ts";
import { withShared } from "./shared-lua.ts";

export type RedisClient = Redis | Cluster;

/** One server of a deployment. */
export type RedisServer = Redis;

/** A reply with bulk strings as bytes. */
export type RawReply = Buffer | number | string | null | readonly RawReply[];

/** Methods of ioredis that its types lack: bulk strings as bytes. */
interface ByteScripts {
  evalBuffer(source: string, count: number, ...rest: Argument[]): Promise<RawReply>;
}

export function asBytes(redis: RedisClient): ByteScripts {
  return redis as unknown as ByteScripts;
}

/** A test's clock; 0 means the time of Redis, which production always uses. */
export type ScriptTime = number;

export interface Timed {
  readonly nowMs: ScriptTime;
}

export interface OfAccount {
  readonly account: string;
  readonly keys: AccountKeys;
}

export interface Script<Input, Reply> extends ScriptDefinition {
  readonly keys: (input: Input) => readonly Keys[];
  readonly args: (input: Input) => readonly Argument[];
  readonly reply: (raw: RawReply) => Reply;
}

/**
 * `no-writes`: the script only reads. `allow-oom`: Redis runs it even without memory left, because
 * it needs none or frees some.
 */
export type ScriptFlag = "no-writes" | "allow-oom";

/** A script without its types. */
export interface ScriptDefinition {
  readonly name: string;
  /** The body. The body may use the functions of shared-lua.ts. */
  readonly lua: string;
  readonly flags: readonly ScriptFlag[];
}

/** Packs numbers into one argument of little-endian doubles, which a script unpacks in one step. */
export function pack(...numbers: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(8 * numbers.length);
  for (let at = 0; at < numbers.length; at++) bytes.writeDoubleLE(numbers[at] ?? 0, 8 * at);
  return bytes;
}

/** Reads numbers that `pack` or a script packed. */
export function unpack(bytes: Buffer): readonly number[] {
  const numbers: number[] = new Array(Math.floor(bytes.length / 8));
  for (let at = 0; at < numbers.length; at++) numbers[at] = bytes.readDoubleLE(8 * at);
  return numbers;
}

/** The verdict of a reply: its first word, or null for a packed reply. */
export function verdictOf(raw: RawReply): string | null {
  return Array.isArray(raw) ? String(raw[0]) : null;
}

/** A part of a reply as bytes. Anything else is a bug in our scripts. */
export function bytesOf(part: RawReply | undefined): Buffer {
  if (part instanceof Buffer) return part;
  throw new Error("A script answered no bytes where bytes were due");
}

/** Runs a script by its source, before a server is verified. */
export async function runUnloaded<Input, Reply>(
  redis: RedisClient,
  script: Script<Input, Reply>,
  input: Input,
): Promise<Reply> {
  const keys = plainParts(script.keys(input));
  const args = script.args(input);
  const raw = await asBytes(redis).evalBuffer(
    withShared(script.lua),
    keys.length,
    ...keys,
    ...args,
  );
  return script.reply(raw);
}
