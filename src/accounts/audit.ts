// Proves the whole installation, or one account: the ledger from its entries, and Redis from the
// ledger. It changes nothing but the journal's place: what waits in it is moved to the ledger
// first.

import { timeOf } from "../../actors/due-leases.ts";
import { type BucketInspection, findBadLease, inspectBuckets } from "../../actors/inspection.ts";
import type { AuditFinding } from "../core/audit-finding.ts";
import { LEASE_OVERDUE_MS } from "../core/limits.ts";
import type { AccountPlace } from "../store/accounts.ts";
import type { BucketCursor } from "../store/ledger.ts";
import { type AccountAuditDeps, type AccountProof, auditAccount } from "./audit-account.ts";
import { overdue } from "./audit-wallet.ts";

/** A bucket whose journal does not fit the ledger. */
export interface JournalConflict {
  readonly bucket: number;
  readonly reason: string;
}

export interface AuditDeps extends AccountAuditDeps {
  /** Moves what waits in the journal to the ledger; the buckets where that cannot be. */
  readonly flush: () => Promise<readonly JournalConflict[]>;
  readonly sleep: (ms: number) => Promise<void>;
}

export interface AuditReport {
  /** The first difference, or null: everything is proven. */
  readonly difference: AuditFinding | null;
  readonly accounts: number;
  readonly entries: number;
  readonly balance: bigint;
  readonly credited: bigint;
  readonly charged: bigint;
  readonly expired: bigint;
  readonly openHolds: number;
  /** Accounts of which Redis holds a wallet. */
  readonly wallets: number;
}

/** A difference counts when it is still there after so many looks: others may be at work. */
const LOOKS = 4;
const LOOK_AGAIN_MS = 250;
const ACCOUNTS_AT_ONCE = 4;

const NOTHING: AuditReport = {
  difference: null,
  accounts: 0,
  entries: 0,
  balance: 0n,
  credited: 0n,
  charged: 0n,
  expired: 0n,
  openHolds: 0,
  wallets: 0,
};

/** Audits every account, or the one given. Stops at the first difference. */
export async function audit(deps: AuditDeps, only: AccountPlace | null): Promise<AuditReport> {
  const isLookedAt = (bucket: number) => only === null || only.bucket === bucket;
  // Before the flush, which would mend a bucket that is older than the ledger.
  const difference =
    (await lasting(deps, () => checkBuckets(deps, isLookedAt))) ??
    (await checkFlush(deps, isLookedAt)) ??
    (only === null ? await checkOrphans(deps) : null);
  if (difference !== null) return { ...NOTHING, difference };
  if (only !== null) return withProof(NOTHING, await proveAccount(deps, only));
  let report = NOTHING;
  for await (const page of deps.repository.places()) {
    for (let start = 0; start < page.length; start += ACCOUNTS_AT_ONCE) {
      const places = page.slice(start, start + ACCOUNTS_AT_ONCE);
      for (const proof of await Promise.all(places.map((place) => proveAccount(deps, place)))) {
        report = withProof(report, proof);
        if (proof.difference !== null) return report;
      }
    }
  }
  return report;
}

/** Looks again before it believes a difference: an account may be changed at this moment. */
async function proveAccount(deps: AuditDeps, place: AccountPlace): Promise<AccountProof> {
  for (let look = 1; ; look += 1) {
    const proof = await auditAccount(deps, place);
    if (proof.difference === null || look === LOOKS) return proof;
    await deps.sleep(LOOK_AGAIN_MS);
    await deps.flush();
  }
}

async function lasting(
  deps: AuditDeps,
  check: () => Promise<AuditFinding | null>,
): Promise<AuditFinding | null> {
  for (let look = 1; ; look += 1) {
    const difference = await check();
    if (difference === null || look === LOOKS) return difference;
    await deps.sleep(LOOK_AGAIN_MS);
  }
}

async function checkBuckets(
  deps: AuditDeps,
  isLookedAt: (bucket: number) => boolean,
): Promise<AuditFinding | null> {
  const { redis, repository } = deps;
  const cursors = await repository.cursors();
  const buckets = await inspectBuckets(redis);
  const nowMs = await timeOf(redis, deps.scriptTime?.() ?? "");
  for (const cursor of cursors.filter(({ bucket }) => isLookedAt(bucket))) {
    const found = buckets.find(({ bucket }) => bucket === cursor.bucket);
    const wrong = found === undefined ? null : checkBucket(cursor, found);
    if (wrong !== null) return wrong;
    if (found === undefined || found.epoch === null) continue;
    const lease = await checkLeases(deps, cursor.bucket, nowMs);
    if (lease !== null) return lease;
  }
  return null;
}

/** A bucket that Redis does not hold at all is built anew when it is next used. */
function checkBucket(cursor: BucketCursor, found: BucketInspection): AuditFinding | null {
  const { bucket } = cursor;
  const say = (fact: string, expected: string, is: string): AuditFinding => {
    return { account: null, bucket, seq: null, fact, expected, found: is };
  };
  if (found.epoch === null) {
    if (found.entry === null && found.journalLength === 0) return null;
    return say("the epoch in Redis", `${cursor.epoch}`, "none");
  }
  if (found.epoch !== cursor.epoch) {
    return say("the epoch in Redis", `${cursor.epoch}`, `${found.epoch}`);
  }
  if ((found.entry ?? 0) >= cursor.entry) return null;
  const expected = `${cursor.entry} or later, as in the ledger`;
  return say("the last journal entry in Redis", expected, `${found.entry ?? 0}`);
}

async function checkLeases(
  { redis }: AuditDeps,
  bucket: number,
  nowMs: number,
): Promise<AuditFinding | null> {
  const bad = await findBadLease(redis, bucket, nowMs - LEASE_OVERDUE_MS);
  if (bad === null) return null;
  const { account, request, leaseMs, held } = bad;
  if (held) return overdue(account, request, nowMs - leaseMs);
  const fact = `the hold of the lease of ${request}`;
  return { account, bucket, seq: null, fact, expected: "one", found: "none" };
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
  return {
    difference: proof.difference,
    accounts: report.accounts + 1,
    entries: report.entries + proof.entries,
    balance: report.balance + proof.balance,
    credited: report.credited + proof.credited,
    charged: report.charged + proof.charged,
    expired: report.expired + proof.expired,
    openHolds: report.openHolds + proof.openHolds,
    wallets: report.wallets + (proof.inRedis ? 1 : 0),
  };
}
