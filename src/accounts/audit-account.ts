// Audits one account: proves its ledger from its entries; its operations, payments and log from its
// ledger; and its wallet in Redis from the ledger and the journal.

import { type AccountInspection, inspectAccount } from "../../actors/inspection.ts";
import { parseEntry, UnknownRecord } from "../../actors/records/records.ts";
import type { RedisClient, ScriptTime } from "../../actors/scripts/script.ts";
import { type AuditFinding, accountFinding } from "../core/journal/audit-finding.ts";
import { LedgerReplay } from "../core/journal/ledger-replay.ts";
import { dollars } from "../core/money/money.ts";
import type { AccountRef } from "../store/accounts/accounts.ts";
import type { AuditRepository, AuditSnapshot, RejectedEntry } from "../store/audit/audit.ts";
import { wrongTotal } from "../store/usage/usage-repair.ts";
import { checkOperations } from "./audit-payments.ts";
import { checkWallet, isInForce, toReplayEntry } from "./audit-wallet.ts";

export interface AccountAuditDeps {
  readonly redis: RedisClient;
  readonly repository: AuditRepository;
  /** A younger operation may still be on its way to Redis. */
  readonly graceMs: number;
  /** Set only by tests. */
  readonly scriptTime?: () => ScriptTime;
}

export interface AccountProof {
  readonly difference: AuditFinding | null;
  /** Journal entries that Postgres refused. The ledger lacks their effect. */
  readonly rejected: readonly AuditFinding[];
  readonly entries: number;
  /** The balance of the account, including held amounts. */
  readonly balance: bigint;
  readonly owed: bigint;
  /** The total that operations gave. */
  readonly credited: bigint;
  /** The total that operations took. */
  readonly reversed: bigint;
  /** The part of the owed amount that paid credit repaid. */
  readonly repaid: bigint;
  readonly charged: bigint;
  readonly expired: bigint;
  readonly openHolds: number;
  /** True if Redis has a wallet of the account now. */
  readonly inRedis: boolean;
}

/** The journal is flushed first, so it contains only entries written meanwhile. */
const TAIL_MAX = 20_000;

/**
 * Compares the ledger at one instant with Redis at a later one. The journal after the snapshot's
 * cursor has the changes in between, so the comparison is exact under any load.
 */
export async function auditAccount(
  deps: AccountAuditDeps,
  accountRef: AccountRef,
): Promise<AccountProof> {
  return await deps.repository.snapshot(accountRef, async (snapshot) => {
    const inspected = await inspect(deps, accountRef, snapshot);
    const inspection = inspected instanceof UnknownRecord ? null : inspected;
    const replay = new LedgerReplay(accountRef.id, snapshot.operations, inspection?.budgets);
    const difference =
      checkOperations(accountRef.id, snapshot) ??
      (await replayLedger(replay, snapshot)) ??
      (await checkLog(accountRef.id, snapshot)) ??
      (await checkUsage(accountRef.id, snapshot)) ??
      checkRedis(deps, { replay, accountRef, snapshot, inspected });
    const inRedis = inspection !== null && isInForce(inspection);
    return {
      difference,
      rejected: snapshot.rejected
        .filter(({ isSetAside }) => !isSetAside)
        .map((entry) => rejection(accountRef.id, entry)),
      entries: replay.seq - replay.holes,
      balance: replay.paid + replay.free,
      owed: replay.owed,
      credited: replay.credited,
      reversed: replay.reversed,
      repaid: replay.repaid,
      charged: replay.charged,
      expired: replay.expired,
      openHolds: inRedis ? inspection.holds.length : 0,
      inRedis,
    };
  });
}

/** Reads the account in Redis, or returns why it cannot be read. */
async function inspect(
  { redis, scriptTime }: AccountAuditDeps,
  accountRef: AccountRef,
  { keyIds, cursor }: AuditSnapshot,
): Promise<AccountInspection | UnknownRecord> {
  try {
    const now = scriptTime?.() ?? 0;
    return await inspectAccount(redis, {
      ...accountRef,
      keyIds,
      after: cursor,
      count: TAIL_MAX,
      now,
    });
  } catch (error) {
    if (error instanceof UnknownRecord) return error;
    throw error;
  }
}

