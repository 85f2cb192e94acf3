// The packed records of Redis: little-endian doubles, then text. Only this file, and records.lua,
// window.lua and free_credit.lua in lua/shared/, know their layout;
// test/unit/actors/records/records.test.ts checks that they agree.

import { type BudgetRef, parseBudgetRefs } from "../../src/core/access/budgets.ts";
import { MINUTE_MS } from "../../src/core/durations.ts";
import type { JournalEntry, JournalType, OperationKind } from "../../src/core/journal/journal.ts";
import { OPERATION_KINDS } from "../../src/core/journal/journal.ts";
import type { FreeEnd, FreeEnds } from "../../src/core/money/free-lots.ts";
import { type NanoUsd, nanoOf } from "../../src/core/money/money.ts";
import { checkLayout, isKnownLayout } from "./layouts.ts";

/** A bucket's own record. */
export interface BucketRecord {
  readonly layout: number;
  readonly epoch: number;
  /** Counts evicted wallets, and documents that arrived while their wallet was not in Redis. */
  readonly evictions: number;
  /** Counts changes of access documents over all the bucket's accounts. */
  readonly documents: number;
}

/** An end of free credit, and the holds of calls that began after it. */
interface HeldFreeEnd extends FreeEnd {
  readonly held: NanoUsd;
}

interface HeldFreeEnds extends FreeEnds {
  readonly earlier: readonly HeldFreeEnd[];
}

/** An account's wallet. Balances do not include held amounts. */
export interface Wallet {
  readonly layout: number;
  readonly epoch: number;
  /** The version of the access document. */
  readonly version: number;
  /** The number of the account's last ledger entry. */
  readonly seq: number;
  readonly paid: NanoUsd;
  readonly free: NanoUsd;
  readonly heldPaid: NanoUsd;
  readonly heldFree: NanoUsd;
  /** The debt that reversed payments left; above zero only while `paid` is zero. */
  readonly owed: NanoUsd;
  /** The number of the last operation applied. */
  readonly operations: number;
  /** When free credit ends; the earlier ends are those of lots that end before the last one. */
  readonly freeEnds: HeldFreeEnds;
  /** A call admitted before this time gives back no free credit that has ended since. */
  readonly freeSinceMs: number;
  readonly streams: number;
  /** Open calls, streams included. */
  readonly calls: number;
  /** The month of `spent` and `held`, as 202611; both previous amounts are of the month before. */
  readonly month: number;
  readonly spent: NanoUsd;
  readonly held: NanoUsd;
  readonly previousSpent: NanoUsd;
  readonly previousHeld: NanoUsd;
  /** When a call last used the wallet. */
  readonly usedMs: number;
}

/** The spending of a key, and its request window. */
export interface KeyState {
  readonly layout: number;
  readonly epoch: number;
  readonly month: number;
  readonly spent: NanoUsd;
  readonly held: NanoUsd;
  readonly previousSpent: NanoUsd;
  readonly previousHeld: NanoUsd;
  readonly window: WindowRecord;
}

/** 61 counters of one second each. `total` is the sum of those inside the window. */
export interface WindowRecord {
  /** The newest second that counted anything, and the millisecond of its last request. */
  readonly lastSecond: number;
  readonly lastMs: number;
  /** The oldest second that counts anything, and the millisecond of its last request. */
  readonly firstSecond: number;
  readonly firstMs: number;
  readonly total: number;
  readonly counts: readonly number[];
}

/** An open hold, as stored in the hash of its owner. */
export interface HoldRecord {
  readonly layout: number;
  readonly epoch: number;
  readonly paid: NanoUsd;
  readonly free: NanoUsd;
  readonly month: number;
  readonly isStream: boolean;
  /** The cost streamed so far; the sweep charges it. */
  readonly checkpoint: NanoUsd;
  readonly admittedMs: number;
  /** When the sweep may resolve a hold that belongs to no process; 0 for all others. */
  readonly deadlineMs: number;
  readonly account: string;
  readonly key: string;
  readonly metadata: string;
  /** The budgets that count the call. */
  readonly budgets: readonly BudgetRef[];
}

