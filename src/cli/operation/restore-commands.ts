// `farebox restore` puts Postgres back to a backup, or completes a restore of Postgres by other
// means. The command empties Redis, and books the payments of the provider again.

import { resolve } from "node:path";
import { runningProcesses } from "../../../actors/layout-upgrade.ts";
import {
  emptyRedis,
  epochsInRedis,
  lostInJournal,
  type WalletAhead,
  walletsAhead,
} from "../../accounts/restore-redis.ts";
import { AdministrationError } from "../../core/errors.ts";
import { counted } from "../../core/text/counted.ts";
import { type RereadPayment, rereadPayments } from "../../payments/reread-payments.ts";
import { loadPaymentConfig, loadQueueRedisUrl } from "../../settings/config.ts";
import { readMigrations } from "../../store/backup/backup-tables.ts";
import { type LostSpan, NOTHING_LOST, readLostSpan } from "../../store/backup/lost-span.ts";
import { lastOperations, type RestoredRows, restorePostgres } from "../../store/backup/restore.ts";
import { migrate } from "../../store/servers/migrate.ts";
import { openRedis } from "../../store/servers/redis.ts";
import { WrongSecret } from "../../store/servers/secrets.ts";
import { RowsRefused } from "../../store/tables/copy.ts";
import { type Answer, type Command, UsageError } from "../command.ts";
import { paymentsOf } from "../payments/top-up-commands.ts";
import { utc } from "../print.ts";
import type { Stores } from "../stores.ts";
import { auditEverything } from "./audit-command.ts";
import { flushFirst } from "./backup-commands.ts";
import { type BackupManifest, damagesOf, readManifest, readTableFile } from "./backup-folder.ts";
import { lostJson, lostText, rereadText } from "./restore-print.ts";

const restore: Command = {
  name: "restore",
  // A restored database may have only the fingerprints of earlier secrets.
  comparesSecrets: false,
  positionals: ["[FOLDER]"],
  summary: "Put Postgres back to a backup and empty Redis; without a folder, after Postgres alone",
  options: {
    "dry-run": { value: null, help: "only says what would be lost" },
    yes: { value: null, help: "does it: all processes must be stopped" },
  },
  prepare({ positionals, values }) {
    const [given] = positionals;
    const folder = given === undefined ? null : resolve(given);
    const isDry = values.has("dry-run");
    if (isDry === values.has("yes")) {
      throw new UsageError("'restore' needs either --dry-run, to see what is lost, or --yes");
    }
    return (stores) => (isDry ? dryRun(stores, folder) : run(stores, folder));
  },
};

interface Source {
  readonly manifest: BackupManifest;
  readonly rows: RestoredRows;
}

interface Losses {
  readonly lost: LostSpan;
  readonly ahead: readonly WalletAhead[];
}

async function dryRun(stores: Stores, folder: string | null): Promise<Answer> {
  const source = folder === null ? null : await openSource(stores, folder);
  const losses = await lossesOf(stores, source);
  const processes = await processesOf(stores);
  const running =
    processes.length === 0 ? "" : `\n\nStill running, stop first: ${processes.join(", ")}`;
  return {
    json: { dry_run: true, ...momentOf(source), processes, ...jsonOf(losses) },
    text: `${headOf(source)}\n\n${lossesText(losses)}${running}\n\nNothing was changed.`,
  };
}

async function processesOf({ actors }: Stores): Promise<string[]> {
  return (await runningProcesses(actors.deps.redis)).map(({ id }) => id);
}

async function run(stores: Stores, folder: string | null): Promise<Answer> {
  const { actors, database } = stores;
  const { redis } = actors.deps;
  const processes = await processesOf(stores);
  if (processes.length > 0) {
    throw new AdministrationError(
      "wrong_state",
      `These processes run: ${processes.join(", ")}. Stop them, or wait a minute after they were ` +
        "killed, and try again.",
    );
  }
  const source = folder === null ? null : await openSource(stores, folder);
  const losses = await lossesOf(stores, source);
  // The losses are printed before anything changes: no later run can find them, and this run may be
  // interrupted.
  stores.warn(`${FIRST}\n\n${headOf(source)}\n\n${lossesText(losses)}\n`);
  try {
    await restorePostgres(database, {
      rows: source?.rows ?? null,
      revokedKeys: losses.lost.revokedKeys.map(({ id }) => id),
      epochs: await epochsInRedis(redis),
      emptyRedis: () => emptyBoth(stores),
    });
  } catch (error) {
    if (!(error instanceof RowsRefused)) throw error;
    throw new AdministrationError("wrong_state", error.message);
  }
  try {
    const isSold = loadPaymentConfig(stores.environment) !== null;
    const reread = isSold ? await rereadPayments(await paymentsOf(stores)) : null;
    const { report, problems } = await auditEverything(stores);
    const all = [...(await secretProblems(stores)), ...problems];
    return doneAnswer({ source, losses, reread, problems: all, accounts: report.accounts });
  } catch (error) {
    stores.warn(UNFINISHED);
    throw error;
  }
}

