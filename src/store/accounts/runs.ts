// Begins runs with their first call, and changes them. A change raises the version of the access
// document, with which every process forgets the runs that it knows (D-788).

import { and, asc, count, desc, eq, gt, inArray, isNotNull, isNull, lt, sql } from "drizzle-orm";
import { OPEN_RUNS_MAX, RUN_NAME, type Run } from "../../core/access/runs.ts";
import { SECOND_MS } from "../../core/durations.ts";
import { type NanoUsd, nano } from "../../core/money/money.ts";
import { lockAccount, raiseVersion } from "../ledger/operations.ts";
import type { Database } from "../servers/database.ts";
import { deleteInParts } from "../servers/delete-in-parts.ts";
import type { Queries } from "../servers/transaction.ts";
import { accounts, keys, runs } from "../tables/account-schema.ts";
import { accountNumber, findAccountNumber } from "./account-number.ts";
import { type AlsoInTransaction, refuseClosed } from "./accounts.ts";

/** A run that begins with a call. */
export interface NewRun {
  readonly id: string;
  readonly keyId: string;
  readonly amount: NanoUsd;
  readonly seconds: number;
  readonly nowMs: number;
}

/** A change of a run; fields that are left out stay. */
export interface RunChange {
  readonly isPaused?: boolean | undefined;
  readonly amount?: NanoUsd | undefined;
  /** The time of the run from now on, in seconds. */
  readonly seconds?: number | undefined;
}

/** A run with the figures that people see. */
export interface RunRow extends Run {
  readonly createdAt: Date;
  readonly endsAt: Date;
  readonly pausedAt: Date | null;
  /** When Redis forgot the run, after the end of the run. */
  readonly forgottenAt: Date | null;
  /** The charges of the calls of the run, as far as the ledger has them. */
  readonly loggedSpent: NanoUsd;
  /** The id and the name of the key of its first call. */
  readonly keyId: string;
  readonly keyName: string;
}

/** An ended run would go on, and the account has as many open runs as it may have. */
export class TooManyRuns extends Error {
  override readonly name = "TooManyRuns";
}

const COLUMNS = {
  number: runs.number,
  id: runs.id,
  amount: runs.amount,
  createdAt: runs.createdAt,
  endsAt: runs.endsAt,
  pausedAt: runs.pausedAt,
  forgottenAt: runs.forgottenAt,
  loggedSpent: sql<string>`coalesce((SELECT sum(spent) FROM budget_spend
    WHERE account = ${runs.account} AND budget = ${runs.number}), 0)::text`,
  keyId: keys.id,
  keyName: keys.name,
} as const;

/**
 * A run of an account by its id; null if the account has no such run, as for a text that is no id.
 */
export async function findRun(tx: Queries, account: number, id: string): Promise<RunRow | null> {
  if (!RUN_NAME.test(id)) return null;
  const [row] = await tx
    .select(COLUMNS)
    .from(runs)
    .innerJoin(keys, eq(keys.number, runs.key))
    .where(and(eq(runs.account, account), eq(runs.id, id)));
  return row === undefined ? null : rowOf(row);
}

interface StoredRun extends Omit<RunRow, "amount" | "loggedSpent" | "endsAtMs" | "isPaused"> {
  readonly amount: bigint;
  readonly loggedSpent: string;
}

function rowOf(row: StoredRun): RunRow {
  const { amount, loggedSpent, endsAt, pausedAt } = row;
  return {
    ...row,
    amount: nano(amount),
    loggedSpent: nano(loggedSpent),
    endsAtMs: endsAt.getTime(),
    isPaused: pausedAt !== null,
  };
}

/** At most `count` runs of an account with lower numbers than `before`, the newest first. */
export async function listRuns(
  { db }: Database,
  account: number,
  { before, count: limit }: { readonly before: number | null; readonly count: number },
): Promise<readonly RunRow[]> {
  const isOlder = before === null ? undefined : lt(runs.number, before);
  const rows = await db
    .select(COLUMNS)
    .from(runs)
    .innerJoin(keys, eq(keys.number, runs.key))
    .where(and(eq(runs.account, account), isOlder))
    .orderBy(desc(runs.number))
    .limit(limit);
  return rows.map(rowOf);
}

/** A run of an account by its id; null if the account has no such run. */
export async function readRun(
  { db }: Database,
  accountId: string,
  id: string,
): Promise<Run | null> {
  const account = await findAccountNumber(db, accountId);
  return account === null ? null : await findRun(db, account, id);
}

/**
 * Begins a run. Of several calls that begin it at once, the first sets its terms. Null if the
 * account has as many open runs as it may have.
 */
export async function beginRun(
  { db }: Database,
  accountId: string,
  { id, keyId, amount, seconds, nowMs }: NewRun,
): Promise<Run | null> {
  return await db.transaction(async (tx) => {
    const account = await accountNumber(tx, accountId);
    await lockAccount(tx, account);
    const present = await findRun(tx, account, id);
    if (present !== null) return present;
    if (await hasTooMany(tx, account, nowMs)) return null;
    const [key] = await tx.select({ number: keys.number }).from(keys).where(eq(keys.id, keyId));
    if (key === undefined) throw new Error(`There is no key ${keyId}`);
    const [createdAt, endsAt] = [new Date(nowMs), endOf(nowMs, seconds)];
    await tx.insert(runs).values({ account, id, key: key.number, amount, createdAt, endsAt });
    const begun = await findRun(tx, account, id);
    if (begun === null) throw new Error(`The run ${id} was not stored`);
    return begun;
  });
}