/**
 * The amounts of a budget in its newest span and in the span before; the start -1 stands for no
 * span.
 */
export interface BudgetRecord {
  readonly layout: number;
  readonly epoch: number;
  readonly startMs: number;
  readonly spent: NanoUsd;
  readonly held: NanoUsd;
  readonly previousStartMs: number;
  readonly previousSpent: NanoUsd;
  readonly previousHeld: NanoUsd;
}

const BYTES = 8;
const BUCKET_FIELDS = 4;
const WALLET_FIELDS = 20;
const KEY_FIELDS = 10;
const WINDOW_FIELDS = 3;
const DAY_FIELDS = 2;
const HOLD_FIELDS = 9;
const BUDGET_FIELDS = 8;
const ENDED_EPOCH = 0;
const ENTRY_FIELDS = 14;
const OPERATION_AT = 10;
export const WINDOW_SLOTS = 61;
const END_OF_SECOND = 999;
const FRACTIONS = 1024;

/** A record that this release cannot read. */
export class UnknownRecord extends Error {
  override readonly name = "UnknownRecord";
}

/** @throws UnknownRecord, UnknownLayout */
export function parseBucket(bytes: Buffer): BucketRecord {
  const [layout, epoch, evictions, documents] = doubles(bytes, BUCKET_FIELDS, "bucket");
  checkLayout(layout ?? 0);
  return {
    layout: layout ?? 0,
    epoch: epoch ?? 0,
    evictions: evictions ?? 0,
    documents: documents ?? 0,
  };
}

/** @throws UnknownRecord */
export function parseWallet(bytes: Buffer): Wallet {
  const earlier = freeEndsAt(bytes, WALLET_FIELDS * BYTES);
  const next = reader(doubles(bytes, WALLET_FIELDS, "wallet"));
  return {
    layout: next(),
    epoch: next(),
    version: next(),
    seq: next(),
    paid: money(next()),
    free: money(next()),
    heldPaid: money(next()),
    heldFree: money(next()),
    owed: money(next()),
    operations: next(),
    freeEnds: { lastMs: next(), earlier },
    freeSinceMs: next(),
    streams: next(),
    calls: next(),
    month: next(),
    spent: money(next()),
    held: money(next()),
    previousSpent: money(next()),
    previousHeld: money(next()),
    usedMs: next(),
  };
}

/** The numbers of an end: its time, `later`, `held`, `lowered` and `countedMs`. */
const END_FIELDS = 5;

/** The ends of free credit before the last one, as free_credit.lua packs them. */
function freeEndsAt(bytes: Buffer, offset: number): HeldFreeEnd[] {
  const length = bytes.length - offset;
  if (length < 0 || length % (END_FIELDS * BYTES) !== 0) {
    throw new UnknownRecord("A wallet has another length");
  }
  return Array.from({ length: length / (END_FIELDS * BYTES) }, (_, index) => {
    const field = (place: number) =>
      bytes.readDoubleLE(offset + (index * END_FIELDS + place) * BYTES);
    return {
      atMs: field(0),
      later: money(field(1)),
      held: money(field(2)),
      lowered: money(field(3)),
      countedMs: field(4),
    };
  });
}

/** @throws UnknownRecord */
export function parseKeyState(bytes: Buffer): KeyState {
  const next = reader(doubles(bytes, KEY_FIELDS, "key state"));
  const state = {
    layout: next(),
    epoch: next(),
    month: next(),
    spent: money(next()),
    held: money(next()),
    previousSpent: money(next()),
    previousHeld: money(next()),
  };
  const times = windowTimes(next(), next());
  const window = { ...times, total: next(), counts: countersAt(bytes, KEY_FIELDS * BYTES) };
  return { ...state, window };
}