interface RedisFacts {
  readonly replay: LedgerReplay;
  readonly accountRef: AccountRef;
  readonly snapshot: AuditSnapshot;
  readonly inspected: AccountInspection | UnknownRecord;
}

function checkRedis(
  { graceMs }: AccountAuditDeps,
  { replay, accountRef, snapshot, inspected }: RedisFacts,
): AuditFinding | null {
  if (inspected instanceof UnknownRecord) {
    return accountFinding(accountRef.id, "its records in Redis", {
      expected: "ones that can be read",
      found: inspected.message,
    });
  }
  return (
    replayTail(replay, { bucket: accountRef.bucket, cursor: snapshot.cursor }, inspected) ??
    replay.end() ??
    checkApplied(replay, snapshot, graceMs) ??
    checkWallet(replay, inspected, snapshot)
  );
}

/** A rejected entry as a finding. An entry with money left a hole in the ledger. */
export function rejection(account: string | null, entry: RejectedEntry): AuditFinding {
  const { bucket, epoch, entry: number, seq, reason, ledgerWritten } = entry;
  const fact = `journal entry ${epoch}-${number}`;
  const expected = ledgerWritten ? "its row in the request log" : "its rows in Postgres";
  return { account, bucket, seq, fact, expected, found: `rejected: ${reason}` };
}

async function replayLedger(
  replay: LedgerReplay,
  snapshot: AuditSnapshot,
): Promise<AuditFinding | null> {
  const holes = new Map(
    snapshot.rejected.flatMap(({ seq, isHole, content }) =>
      seq !== null && isHole ? [[seq, mayApply(content)] as const] : [],
    ),
  );
  for await (const page of snapshot.ledger()) {
    for (const entry of page) {
      skipHoles(replay, holes);
      const finding = replay.take(entry);
      if (finding !== null) return finding;
    }
  }
  skipHoles(replay, holes);
  return checkSpending(replay, snapshot.spending) ?? (await checkBudgetSpending(replay, snapshot));
}

/**
 * Skips the numbers of rejected entries. `holes` is true for entries that may have applied
 * operations.
 */
function skipHoles(replay: LedgerReplay, holes: Map<number, boolean>): void {
  for (;;) {
    const mayHide = holes.get(replay.seq + 1);
    if (mayHide === undefined) return;
    replay.skip(mayHide);
  }
}

/** False if the entry surely applied no operation. */
function mayApply(content: Buffer): boolean {
  try {
    return parseEntry("0-0", content).operation !== null;
  } catch (error) {
    if (error instanceof UnknownRecord) return true;
    throw error;
  }
}

function checkSpending(
  replay: LedgerReplay,
  spending: ReadonlyMap<string, bigint>,
): AuditFinding | null {
  for (const row of new Set([...replay.spent.keys(), ...spending.keys()])) {
    const expected = replay.spent.get(row) ?? 0n;
    const found = spending.get(row) ?? 0n;
    if (expected === found) continue;
    const [month, ...key] = row.split(" ");
    const fact = `month_spend of ${month} and ${key.join(" ")}`;
    return accountFinding(replay.account, fact, {
      expected: dollars(expected),
      found: dollars(found),
    });
  }
  return null;
}

async function checkBudgetSpending(
  replay: LedgerReplay,
  snapshot: AuditSnapshot,
): Promise<AuditFinding | null> {
  const mismatch = await snapshot.budgetMismatch(replay);
  if (mismatch === null) return null;
  const { budget, startMs, charged, found } = mismatch;
  return accountFinding(replay.account, `budget_spend of budget ${budget} from ${startMs}`, {
    expected: dollars(charged),
    found: dollars(found),
  });
}

