// Audits the whole installation, or one account: proves the ledger from its entries, and Redis from
// the ledger. The audit changes nothing, except that it first moves waiting journal entries to the
// ledger.

import {
  type BucketInspection,
  findOverdueLease,
  inspectBuckets,
} from "../../actors/inspection.ts";
import { redisTime } from "../../actors/redis/redis-clock.ts";
import { LEASE_OVERDUE_MS } from "../core/access/limits.ts";
import type { AuditFinding } from "../core/journal/audit-finding.ts";
import type { AccountRef } from "../store/accounts/accounts.ts";
import type { BucketCursor } from "../store/ledger/journal-cursors.ts";
import {
  type AccountAuditDeps,
  type AccountProof,
  auditAccount,
  rejection,
} from "./audit-account.ts";

/** A bucket with a journal that contradicts the ledger. */
export interface JournalConflict {
  readonly bucket: number;
  readonly reason: string;
}

export interface AuditDeps extends AccountAuditDeps {
  /** Moves waiting journal entries to the ledger; returns the buckets for which that failed. */
  readonly flush: () => Promise<readonly JournalConflict[]>;
  readonly sleep: (ms: number) => Promise<void>;
  /** Called with the number of accounts that are proven by now. */
  readonly onProven?: (accounts: number) => Promise<void>;
}

export interface AuditReport {
  /** The first finding; null if everything is proven except rejected entries. */
  readonly difference: AuditFinding | null;
  /** The first finding of each account that has one; at most `DIFFERENCES_MAX`. */
  readonly differences: readonly AuditFinding[];
  /** All journal entries of the audited accounts that Postgres refused (D-010). */
  readonly rejected: readonly AuditFinding[];
  readonly accounts: number;
  readonly entries: number;
  readonly balance: bigint;
  readonly owed: bigint;
  readonly credited: bigint;
  readonly reversed: bigint;
  readonly repaid: bigint;
  readonly charged: bigint;
  readonly expired: bigint;
  readonly openHolds: number;
  /** Accounts with a wallet in Redis. */
  readonly wallets: number;
}

/**
 * A finding counts only if it is found this many times in a row: other processes may be changing
 * the account.
 */
const LOOKS = 4;
const LOOK_AGAIN_MS = 250;
const ACCOUNTS_AT_ONCE = 4;
const DIFFERENCES_MAX = 100;

const NOTHING: AuditReport = {
  difference: null,
  differences: [],
  rejected: [],
  accounts: 0,
  entries: 0,
  balance: 0n,
  owed: 0n,
  credited: 0n,
  reversed: 0n,
  repaid: 0n,
  charged: 0n,
  expired: 0n,
  openHolds: 0,
  wallets: 0,
};

/** Audits every account, or the given one. A finding about one account does not stop the audit. */
export async function audit(deps: AuditDeps, only: AccountRef | null): Promise<AuditReport> {
  const isLookedAt = (bucket: number) => only === null || only.bucket === bucket;
  // Buckets are checked before the flush, which would repair a bucket that is older than the
  // ledger.
  const difference =
    (await lasting(() => checkBuckets(deps, isLookedAt), {
      isSound: (finding) => finding === null,
      wait: () => deps.sleep(LOOK_AGAIN_MS),
    })) ??
    (await checkFlush(deps, isLookedAt)) ??
    (only === null ? await checkOrphans(deps) : null);
  if (difference !== null) return { ...NOTHING, difference, differences: [difference] };
  if (only !== null) {
    return withProof(NOTHING, await proveAccount(deps, only, await wrongBooks(deps, [only])));
  }
  const unattributed = await deps.repository.unattributed();
  let report: AuditReport = {
    ...NOTHING,
    rejected: unattributed.map((entry) => rejection(null, entry)),
  };
  for await (const page of deps.repository.listAccounts()) {
    const wrong = await wrongBooks(deps, page);
    for (let start = 0; start < page.length; start += ACCOUNTS_AT_ONCE) {
      const accounts = page.slice(start, start + ACCOUNTS_AT_ONCE);
      for (const proof of await Promise.all(
        accounts.map((account) => proveAccount(deps, account, wrong)),
      )) {
        report = withProof(report, proof);
      }
      await deps.onProven?.(report.accounts);
    }
  }
  return report;
}

/**
 * Audits an account. `wrong` has the mismatches between the tables of Postgres; a mismatch is
 * reported only for an account whose ledger and wallet have no finding of their own.
 */
async function proveAccount(
  deps: AuditDeps,
  account: AccountRef,
  wrong: ReadonlyMap<string, AuditFinding>,
): Promise<AccountProof> {
  const proof = await lasting(() => auditAccount(deps, account), {
    isSound: ({ difference }) => difference === null,
    wait: () => waitAndFlush(deps),
  });
  return { ...proof, difference: proof.difference ?? wrong.get(account.id) ?? null };
}

/**
 * The mismatches between tables (`AuditRepository.bookMismatches`) that every look finds, by
 * account.
 */
