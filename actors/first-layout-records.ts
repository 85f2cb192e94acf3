// Reads what the first layout stored as text: journal entries, holds and counters. This file can be
// removed once no installation uses that layout.

import type { JournalEntry, JournalType } from "../src/core/journal.ts";
import { metadataText, outcomeText } from "../src/core/journal.ts";
import { REFUSED_ROWS_PER_MINUTE } from "../src/core/limits.ts";
import { min, type NanoUsd, nano, ZERO } from "../src/core/money.ts";
import { HOLD_EXPIRED_OUTCOME } from "./hold-expired.ts";
import type { StreamEntry } from "./journal.ts";

/** Number of tab-separated fields of an entry. */
const ENTRY_FIELDS = 17;
const HOLD = /^(\d+) (\d+) (\d+) (\d) (\d+) (\d+) (\S+) (.*)$/s;
const MINUTE_MS = 60_000;

/** The entry types of the first layout. A credit is an operation now. */
const TYPES: Readonly<Record<string, JournalType>> = {
  call: "call",
  expired: "expired",
  late: "late",
  refused: "refused",
  summary: "summary",
  credit: "operation",
  free_expired: "free_expired",
};

export interface FirstLayoutHold {
  readonly request: string;
  readonly paid: NanoUsd;
  readonly free: NanoUsd;
  readonly month: number;
  readonly isStream: boolean;
  readonly checkpoint: NanoUsd;
  readonly admittedMs: number;
  readonly key: string;
  /** CallMetadata in the form of `metadataText`. */
  readonly metadata: string;
}

/** The parts of a wallet that change when its holds end. Balances are what is available. */
export interface FirstLayoutWallet {
  readonly account: string;
  readonly seq: number;
  readonly paid: NanoUsd;
  readonly free: NanoUsd;
  readonly heldPaid: NanoUsd;
  readonly heldFree: NanoUsd;
  readonly freeSinceMs: number;
}

/**
 * An entry of the old stream. Entries were numbered 1, 2, 3 … over all epochs; journals count from
 * 0 now, so one is subtracted. An entry without a number of its own gets `position`.
 */
export function readFirstLayoutEntry(
  content: Buffer,
  { epoch, position }: { readonly epoch: number; readonly position: number },
): StreamEntry {
  const fields = content.toString("utf8").split("\t");
  const own = /^\d+$/.test(fields[0] ?? "") ? Number(fields[0]) - 1 : position;
  try {
    return { number: own, content, entry: parseEntry(fields, epoch), fault: null };
  } catch (error) {
    // An unreadable entry is rejected with its content: it must not block the entries after it.
    const fault = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return { number: own, content, entry: null, fault };
  }
}

/** @throws RangeError, SyntaxError */
function parseEntry(fields: readonly string[], epoch: number): JournalEntry {
  if (fields.length !== ENTRY_FIELDS) {
    throw new RangeError(`A journal entry of the first layout has ${fields.length} fields`);
  }
  const value = (index: number) => fields[index] ?? "";
  const optional = (index: number) => (value(index) === "" ? null : Number(value(index)));
  const type = TYPES[value(1)];
  if (type === undefined) throw new RangeError(`'${value(1)}' is no type of a journal entry`);
  return {
    epoch,
    number: Number(value(0)) - 1,
    type,
    account: value(2),
    key: value(3),
    request: value(4),
    atMs: Number(value(5)),
    metadata: value(6) === "" ? "" : metadataOf(value(6)),
    outcome: outcomeOf(type, value(7)),
    seq: optional(8),
    kind: type === "operation" ? "credit" : null,
    paidDelta: nano(value(9)),
    freeDelta: nano(value(10)),
    paidAfter: nano(value(11)),
    freeAfter: nano(value(12)),
    owedAfter: ZERO,
    month: optional(13),
    operation: optional(14),
    held: null,
    writtenOff: nano(value(15)),
    overrun: nano(value(16)),
  };
}

/** In the first layout, metadata was an object with the same names, without a price version. */
function metadataOf(facts: string): string {
  return metadataText({ ...JSON.parse(facts), priceVersion: null });
}

function outcomeOf(type: JournalType, text: string): string {
  const isCall = type === "call" || type === "expired" || type === "late";
  return isCall ? outcomeText(JSON.parse(text)) : text;
}

/** Null for a record that cannot be read. */
export function parseFirstLayoutHold(request: string, record: string): FirstLayoutHold | null {
  const [, paid = "", free = "", month, stream, checkpoint = "", admitted, key = "", facts = ""] =
    HOLD.exec(record) ?? [];
  if (paid === "") return null;
  return {
    request,
    paid: nano(paid),
    free: nano(free),
    month: Number(month),
    isStream: stream === "1",
    checkpoint: nano(checkpoint),
    admittedMs: Number(admitted),
    key,
    metadata: metadataOf(facts),
  };
}