/** The record of a limit that is a window. @throws UnknownRecord */
export function parseWindow(bytes: Buffer, slotBytes: SlotBytes = 2): WindowRecord {
  const next = reader(doubles(bytes, WINDOW_FIELDS, "window"));
  const times = windowTimes(next(), next());
  return { ...times, total: next(), counts: countersAt(bytes, WINDOW_FIELDS * BYTES, slotBytes) };
}

/** Splits two numbers, which are a second and a time in it as window.lua has them. */
function windowTimes(last: number, first: number) {
  const [lastSecond, firstSecond] = [Math.floor(last), Math.floor(first)];
  const msOf = (time: number, second: number) => END_OF_SECOND - (time - second) * FRACTIONS;
  return {
    lastSecond,
    lastMs: msOf(last, lastSecond),
    firstSecond,
    firstMs: msOf(first, firstSecond),
  };
}

/** The counts of a window by second; only the seconds that still count at `nowMs`. */
export function countsAt(window: WindowRecord, nowMs: number): Map<number, number> {
  const { firstSecond, firstMs, lastSecond, lastMs, counts } = window;
  const now = Math.max(Math.floor(nowMs / 1_000), lastSecond);
  const known = new Map([[lastSecond, lastMs]]).set(firstSecond, firstMs);
  const valid = new Map<number, number>();
  for (let second = Math.max(firstSecond, now - WINDOW_SLOTS + 1); second <= lastSecond; second++) {
    const ms = known.get(second) ?? END_OF_SECOND;
    const count = counts[second % WINDOW_SLOTS] ?? 0;
    if (count > 0 && nowMs - second * 1_000 - ms < MINUTE_MS) valid.set(second, count);
  }
  return valid;
}

/** The record of a limit of a UTC day, by the number of that day. @throws UnknownRecord */
export function parseDayCount(bytes: Buffer): { readonly day: number; readonly used: number } {
  const [day = 0, used = 0] = doubles(bytes, DAY_FIELDS, "day");
  return { day, used };
}

/** @throws UnknownRecord */
export function parseHold(bytes: Buffer): HoldRecord {
  const next = reader(doubles(bytes, HOLD_FIELDS, "hold"));
  const texts = textAfter(bytes, HOLD_FIELDS).split("\t");
  const [account = "", key = "", metadata = "", budgets = ""] = texts;
  return {
    layout: next(),
    epoch: next(),
    paid: money(next()),
    free: money(next()),
    month: next(),
    isStream: next() === 1,
    checkpoint: money(next()),
    admittedMs: next(),
    deadlineMs: next(),
    account,
    key,
    metadata,
    budgets: budgetRefs(budgets),
  };
}

/** @throws UnknownRecord */
export function parseBudget(bytes: Buffer): BudgetRecord {
  const next = reader(doubles(bytes, BUDGET_FIELDS, "budget"));
  return {
    layout: next(),
    epoch: next(),
    startMs: next(),
    spent: money(next()),
    held: money(next()),
    previousStartMs: next(),
    previousSpent: money(next()),
    previousHeld: money(next()),
  };
}

/** The budgets of an account by their numbers, as HGETALL and HSCAN reply with them. */
export function parseBudgets(flat: readonly Buffer[]): Map<number, BudgetRecord> {
  const records = new Map<number, BudgetRecord>();
  for (let at = 0; at + 1 < flat.length; at += 2) {
    records.set(Number(flat[at]), parseBudget(flat[at + 1] ?? Buffer.alloc(0)));
  }
  return records;
}

/**
 * True for the reply of a settled call, which takes the place of its hold until the process has
 * had it for some time.
 */
export function isEnded(bytes: Buffer): boolean {
  return bytes.length >= HOLD_FIELDS * BYTES && bytes.readDoubleLE(BYTES) === ENDED_EPOCH;
}

/**
 * The types of journal entries. Records store the index of a type: add new types only at the end.
 */
const TYPES: readonly JournalType[] = [
  "call",
  "expired",
  "late",
  "refused",
  "summary",
  "operation",
  "free_expired",
  "repayment",
];