async function wrongBooks(
  deps: AuditDeps,
  accounts: readonly AccountRef[],
): Promise<ReadonlyMap<string, AuditFinding>> {
  let left = accounts;
  const look = async () => {
    const wrong = await deps.repository.bookMismatches(left);
    left = left.filter(({ id }) => wrong.has(id));
    return wrong;
  };
  return await lasting(look, {
    isSound: ({ size }) => size === 0,
    wait: () => waitAndFlush(deps),
  });
}

/** Looks again until the result is sound, or until it was unsound `LOOKS` times in a row. */
async function lasting<T>(
  look: () => Promise<T>,
  rules: { readonly isSound: (found: T) => boolean; readonly wait: () => Promise<unknown> },
): Promise<T> {
  for (let looks = 1; ; looks += 1) {
    const found = await look();
    if (rules.isSound(found) || looks === LOOKS) return found;
    await rules.wait();
  }
}

async function waitAndFlush({ sleep, flush }: AuditDeps): Promise<void> {
  await sleep(LOOK_AGAIN_MS);
  await flush();
}

async function checkBuckets(
  deps: AuditDeps,
  isLookedAt: (bucket: number) => boolean,
): Promise<AuditFinding | null> {
  const { redis, repository } = deps;
  const cursors = await repository.cursors();
  const buckets = await inspectBuckets(redis);
  const nowMs = await redisTime(redis, deps.scriptTime?.() ?? 0);
  for (const cursor of cursors.filter(({ bucket }) => isLookedAt(bucket))) {
    const found = buckets.find(({ bucket }) => bucket === cursor.bucket);
    const wrong = found === undefined ? null : checkBucket(cursor, found);
    if (wrong !== null) return wrong;
    if (found === undefined || found.record === null) continue;
    const lease = await checkLeases(deps, cursor.bucket, nowMs);
    if (lease !== null) return lease;
  }
  return null;
}

/** A bucket that Redis lost completely is rebuilt when next used, so its loss is no finding. */
function checkBucket(cursor: BucketCursor, found: BucketInspection): AuditFinding | null {
  const { bucket } = cursor;
  const say = (fact: string, expected: string, is: string): AuditFinding => {
    return { account: null, bucket, seq: null, fact, expected, found: is };
  };
  if (found.record === null) {
    if (found.journalLength === 0) return null;
    return say("the epoch in Redis", `${cursor.epoch}`, "none");
  }
  if (found.record.epoch !== cursor.epoch) {
    return say("the epoch in Redis", `${cursor.epoch}`, `${found.record.epoch}`);
  }
  if (found.written >= cursor.entry) return null;
  const expected = `${cursor.entry} or more, as in the ledger`;
  return say("the number of journal entries in Redis", expected, `${found.written}`);
}

/** If a lease ended long ago, the sweep must have missed its holds. */
async function checkLeases(
  { redis }: AuditDeps,
  bucket: number,
  nowMs: number,
): Promise<AuditFinding | null> {
  const overdue = await findOverdueLease(redis, bucket, nowMs - LEASE_OVERDUE_MS);
  if (overdue === null) return null;
  const { owner, leaseMs, holds } = overdue;
  const fact = `the lease of process ${owner} with ${holds} open holds`;
  const expected = `at most ${LEASE_OVERDUE_MS / 1000} s past its end`;
  const found = `${Math.floor((nowMs - leaseMs) / 1000)} s`;
  return { account: null, bucket, seq: null, fact, expected, found };
}

async function checkFlush(
  deps: AuditDeps,
  isLookedAt: (bucket: number) => boolean,
): Promise<AuditFinding | null> {
  const fork = (await deps.flush()).find(({ bucket }) => isLookedAt(bucket));
  if (fork === undefined) return null;
  const fact = "the journal follows the ledger";
  const { bucket, reason: found } = fork;
  return { account: null, bucket, seq: null, fact, expected: "entries that fit", found };
}

async function checkOrphans({ repository }: AuditDeps): Promise<AuditFinding | null> {
  const orphan = await repository.orphan();
  if (orphan === null) return null;
  const fact = `the account of the rows in ${orphan.table}`;
  const found = `account number ${orphan.account}, which is none`;
  return { account: null, bucket: null, seq: null, fact, expected: "one that exists", found };
}

function withProof(report: AuditReport, proof: AccountProof): AuditReport {
  const found = proof.difference === null ? [] : [proof.difference];
  return {
    difference: report.difference ?? proof.difference,
    differences: [...report.differences, ...found].slice(0, DIFFERENCES_MAX),
    rejected: [...report.rejected, ...proof.rejected],
    accounts: report.accounts + 1,
    entries: report.entries + proof.entries,
    balance: report.balance + proof.balance,
    owed: report.owed + proof.owed,
    credited: report.credited + proof.credited,
    reversed: report.reversed + proof.reversed,
    repaid: report.repaid + proof.repaid,
    charged: report.charged + proof.charged,
    expired: report.expired + proof.expired,
    openHolds: report.openHolds + proof.openHolds,
    wallets: report.wallets + (proof.inRedis ? 1 : 0),
  };
}
