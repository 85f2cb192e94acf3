// Shows the journal entries that Postgres refused and that are not resolved yet.

import {
  integer,
  jsonFrom,
  listOf,
  nested,
  nullable,
  text,
  time,
  type WireOf,
  word,
} from "../core/records.ts";
import { type OpenRejection, RejectedEntries } from "../store/ledger/rejected-entries.ts";
import type { Database } from "../store/servers/database.ts";

const RejectedEntry = {
  bucket: integer({ sample: 17 }),
  entry: text({ about: "The epoch and the number of the entry", sample: "1-4711" }),
  account: nullable(text({ sample: "acct_7n42DGM5Tflk9n8mt7Fhc7" })),
  seq: nullable(integer({ about: "Its number in the account's ledger", sample: 12 })),
  missing: word(["ledger and log row", "log row", "unknown"], { sample: "ledger and log row" }),
  reason: text({ sample: "23514 ledger_never_negative" }),
  rejected_at: time({ sample: "2026-11-22T13:00:00.000Z" }),
};

export const Rejected = { entries: listOf(nested(RejectedEntry)) };
export type RejectedReply = WireOf<typeof Rejected>;

const toJson = jsonFrom(RejectedEntry);

export async function rejectedReply(database: Database): Promise<RejectedReply> {
  const open = await new RejectedEntries(database).openRejections();
  return { entries: open.map(entryJson) };
}

function entryJson(one: OpenRejection): RejectedReply["entries"][number] {
  const { account, epoch, entry, seq, ledgerWritten } = one;
  const lacksBoth = seq !== null && !ledgerWritten;
  const missing = account === null ? "unknown" : lacksBoth ? "ledger and log row" : "log row";
  return toJson({ ...one, entry: `${epoch}-${entry}`, missing });
}