async function checkLog(account: string, snapshot: AuditSnapshot): Promise<AuditFinding | null> {
  const mismatch = await snapshot.logMismatch();
  if (mismatch === null) return null;
  const { request, seq, charged, logged, rows, held, misused, parts } = mismatch;
  const say = (fact: string, expected: string, is: string): AuditFinding => {
    return { account, bucket: null, seq, fact, expected, found: is };
  };
  if (rows === 1 && logged === charged && misused > 0n) {
    return say(
      `the free credit that paid for ${request}, which is no chat`,
      "$0",
      dollars(misused),
    );
  }
  if (rows === 1 && logged === charged && parts !== null) {
    return say(`the free part and the time of ${request} in the log`, parts.charged, parts.logged);
  }
  if (rows === 1 && logged === charged && held !== null) {
    return say(`the charge of ${request}`, `at most ${dollars(held)}, its hold`, dollars(charged));
  }
  const found = logged === null ? "no row" : `${dollars(logged)} in ${rows} row(s)`;
  return say(`the request log's cost of ${request}`, `${dollars(charged)} in 1 row`, found);
}

/** Compares money alone, of all months: the log may be dropped month by month. */
async function checkUsage(account: string, snapshot: AuditSnapshot): Promise<AuditFinding | null> {
  const totals = await snapshot.usageTotals();
  const found = wrongTotal(totals);
  if (found === undefined) return null;
  const fact = "the sums of the request log (farebox usage repair computes them again)";
  return accountFinding(account, fact, {
    expected: chargesText(totals.ledger),
    found: chargesText(found),
  });
}

function chargesText(totals: string): string {
  const [cost = "0", free = "0"] = totals.split("/");
  return `${dollars(BigInt(cost))} charged, ${dollars(BigInt(free))} of it free credit`;
}

function replayTail(
  replay: LedgerReplay,
  { bucket: number, cursor }: Pick<AccountRef, "bucket"> & Pick<AuditSnapshot, "cursor">,
  { bucket, written, tail }: AccountInspection,
): AuditFinding | null {
  if (bucket === null) return null;
  const say = (fact: string, expected: number | string, found: number | string): AuditFinding => {
    const texts = { expected: `${expected}`, found: `${found}` };
    return { account: null, bucket: number, seq: null, fact, ...texts };
  };
  if (bucket.epoch !== cursor.epoch) return say("the epoch in Redis", cursor.epoch, bucket.epoch);
  if (tail.length === TAIL_MAX) return say("entries left to flush", 0, written - cursor.entry);
  let next = cursor.entry;
  for (const { number: found, entry, fault } of tail) {
    if (found !== next) return say("the next journal entry", next, found);
    if (entry === null) return say(`journal entry ${found}`, "one that can be read", `${fault}`);
    next += 1;
    const row = entry.account === replay.account ? toReplayEntry(entry) : null;
    const finding = row === null ? null : replay.take(row);
    if (finding !== null) return { ...finding, fact: `${finding.fact} (in the journal)` };
  }
  return next === written ? null : say("journal entries in Redis", written, next);
}

/** Checks that every operation, except very recent ones, is in the ledger or in the journal. */
function checkApplied(
  replay: LedgerReplay,
  { operations, nowMs }: AuditSnapshot,
  graceMs: number,
): AuditFinding | null {
  const missing = operations.find(
    ({ number, createdAtMs }) =>
      // Rejected entries, which have their own findings, may hide this many operations.
      number > replay.operations + replay.hidden && createdAtMs < nowMs - graceMs,
  );
  if (missing === undefined) return null;
  const ageSeconds = Math.floor((nowMs - missing.createdAtMs) / 1000);
  const fact = `operation ${missing.number} (${missing.kind}, ${dollars(missing.amount)})`;
  return accountFinding(replay.account, fact, {
    expected: "applied",
    found: `not applied after ${ageSeconds} s`,
  });
}
