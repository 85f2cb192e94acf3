// Reads the records of Redis for an audit. Nothing here changes a record or builds a wallet.

import { BUCKETS } from "../src/core/access/limits.ts";
import { type JournalPlace, type StreamEntry, streamEntry, writtenUntil } from "./journal.ts";
import inspectLua from "./lua/inspect.lua" with { type: "text" };
import { accountKeys, bucketKeys, holdsKey, keyStateKey, MAIL_OWNER } from "./records/keys.ts";
import {
  type BucketRecord,
  type BudgetRecord,
  type HoldRecord,
  isEnded,
  type KeyState,
  parseBucket,
  parseBudgets,
  parseHold,
  parseKeyState,
  parseWallet,
  UnknownRecord,
  type Wallet,
} from "./records/records.ts";
import {
  asBytes,
  pack,
  type RawReply,
  type RedisClient,
  type ScriptTime,
  unpack,
} from "./scripts/script.ts";
import { withShared } from "./scripts/shared-lua.ts";

/** An open hold as Redis has it. */
export interface InspectedHold {
  readonly request: string;
  readonly owner: string;
  /** The end of its process's lease, or the hold's own deadline; null if it has neither. */
  readonly leaseMs: number | null;
  /** Null when the record cannot be read. */
  readonly record: HoldRecord | null;
}

export interface AccountInspection {
  readonly nowMs: number;
  /** Null when the bucket is not set up. */
  readonly bucket: BucketRecord | null;
  /** The number of journal entries that were ever written in the bucket's epoch. */
  readonly written: number;
  /** A wallet of any epoch; null if Redis has no wallet of the account. */
  readonly wallet: Wallet | null;
  readonly document: string | null;
  /** By key id; a key without a call is missing. */
  readonly keys: ReadonlyMap<string, KeyState>;
  readonly holds: readonly InspectedHold[];
  /** By number; a budget that counted no call, or has not been loaded, is missing. */
  readonly budgets: ReadonlyMap<number, BudgetRecord>;
  /** The journal from the requested place on. */
  readonly tail: readonly StreamEntry[];
}

export interface BucketInspection {
  readonly bucket: number;
  readonly record: BucketRecord | null;
  readonly written: number;
  readonly journalLength: number;
}

/** A lease that ended long ago: the sweep must have missed it. */
export interface OverdueLease {
  readonly owner: string;
  readonly leaseMs: number;
  readonly holds: number;
}

export interface InspectionQuestion {
  readonly id: string;
  readonly bucket: number;
  /** All keys of the account, revoked ones too. */
  readonly keyIds: readonly string[];
  readonly after: JournalPlace;
  /** Journal entries at most. */
  readonly count: number;
  /** Only tests set a time. */
  readonly now: ScriptTime;
}

const SOURCE = withShared(inspectLua);
/** The most starts of a read, which begins again if a new owner of holds appears. */
const TRIES_MAX = 10;

/** Reads everything about an account at one instant, with the journal entries from a place on. */
export async function inspectAccount(
  redis: RedisClient,
  question: InspectionQuestion,
): Promise<AccountInspection> {
  const keys = bucketKeys(question.bucket);
  for (let attempt = 1; ; attempt++) {
    const owners = [...(await redis.hkeys(keys.leases)), MAIL_OWNER];
    const inspection = await inspectHolds(redis, question, owners);
    const isComplete = [...inspection.leases.keys()].every((owner) => owners.includes(owner));
    if (isComplete) return inspection;
    if (attempt === TRIES_MAX) throw new Error(`Processes come all the time in ${keys.leases}`);
  }
}