type EntryFields = Omit<JournalEntry, "epoch" | "number">;

const NO_MONEY = {
  seq: null,
  kind: null,
  paidDelta: ZERO,
  freeDelta: ZERO,
  paidAfter: ZERO,
  freeAfter: ZERO,
  owedAfter: ZERO,
  month: null,
  operation: null,
  held: ZERO,
  writtenOff: ZERO,
  overrun: ZERO,
} as const;

/**
 * The entries that end the holds of dead processes: each is settled to its checkpoint, as the sweep
 * of the first layout did. Free credit that ended while it was held expires.
 */
export function endingsOf(
  wallet: FirstLayoutWallet,
  holds: readonly FirstLayoutHold[],
): EntryFields[] {
  const { account, freeSinceMs } = wallet;
  // Owned balances include held amounts, so returning a hold does not change them.
  let paidAfter: bigint = wallet.paid + wallet.heldPaid;
  let freeAfter: bigint = wallet.free + wallet.heldFree;
  let seq = wallet.seq;
  const entries: EntryFields[] = [];
  const balances = () => ({ paidAfter: nano(paidAfter), freeAfter: nano(freeAfter) });
  for (const hold of holds) {
    const held = nano(hold.paid + hold.free);
    const charged = min(hold.checkpoint, held);
    const chargedFree = min(charged, hold.free);
    freeAfter -= chargedFree;
    paidAfter -= charged - chargedFree;
    entries.push({
      ...NO_MONEY,
      type: "expired",
      account,
      key: hold.key,
      request: hold.request,
      atMs: hold.admittedMs,
      metadata: hold.metadata,
      outcome: HOLD_EXPIRED_OUTCOME,
      seq: charged > 0n ? ++seq : null,
      paidDelta: negative(charged - chargedFree),
      freeDelta: negative(chargedFree),
      ...balances(),
      month: hold.month,
      held,
      overrun: nano(hold.checkpoint - charged),
    });
    const lapsed = hold.admittedMs < freeSinceMs ? hold.free - chargedFree : 0n;
    if (lapsed === 0n) continue;
    freeAfter -= lapsed;
    entries.push({
      ...NO_MONEY,
      type: "free_expired",
      account,
      key: "",
      request: "",
      atMs: freeSinceMs,
      metadata: "",
      outcome: "",
      seq: ++seq,
      freeDelta: negative(lapsed),
      ...balances(),
    });
  }
  return entries;
}

function negative(amount: bigint): NanoUsd {
  return nano(-amount);
}

/** The summary rows of a bucket's counters of refused requests, including the current minute's. */
export function summariesOf(counters: Readonly<Record<string, string>>): EntryFields[] {
  return Object.keys(counters)
    .sort()
    .flatMap((field) => {
      const [account = "", key = "", minute, suffix] = field.split("|");
      const more = Number(counters[field]) - REFUSED_ROWS_PER_MINUTE;
      if (suffix !== undefined || !(more > 0)) return [];
      return [
        {
          ...NO_MONEY,
          type: "summary" as const,
          account,
          key,
          request: "",
          atMs: Number(minute) * MINUTE_MS,
          metadata: metadataOf(counters[`${field}|facts`] ?? "{}"),
          outcome: String(more),
        },
      ];
    });
}

/** Turns entries made here into stream entries that the ledger accepts, numbered from `first`. */
export function asStreamEntries(
  entries: readonly EntryFields[],
  { epoch, first }: { readonly epoch: number; readonly first: number },
): StreamEntry[] {
  return entries.map((fields, index) => {
    const entry = { ...fields, epoch, number: first + index };
    const content = Buffer.from(`${entry.type}\t${entry.account}\t${entry.request}`);
    return { number: entry.number, content, entry, fault: null };
  });
}

/**
 * Converts a stored reply of a request to the format of records.lua; null for one that no client
 * will request again. What the sweep took is in Postgres by then, so it counts under the new epoch
 * too.
 */
export function answerOf(
  text: string,
  { epoch, newEpoch }: { readonly epoch: number; readonly newEpoch: number },
): readonly [letter: "D" | "X", ...numbers: readonly number[]] | null {
  const [verdict, ...words] = text.split(" ");
  // Empty if no wallet knew what was left to spend.
  const numbers = words.map((word) => (word === "" ? -1 : Number(word)));
  if (verdict === "done") return ["D", numbers[0] ?? 0, numbers[1] ?? 0, numbers[2] ?? -1];
  const isInForce = verdict === "expired" && numbers[5] === epoch;
  return isInForce ? ["X", ...numbers.slice(0, 5), newEpoch] : null;
}
