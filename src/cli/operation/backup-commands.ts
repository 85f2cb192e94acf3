// `farebox backup` copies Postgres as of one instant. `farebox backup check` proves that a copy and
// the running installation can be trusted.

import { resolve } from "node:path";
import project from "../../../package.json";
import { type NanoUsd, toDecimal } from "../../core/money/money.ts";
import { counted } from "../../core/text/counted.ts";
import { auditPayments } from "../../payments/provider-audit.ts";
import { loadPaymentConfig } from "../../settings/config.ts";
import { readBackup } from "../../store/backup/backup.ts";
import { readMigrations } from "../../store/backup/backup-tables.ts";
import type { Answer, Command } from "../command.ts";
import { paymentsRead } from "../payments/top-up-commands.ts";
import { utc } from "../print.ts";
import type { Stores } from "../stores.ts";
import { auditEverything } from "./audit-command.ts";
import {
  type BackupManifest,
  damagesOf,
  makeBackupFolder,
  readManifest,
  type TableFile,
  writeManifest,
  writeTableFile,
} from "./backup-folder.ts";

const backup: Command = {
  name: "backup",
  positionals: ["FOLDER"],
  summary: "Copy Postgres as of one instant into a new folder, with a manifest",
  options: {},
  prepare({ positionals }) {
    const folder = resolve(positionals[0] ?? "");
    return async (stores) => {
      const manifest = await writeBackup(folder, stores);
      const { at, accounts, ledger_entries: entries } = manifest;
      const owners = counted(accounts, "account");
      const booked = counted(entries, "ledger entry", "ledger entries");
      const text = `Wrote ${owners} and ${booked} as of ${utc(new Date(at))}.`;
      return { json: { folder, ...summaryOf(manifest) }, text: `${text}\n${REMINDER}` };
    };
  },
};

const REMINDER =
  "Keep KEY_PEPPER and the configuration apart from it. Redis needs no copy: see docs/backup.md.";

/**
 * Entries that are flushed now are in the backup. Entries that cannot be flushed stay in the
 * journal.
 */
export async function flushFirst({ flush, warn }: Stores): Promise<void> {
  try {
    for (const { bucket, reason } of await flush()) {
      warn(`Bucket ${bucket} could not be moved to Postgres first: ${reason}`);
    }
  } catch {
    warn("The journal could not be moved to Postgres first: the latest charges are not in it.");
  }
}

/** Writes a backup into a new folder. */
export async function writeBackup(folder: string, stores: Stores): Promise<BackupManifest> {
  await makeBackupFolder(folder);
  await flushFirst(stores);
  return await copyTo(folder, stores);
}

async function copyTo(folder: string, { database }: Stores): Promise<BackupManifest> {
  const migrations = await readMigrations(database);
  const tables: Record<string, TableFile> = {};
  const facts = await readBackup(database, async (table, rows) => {
    tables[table.name] = await writeTableFile(folder, table, rows);
  });
  const manifest = {
    at: facts.at.toISOString(),
    release: project.version,
    postgres: facts.postgres,
    migrations,
    cursors: facts.cursors.map(({ bucket, epoch, entry }) => ({ bucket, epoch, entry })),
    log_months: [...facts.logMonths],
    accounts: facts.accounts,
    ledger_entries: facts.ledgerEntries,
    balance_usd: toDecimal(facts.balance as NanoUsd),
    tables,
  };
  await writeManifest(folder, manifest);
  return { format: 1, ...manifest };
}

function summaryOf({ at, release, accounts, ledger_entries, balance_usd }: BackupManifest) {
  return { at, release, accounts, ledger_entries, balance_usd };
}

const check: Command = {
  name: "backup check",
  positionals: ["[FOLDER]"],
  summary: "Prove a backup's files; without a folder, prove what the next backup would hold",
  options: {},
  prepare({ positionals }) {
    const [folder] = positionals;
    return folder === undefined ? checkStores : () => checkFolder(resolve(folder));
  },
};

/** Checks the files of a backup. */
export async function checkFolder(folder: string): Promise<Answer> {
  const manifest = await readManifest(folder);
  const problems = await damagesOf(folder, manifest);
  const tables = Object.keys(manifest.tables).length;
  const sound = `All ${tables} files are as they were written at ${utc(new Date(manifest.at))}.`;
  return answerOf({ folder, ...summaryOf(manifest) }, problems, sound);
}

/**
 * Checks that ledger, journal, wallets and payment provider agree, and that no cursor is ahead of
 * Redis.
 */
export async function checkStores(stores: Stores): Promise<Answer> {
  const { report, problems } = await auditEverything(stores);
  const isSold = loadPaymentConfig(stores.environment) !== null;
  const payments = isSold ? await auditPayments(paymentsRead(stores)) : null;
  const differences = (payments?.findings ?? []).map(
    ({ ref, expected, found }) => `${ref}: the provider has ${expected}, the ledger has ${found}`,
  );
  const sound =
    `The balances of ${counted(report.accounts, "account")} follow from the ledger, and its ` +
    (payments === null
      ? "cursors from the journal. No payment provider is configured."
      : `cursors from the journal; ${payments.compared} payments of the provider are booked.`);
  const facts = { accounts: report.accounts, payments: payments?.compared ?? null };
  return answerOf(facts, [...problems, ...differences], sound);
}

function answerOf(facts: object, problems: readonly string[], sound: string): Answer {
  const ok = problems.length === 0;
  const text = ok ? sound : problems.map((problem) => `Problem: ${problem}`).join("\n");
  return { json: { ok, ...facts, problems }, text, failed: !ok };
}

export const backupCommands: readonly Command[] = [check, backup];