/** True if the account has as many open runs as it may have. */
export async function hasOpenRunsMax(
  { db }: Database,
  accountId: string,
  nowMs: number,
): Promise<boolean> {
  const account = await findAccountNumber(db, accountId);
  return account !== null && (await hasTooMany(db, account, nowMs));
}

async function hasTooMany(tx: Queries, account: number, nowMs: number): Promise<boolean> {
  const isOpen = and(eq(runs.account, account), gt(runs.endsAt, new Date(nowMs)));
  const [open] = await tx.select({ count: count() }).from(runs).where(isOpen);
  return (open?.count ?? 0) >= OPEN_RUNS_MAX;
}

function endOf(nowMs: number, seconds: number): Date {
  return new Date(nowMs + seconds * SECOND_MS);
}

/**
 * Changes a run. Returns the run after the change; null if the account has none of this id.
 * @throws AccountClosed, TooManyRuns
 */
export async function changeRun(
  { db }: Database,
  account: number,
  { id, change, nowMs, also }: RunToChange,
): Promise<RunRow | null> {
  return await db.transaction(async (tx) => {
    refuseClosed(await lockAccount(tx, account));
    const before = await findRun(tx, account, id);
    if (before === null) return null;
    const { isPaused = before.isPaused, amount = before.amount, seconds } = change;
    const pausedAt = isPaused ? (before.pausedAt ?? new Date(nowMs)) : null;
    if (seconds !== undefined && before.endsAtMs <= nowMs && (await hasTooMany(tx, account, nowMs)))
      throw new TooManyRuns(`The account has ${OPEN_RUNS_MAX} runs that have not ended`);
    const time = seconds === undefined ? {} : { endsAt: endOf(nowMs, seconds), forgottenAt: null };
    await tx
      .update(runs)
      .set({ amount, pausedAt, ...time })
      .where(eq(runs.number, before.number));
    await raiseVersion(tx, account);
    const after = await findRun(tx, account, id);
    if (after !== null) await also?.(tx, { account, before, after });
    return after;
  });
}

/** A run whose time is over, and that Redis may still have. */
export interface EndedRun
  extends Pick<RunRow, "number" | "id" | "amount" | "endsAt" | "loggedSpent"> {
  /** The number and the id of its account. */
  readonly account: number;
  readonly accountId: string;
  readonly bucket: number;
}

const ENDED_PER_PAGE = 200;

/** Pages of the runs that ended before a time and that Redis may still have. */
export async function* endedRuns(
  { db }: Database,
  before: Date,
): AsyncGenerator<readonly EndedRun[]> {
  const { number, id, amount, endsAt, loggedSpent } = COLUMNS;
  const account = { account: accounts.number, accountId: accounts.id, bucket: accounts.bucket };
  for (let after = 0; ; ) {
    const rows = await db
      .select({ number, id, amount, endsAt, loggedSpent, ...account })
      .from(runs)
      .innerJoin(accounts, eq(accounts.number, runs.account))
      .where(and(lt(runs.endsAt, before), isNull(runs.forgottenAt), gt(runs.number, after)))
      .orderBy(asc(runs.number))
      .limit(ENDED_PER_PAGE);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map((row) => ({
      ...row,
      amount: nano(row.amount),
      loggedSpent: nano(row.loggedSpent),
    }));
    after = last.number;
  }
}

/** Notes that Redis forgot a run. False if the run has another end by now. */
export async function markForgotten(
  tx: Queries,
  { number, endsAt }: Pick<EndedRun, "number" | "endsAt">,
  at: Date,
): Promise<boolean> {
  const marked = await tx
    .update(runs)
    .set({ forgottenAt: at })
    .where(and(eq(runs.number, number), eq(runs.endsAt, endsAt), isNull(runs.forgottenAt)))
    .returning({ number: runs.number });
  return marked.length > 0;
}

/**
 * Deletes the runs that ended before a time and that Redis forgot. The charges of runs stay in
 * ledger and log. Returns how many.
 */
export async function deleteEndedRuns({ db }: Database, before: Date): Promise<number> {
  const isOld = and(lt(runs.endsAt, before), isNotNull(runs.forgottenAt));
  return await deleteInParts(async (most) => {
    const old = db.select({ number: runs.number }).from(runs).where(isOld).limit(most);
    // The rule stands in both statements, because a run may get more time meanwhile.
    const rows = await db
      .delete(runs)
      .where(and(inArray(runs.number, old), isOld))
      .returning({ number: runs.number });
    return rows.length;
  });
}

/** A change, and the rows of its transaction. */
interface RunToChange {
  readonly id: string;
  readonly change: RunChange;
  readonly nowMs: number;
  readonly also?: (
    tx: Parameters<AlsoInTransaction>[0],
    changed: { readonly account: number; readonly before: RunRow; readonly after: RunRow },
  ) => Promise<void>;
}
