// Packs journal entries and bucket records as the scripts do, so that a test can write any journal.

import { LAYOUT_MAX } from "../../../actors/records/layouts.ts";
import { budgetRefsText } from "../../../src/core/access/budgets.ts";
import type { JournalEntry, JournalType } from "../../../src/core/journal/journal.ts";

/** The numbers of the types in the record. */
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

/** The packed fields of an entry. The epoch and the number are in the id of the stream. */
export type EntryFields = Omit<JournalEntry, "epoch" | "number">;

/** An entry's content in the stream. */
export function encodeEntry(entry: EntryFields): Buffer {
  const numbers = [
    LAYOUT_MAX,
    TYPES.indexOf(entry.type),
    entry.atMs,
    entry.seq ?? 0,
    Number(entry.paidDelta),
    Number(entry.freeDelta),
    Number(entry.paidAfter),
    Number(entry.freeAfter),
    Number(entry.owedAfter),
    entry.month ?? 0,
    entry.operation ?? 0,
    Number(entry.held),
    Number(entry.writtenOff),
    Number(entry.overrun),
  ];
  const { account, key, metadata, request, kind, outcome } = entry;
  const budgets = entry.budgets.length === 0 ? [] : [budgetRefsText(entry.budgets)];
  const of = [account, key, metadata, ...budgets];
  const texts = [...of, request, kind ?? "", outcome].join("\t");
  return Buffer.concat([doubles(numbers), Buffer.from(texts)]);
}

/** The record of a bucket in this epoch. */
export function encodeBucket(epoch: number): Buffer {
  return doubles([LAYOUT_MAX, epoch, 0, 0]);
}

function doubles(numbers: readonly number[]): Buffer {
  const bytes = Buffer.alloc(8 * numbers.length);
  for (const [index, number] of numbers.entries()) bytes.writeDoubleLE(number, 8 * index);
  return bytes;
}
