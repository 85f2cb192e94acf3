// Proves one account: its ledger from its entries, its credits, payments and log from its ledger,
// and its wallet in Redis from the ledger and the journal.

import { type AccountInspection, inspectAccount } from "../../actors/inspection.ts";
import type { RedisClient, ScriptTime } from "../../actors/script.ts";
import { type AuditFinding, dollars } from "../core/audit-finding.ts";
import { type CreditFact, LedgerReplay } from "../core/ledger-replay.ts";
import type { AccountPlace } from "../store/accounts.ts";
import type { AuditRepository, AuditSnapshot, PaymentFact } from "../store/audit.ts";
import { checkWallet, isInForce, toReplayEntry } from "./audit-wallet.ts";

export interface AccountAuditDeps {
  readonly redis: RedisClient;
  readonly repository: AuditRepository;
  /** A credit younger than this may still be on its way to Redis. */
  readonly graceMs: number;
  /** Only tests give a time. */
  readonly scriptTime?: () => ScriptTime;
}

export interface AccountProof {
  readonly difference: AuditFinding | null;
  readonly entries: number;
  /** What the account owns, held amounts included. */
  readonly balance: bigint;
  readonly credited: bigint;
  readonly charged: bigint;
  readonly expired: bigint;
  readonly openHolds: number;
  /** Whether Redis holds a wallet of the account now. */
  readonly inRedis: boolean;
}

/** The journal is flushed first, so only what happens meanwhile is left in it. */
const TAIL_MAX = 20_000;

/**
 * The ledger is read as of one instant and Redis at a later one. What happened between is in the
 * journal behind the snapshot's cursor, so the two can be compared exactly under any load.
 */
export async function auditAccount(
  deps: AccountAuditDeps,
  place: AccountPlace,
): Promise<AccountProof> {
  return await deps.repository.snapshot(place, async (repository) => {
    const inspection = await inspectAccount(deps.redis, place, {
      streamId: repository.cursor.streamId,
      count: TAIL_MAX,
      now: deps.scriptTime?.() ?? "",
    });
    const replay = new LedgerReplay(place.id, repository.credits);
    const difference =
      (await replayBook(replay, repository)) ??
      (await checkLog(place.id, repository)) ??
      replayTail(replay, place, repository, inspection) ??
      checkApplied(replay, repository, deps.graceMs) ??
      checkWallet(replay, inspection, repository);
    const inRedis = isInForce(inspection);
    const balance = replay.paid + replay.free;
    return {
      difference,
      entries: replay.seq,
      balance,
      credited: balance + replay.charged + replay.expired,
      charged: replay.charged,
      expired: replay.expired,
      openHolds: inRedis ? inspection.holds.length : 0,
      inRedis,
    };
  });
}

async function replayBook(
  replay: LedgerReplay,
  repository: AuditSnapshot,
): Promise<AuditFinding | null> {
  const { account } = replay;
  const wrong = checkCredits(account, repository.credits) ?? checkPayments(account, repository);
  if (wrong !== null) return wrong;
  for await (const page of repository.ledger()) {
    for (const entry of page) {
      const difference = replay.take(entry);
      if (difference !== null) return difference;
    }
  }
  return checkSpending(replay, repository.spending);
}

function checkCredits(account: string, credits: readonly CreditFact[]): AuditFinding | null {
  for (const [index, { number }] of credits.entries()) {
    if (number === index + 1) continue;
    return difference(account, "credits are numbered without gaps", `${index + 1}`, `${number}`);
  }
  return null;
}

function checkPayments(account: string, { credits, payments }: AuditSnapshot): AuditFinding | null {
  const byPayment = new Map<string, PaymentFact>(payments.map((fact) => [fact.id, fact]));
  for (const { number, purse, amount, payment } of credits) {
    const paid = payment === null ? null : byPayment.get(payment);
    if (purse === "paid" && !paid) {
      const found = `${dollars(amount)} that nobody paid`;
      return difference(account, `the payment of credit ${number}`, "one of this account", found);
    }
    if (purse === "free" && paid) {
      return difference(account, `the purse of credit ${number}`, "paid", "free");
    }
    if (paid && paid.amount !== amount) {
      const fact = `what credit ${number} gives for payment ${paid.id}`;
      return difference(account, fact, dollars(paid.amount), dollars(amount));
    }
    if (paid) byPayment.delete(paid.id);
  }
  const [left] = byPayment.values();
  if (left === undefined) return null;
  return difference(account, `the credit of payment ${left.id}`, dollars(left.amount), "none");
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
    return difference(replay.account, fact, dollars(expected), dollars(found));
  }
  return null;
}

async function checkLog(account: string, repository: AuditSnapshot): Promise<AuditFinding | null> {
  const wrong = await repository.logMismatch();
  if (wrong === null) return null;
  const { request, seq, charged, logged, rows } = wrong;
  const found = logged === null ? "no row" : `${dollars(logged)} in ${rows} row(s)`;
  const fact = `the request log's cost of ${request}`;
  return { account, bucket: null, seq, fact, expected: `${dollars(charged)} in 1 row`, found };
}

function replayTail(
  replay: LedgerReplay,
  { bucket }: AccountPlace,
  { cursor }: AuditSnapshot,
  { epoch, entry, tail }: AccountInspection,
): AuditFinding | null {
  if (epoch === null) return null;
  const say = (fact: string, expected: number, found: number): AuditFinding => {
    return { account: null, bucket, seq: null, fact, expected: `${expected}`, found: `${found}` };
  };
  if (epoch !== cursor.epoch) return say("the epoch in Redis", cursor.epoch, epoch);
  if (tail.length === TAIL_MAX) return say("entries left to flush", 0, entry - cursor.entry);
  let number = cursor.entry;
  for (const found of tail) {
    number += 1;
    if (found.number !== number) return say("the next journal entry", number, found.number);
    const row = found.account === replay.account ? toReplayEntry(found) : null;
    const wrong = row === null ? null : replay.take(row);
    if (wrong !== null) return { ...wrong, fact: `${wrong.fact} (in the journal)` };
  }
  return number === entry ? null : say("the last journal entry", entry, number);
}

/** Every credit that is not just being made is in the ledger or in the journal. */
function checkApplied(
  replay: LedgerReplay,
  { credits, nowMs }: AuditSnapshot,
  graceMs: number,
): AuditFinding | null {
  const missing = credits.find(
    ({ number, createdAtMs }) => number > replay.credits && createdAtMs < nowMs - graceMs,
  );
  if (missing === undefined) return null;
  const ageSeconds = Math.floor((nowMs - missing.createdAtMs) / 1000);
  const fact = `credit ${missing.number} of ${dollars(missing.amount)}`;
  return difference(replay.account, fact, "applied", `not applied after ${ageSeconds} s`);
}

function difference(account: string, fact: string, expected: string, found: string): AuditFinding {
  return { account, bucket: null, seq: null, fact, expected, found };
}