/**
 * Reads an entry of the stream. A record has 0 where `seq`, `month`, `operation` or `kind` is null.
 * @throws UnknownRecord
 */
export function parseEntry(streamId: string, bytes: Buffer): JournalEntry {
  const [epoch = "", number = ""] = streamId.split("-");
  const next = reader(doubles(bytes, ENTRY_FIELDS, "journal entry"));
  const layout = next();
  if (!isKnownLayout(layout)) {
    throw new UnknownRecord(`A journal entry has the layout ${layout}`);
  }
  const type = TYPES[next()];
  if (type === undefined) throw new UnknownRecord("A journal entry has an unknown type");
  const text = textAfter(bytes, ENTRY_FIELDS).split("\t");
  // Only an entry that names budgets has their text.
  const budgets = text.length === 7 ? (text.splice(3, 1)[0] ?? "") : "";
  if (text.length !== 6) throw new UnknownRecord("A journal entry has another number of texts");
  const [account = "", key = "", metadata = "", request = "", kind = "", outcome = ""] = text;
  return {
    epoch: Number(epoch),
    number: Number(number),
    type,
    atMs: next(),
    seq: next() || null,
    paidDelta: money(next()),
    freeDelta: money(next()),
    paidAfter: money(next()),
    freeAfter: money(next()),
    owedAfter: money(next()),
    month: next() || null,
    operation: next() || null,
    held: money(next()),
    writtenOff: money(next()),
    overrun: money(next()),
    kind: operationKindOf(kind),
    account,
    key,
    request,
    metadata,
    outcome,
    budgets: budgetRefs(budgets),
  };
}

function budgetRefs(text: string): readonly BudgetRef[] {
  try {
    return parseBudgetRefs(text);
  } catch (error) {
    if (error instanceof RangeError) throw new UnknownRecord(error.message);
    throw error;
  }
}

/**
 * The operation that an entry applied to this account; null if none. The kind of the operation may
 * be unknown.
 */
export function operationIn(bytes: Buffer, accountId: string): number | null {
  if (bytes.length < ENTRY_FIELDS * BYTES || !isKnownLayout(bytes.readDoubleLE(0))) return null;
  if (!textAfter(bytes, ENTRY_FIELDS).startsWith(`${accountId}\t`)) return null;
  const number = bytes.readDoubleLE(OPERATION_AT * BYTES);
  return Number.isSafeInteger(number) && number > 0 ? number : null;
}

function operationKindOf(text: string): OperationKind | null {
  if (text === "") return null;
  const kind = OPERATION_KINDS.find((name) => name === text);
  if (kind === undefined) throw new UnknownRecord(`'${text}' is no kind of operation`);
  return kind;
}

/** The bytes of a counter in a window: 4 in one that counts tokens. */
type SlotBytes = 2 | 4;

/** The counters of a window, from `offset` to the end of the record. */
function countersAt(bytes: Buffer, offset: number, slotBytes: SlotBytes = 2): number[] {
  if (bytes.length !== offset + slotBytes * WINDOW_SLOTS) {
    throw new UnknownRecord("A window has another length");
  }
  return Array.from({ length: WINDOW_SLOTS }, (_, slot) =>
    bytes.readUIntLE(offset + slotBytes * slot, slotBytes),
  );
}

function doubles(bytes: Buffer, count: number, name: string): number[] {
  if (bytes.length < count * BYTES) throw new UnknownRecord(`A ${name} record is too short`);
  const values: number[] = [];
  for (let index = 0; index < count; index += 1) values.push(bytes.readDoubleLE(index * BYTES));
  return values;
}

function reader(fields: readonly number[]): () => number {
  let at = 0;
  return () => fields[at++] ?? 0;
}

function textAfter(bytes: Buffer, fields: number): string {
  return bytes.toString("utf8", fields * BYTES);
}

/** A whole number of nano-USD; anything else in a record is a fault. */
function money(value: number): NanoUsd {
  if (!Number.isSafeInteger(value)) throw new UnknownRecord(`${value} is no amount`);
  return nanoOf(value);
}