const FIRST = "If this command ends before it says that it is done, keep this:";

const UNFINISHED =
  "Keep the list above. The rows are put back and Redis is empty, but payments were not read " +
  "again and audited: run farebox restore --yes without a folder before you start a process.";

/**
 * A backup has fingerprints of secrets: with other secrets no process would start after the
 * restore.
 */
async function secretProblems(stores: Stores): Promise<string[]> {
  try {
    await stores.compareSecrets();
    return [];
  } catch (error) {
    if (!(error instanceof WrongSecret)) throw error;
    return [error.message];
  }
}

interface Done {
  readonly source: Source | null;
  readonly losses: Losses;
  readonly reread: readonly RereadPayment[] | null;
  readonly problems: readonly string[];
  readonly accounts: number;
}

function doneAnswer({ source, losses, reread, problems, accounts }: Done): Answer {
  const isUnknown = reread?.some(({ result }) => result === "unknown") === true;
  const json = {
    ok: problems.length === 0 && !isUnknown,
    ...momentOf(source),
    ...jsonOf(losses),
    payments: reread,
    problems,
  };
  const audited =
    problems.length === 0
      ? `The audit of ${counted(accounts, "account")} is clean. Start the processes.`
      : problems.map((problem) => `Problem: ${problem}`).join("\n");
  const parts = [
    headOf(source),
    lossesText(losses),
    reread === null
      ? "No payment provider is configured: nothing was read again."
      : rereadText(reread),
    audited,
  ].filter((part) => part !== null);
  return { json, text: parts.join("\n\n"), failed: !json.ok };
}

/** Checks that the backup is whole and fits the database. An empty database is migrated. */
async function openSource({ database, databaseUrl }: Stores, folder: string): Promise<Source> {
  const manifest = await readManifest(folder);
  const [damage] = await damagesOf(folder, manifest);
  if (damage !== undefined) throw new AdministrationError("wrong_state", `${folder}: ${damage}`);
  if ((await readMigrations(database)).length === 0) await migrate(databaseUrl);
  const present = await readMigrations(database);
  if (present.join() !== manifest.migrations.join()) {
    throw new AdministrationError(
      "wrong_state",
      `The backup was made by release ${manifest.release} with ${manifest.migrations.length} ` +
        `migrations, and this database has ${present.length}: restore it with the release that ` +
        "made it into a new database, then run farebox migrate of this one",
    );
  }
  const tables = Object.entries(manifest.tables).map(([name, { columns }]) => ({ name, columns }));
  const rowsOf = (table: string) => readTableFile(folder, table);
  return { manifest, rows: { tables, months: manifest.log_months, rowsOf } };
}

async function lossesOf(stores: Stores, source: Source | null): Promise<Losses> {
  const { actors, database } = stores;
  const { redis } = actors.deps;
  if (source === null) {
    // Postgres is restored already: only Redis still has the time after the backup.
    const last = await lastOperations(database);
    const ahead = await walletsAhead(redis, { last, lost: await lostInJournal(redis, database) });
    return { lost: NOTHING_LOST, ahead };
  }
  await flushFirst(stores);
  // The database may be a new one: then only Redis has the time after the backup.
  const applied = await lostInJournal(redis, database);
  const { span, known } = await readLostSpan(database, source.rows, applied);
  return { lost: span, ahead: await walletsAhead(redis, known) };
}

/**
 * Empties Redis and the queue. Jobs of the queue name rows that may be gone; the completers make
 * the needed jobs again. The queue is emptied first: if its Redis is away, the other Redis still
 * shows which rows Postgres has lost.
 */
async function emptyBoth({ actors, redisUrl, environment }: Stores): Promise<void> {
  const queueUrl = loadQueueRedisUrl(environment) ?? redisUrl;
  if (queueUrl !== redisUrl) await emptyQueue(queueUrl);
  await emptyRedis(actors.deps.redis);
}

async function emptyQueue(url: string): Promise<void> {
  const queue = openRedis(url);
  queue.on("error", () => {});
  try {
    await emptyRedis(queue);
  } finally {
    queue.disconnect();
  }
}

function headOf(source: Source | null): string {
  if (source === null) return "Postgres as it is now, compared with Redis.";
  return `The backup of ${utc(new Date(source.manifest.at))}, compared with Postgres now.`;
}

function momentOf(source: Source | null): { readonly at: string | null } {
  return { at: source?.manifest.at ?? null };
}

function jsonOf({ lost, ahead }: Losses): Record<string, unknown> {
  return { lost: lostJson(lost, ahead) };
}

function lossesText({ lost, ahead }: Losses): string {
  return lostText(lost, ahead);
}

export const restoreCommands: readonly Command[] = [restore];