async function inspectHolds(
  redis: RedisClient,
  { id, bucket, keyIds, after, count, now }: InspectionQuestion,
  owners: readonly string[],
): Promise<AccountInspection & { readonly leases: ReadonlyMap<string, number> }> {
  const keys = accountKeys(id, bucket);
  const names = [
    keys.bucket,
    keys.wallet,
    keys.document,
    keys.events,
    keys.leases,
    keys.budgets,
    ...keyIds.map((key) => keyStateKey(bucket, key)),
    ...owners.map((owner) => holdsKey(bucket, owner)),
  ];
  const args = [pack(now, keyIds.length, count), id, `${after.epoch}-${after.entry}`, ...owners];
  // The script is sent by its source: loading the library would compare Redis with Postgres, and an
  // audit must not start that comparison.
  const reply = (await asBytes(redis).evalBuffer(
    SOURCE,
    names.length,
    ...names,
    ...args,
  )) as Nested;
  const [time, record, wallet, document, leases, newest, tail, states, holds, budgets] = reply;
  const bucketRecord = parsed(record, parseBucket);
  const ends = new Map([...pairs(leases)].map(([owner, ms]) => [owner, Number(ms)]));
  return {
    nowMs: unpack(time as Buffer)[0] ?? 0,
    bucket: bucketRecord,
    written: writtenUntil(newestId(newest), bucketRecord),
    wallet: parsed(wallet, parseWallet),
    document: parsed(document, String),
    keys: keyStates(keyIds, states as Nested),
    holds: holdsOf(holds as readonly Buffer[], ends),
    budgets: parseBudgets(budgets as readonly Buffer[]),
    tail: (tail as readonly Nested[]).map(([streamId, fields]) =>
      streamEntry(String(streamId), (fields as readonly Buffer[])[1]),
    ),
    leases: ends,
  };
}

type Nested = readonly RawReply[];

/** The state of every bucket. Read the cursors first: a count of entries only grows. */
export async function inspectBuckets(redis: RedisClient): Promise<BucketInspection[]> {
  const buckets = Array.from({ length: BUCKETS }, (_, bucket) => bucket);
  return await Promise.all(
    buckets.map(async (bucket) => {
      const keys = bucketKeys(bucket);
      const [bytes, newest, journalLength] = await Promise.all([
        redis.getBuffer(keys.bucket),
        redis.xrevrange(keys.events, "+", "-", "COUNT", 1),
        redis.xlen(keys.events),
      ]);
      const record = bytes === null ? null : parseBucket(bytes);
      return { bucket, record, written: writtenUntil(newest[0]?.[0], record), journalLength };
    }),
  );
}

/** The first process of a bucket whose lease ended before `overdueMs`. */
export async function findOverdueLease(
  redis: RedisClient,
  bucket: number,
  overdueMs: number,
): Promise<OverdueLease | null> {
  for (const [owner, ms] of Object.entries(await redis.hgetall(bucketKeys(bucket).leases))) {
    if (Number(ms) >= overdueMs) continue;
    const records = await redis.hvalsBuffer(holdsKey(bucket, owner));
    const holds = records.filter((bytes) => !isEnded(bytes)).length;
    // Read again: the process may have come back meanwhile.
    const leaseMs = await redis.hget(bucketKeys(bucket).leases, owner);
    if (leaseMs !== null && Number(leaseMs) < overdueMs) {
      return { owner, leaseMs: Number(leaseMs), holds };
    }
  }
  return null;
}

function parsed<Value>(part: RawReply | undefined, parse: (bytes: Buffer) => Value): Value | null {
  const bytes = part as Buffer;
  return bytes.length === 0 ? null : parse(bytes);
}

function newestId(newest: RawReply | undefined): string | undefined {
  const [entry] = newest as readonly Nested[];
  return entry === undefined ? undefined : String(entry[0]);
}

function keyStates(keyIds: readonly string[], states: Nested): Map<string, KeyState> {
  const read = keyIds.map((id, index) => [id, parsed(states[index], parseKeyState)] as const);
  return new Map(read.filter((pair): pair is [string, KeyState] => pair[1] !== null));
}

function holdsOf(flat: readonly Buffer[], ends: ReadonlyMap<string, number>): InspectedHold[] {
  const holds: InspectedHold[] = [];
  for (let at = 0; at < flat.length; at += 3) {
    const owner = String(flat[at]);
    const record = holdOf(flat[at + 2]);
    const deadline = record === null || record.deadlineMs <= 0 ? null : record.deadlineMs;
    const leaseMs = deadline ?? ends.get(owner) ?? null;
    holds.push({ request: String(flat[at + 1]), owner, leaseMs, record });
  }
  return holds;
}

function holdOf(bytes: Buffer | undefined): HoldRecord | null {
  try {
    return parseHold(bytes ?? Buffer.alloc(0));
  } catch (error) {
    if (error instanceof UnknownRecord) return null;
    throw error;
  }
}

function pairs(flat: RawReply | undefined): Map<string, string> {
  const parts = flat as readonly Buffer[];
  const map = new Map<string, string>();
  for (let index = 0; index < parts.length; index += 2) {
    map.set(String(parts[index]), String(parts[index + 1]));
  }
  return map;
}
