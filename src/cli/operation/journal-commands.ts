// Lists rejected journal entries, tries them again, and sets entries aside that can never be
// written.

import { operationIn } from "../../../actors/records/records.ts";
import { retryAll } from "../../operator/queues.ts";
import {
  type EntryPlace,
  type MoneyOfEntry,
  type OpenRejection,
  RejectedEntries,
} from "../../store/ledger/rejected-entries.ts";
import type { RetryResult } from "../../store/ledger/rejection-retry.ts";
import { type Answer, type Command, UsageError } from "../command.ts";
import { table, utc } from "../print.ts";
import type { Stores } from "../stores.ts";
import { reasonOf } from "../values.ts";

const rejectedCommand: Command = {
  name: "journal rejected",
  positionals: [],
  summary: "List rejected journal entries; with --retry, write them again",
  options: { retry: { value: null, help: "write the entries that fit the ledger by now" } },
  prepare: (input) => (stores) => (input.values.has("retry") ? retry(stores) : list(stores)),
};

const setAsideCommand: Command = {
  name: "journal set-aside",
  positionals: ["BUCKET", "ENTRY"],
  summary: "Give up writing a rejected entry that can never be written, such as 17 2-305",
  options: { reason: { value: "TEXT", help: "the reason, which is recorded", required: true } },
  prepare(input) {
    const [bucket = "", entry = ""] = input.positionals;
    const place = placeOf(bucket, entry);
    const reason = reasonOf(input, "reason");
    return async ({ database }) => {
      const money = await new RejectedEntries(database).setAside(place, reason, operationIn);
      const text = `Entry ${entry} of bucket ${bucket}: set aside.${MONEY_TEXTS[money]}`;
      return { json: { ...place, reason, money: money.replace(" ", "_") }, text };
    };
  },
};

const MONEY_TEXTS: Readonly<Record<MoneyOfEntry, string>> = {
  counted: " The account's balance includes it: do not book it again.",
  "not counted":
    " No balance includes it. If it should count, book it by 'farebox account adjust'.",
  none: "",
  unknown: " It cannot be read, so whether a balance includes it is not known: run the audit.",
};

function placeOf(bucket: string, name: string): EntryPlace {
  const [, epoch, entry] = /^(\d{1,15})-(\d{1,15})$/.exec(name) ?? [];
  if (!/^\d{1,4}$/.test(bucket)) throw new UsageError(`BUCKET must be a number, not '${bucket}'`);
  if (epoch === undefined || entry === undefined) {
    throw new UsageError(`ENTRY must be an epoch and a number, such as 2-305, not '${name}'`);
  }
  return { bucket: Number(bucket), epoch: Number(epoch), entry: Number(entry) };
}

async function list({ database }: Stores): Promise<Answer> {
  const open = await new RejectedEntries(database).openRejections();
  const text = open.length === 0 ? "There are no rejected journal entries." : tableOf(open);
  return { json: { open: open.map(toJson) }, text };
}

async function retry({ database }: Stores): Promise<Answer> {
  const results = await retryAll(database);
  const open = results.flatMap(({ rejection, reason }) => {
    return reason === null ? [] : [{ ...rejection, reason }];
  });
  const resolved = results.length - open.length;
  const json = { resolved: results.filter(isResolved).map(toResolved), open: open.map(toJson) };
  const summary = `${resolved} of ${results.length} rejected entries were written.`;
  const text = open.length === 0 ? summary : `${summary} Still rejected:\n\n${tableOf(open)}`;
  return { json, text, failed: open.length > 0 };
}

function isResolved({ reason }: RetryResult): boolean {
  return reason === null;
}

function toResolved({ rejection }: RetryResult) {
  const { bucket, epoch, entry, account, seq } = rejection;
  return { bucket, epoch, entry, account, seq };
}

function toJson(rejection: OpenRejection) {
  const { bucket, epoch, entry, account, seq, reason, ledgerWritten, rejectedAt } = rejection;
  return {
    bucket,
    epoch,
    entry,
    account,
    seq,
    reason,
    ledger_written: ledgerWritten,
    rejected_at: rejectedAt,
  };
}

function tableOf(open: readonly OpenRejection[]): string {
  const rows = open.map((rejection) => [
    `${rejection.bucket}`,
    `${rejection.epoch}-${rejection.entry}`,
    rejection.account ?? "unknown",
    rejection.seq === null ? "" : `${rejection.seq}`,
    missingOf(rejection),
    utc(rejection.rejectedAt),
    rejection.reason,
  ]);
  return table([["bucket", "entry", "account", "seq", "missing", "since", "reason"], ...rows]);
}

function missingOf({ seq, account, ledgerWritten }: OpenRejection): string {
  if (account === null) return "unknown";
  return seq === null || ledgerWritten ? "log row" : "ledger and log row";
}

export const journalCommands: readonly Command[] = [rejectedCommand, setAsideCommand];
