// Compares an account's wallet in Redis with the ledger and the journal entries that are not in it
// yet.

import type { AccountInspection, InspectedHold } from "../../actors/inspection.ts";
import type { BudgetRecord, HoldRecord, KeyState, Wallet } from "../../actors/records/records.ts";
import { LEASE_OVERDUE_MS } from "../core/access/limits.ts";
import type { AuditFinding } from "../core/journal/audit-finding.ts";
import { type JournalEntry, ledgerKindOf } from "../core/journal/journal.ts";
import type { LedgerReplay, ReplayEntry } from "../core/journal/ledger-replay.ts";
import { dollars } from "../core/money/money.ts";
import { monthBefore, monthOf } from "../core/money/months.ts";

/** An account's access document according to Postgres. */
export interface DocumentFacts {
  readonly version: number;
  readonly appliedVersion: number;
  readonly document: string;
}

/** A journal entry in the form that the ledger will store; null if it changed no balance. */
export function toReplayEntry(entry: JournalEntry): ReplayEntry | null {
  const kind = ledgerKindOf(entry);
  if (entry.seq === null || kind === null) return null;
  const { seq, paidDelta, freeDelta, paidAfter, freeAfter, owedAfter } = entry;
  const { month, budgets, operation, atMs, request, key } = entry;
  return {
    seq,
    kind,
    paidDelta,
    freeDelta,
    paidAfter,
    freeAfter,
    owedAfter,
    month,
    budgets,
    operation,
    atMs,
    request: request || null,
    key: key || null,
  };
}

/**
 * True if the wallet belongs to its bucket's epoch. Any other wallet is invalid, and rebuilt when
 * next used.
 */
export function isInForce({ wallet, bucket }: AccountInspection): boolean {
  return wallet !== null && wallet.epoch === bucket?.epoch;
}

/**
 * Returns the first fact in Redis that does not follow from the replayed entries and the open
 * holds.
 */
export function checkWallet(
  replay: LedgerReplay,
  inspection: AccountInspection,
  access: DocumentFacts,
): AuditFinding | null {
  const { wallet, bucket } = inspection;
  // A hold of an older epoch is invalid, like the wallet that it was taken from.
  const holds = inspection.holds.filter(
    ({ record }) => record === null || record.epoch === bucket?.epoch,
  );
  const say = saying(replay.account);
  if (wallet === null && holds.length > 0) {
    return say("open holds without a wallet", "none", `${holds.length}`);
  }
  if (wallet === null || !isInForce(inspection)) return null;
  const records: HoldRecord[] = [];
  for (const hold of holds) {
    const finding = checkHold(replay.account, hold, inspection.nowMs);
    if (finding !== null) return finding;
    if (hold.record !== null) records.push(hold.record);
  }
  return (
    checkNegative(replay.account, wallet) ??
    checkBalances(replay, wallet, records) ??
    checkLots(replay, wallet, records) ??
    checkMonths(replay, inspection, { wallet, holds: records }) ??
    checkBudgets(replay, inspection, records) ??
    checkDocument(replay.account, { wallet, document: inspection.document }, access)
  );
}

function checkHold(account: string, hold: InspectedHold, nowMs: number): AuditFinding | null {
  const say = saying(account);
  const { request, record, leaseMs, owner } = hold;
  if (record === null) return say(`the hold of ${request}`, "a readable record", "another text");
  if (record.checkpoint > record.paid + record.free) {
    const most = `at most ${dollars(record.paid + record.free)}`;
    return say(`the checkpoint of the hold of ${request}`, most, dollars(record.checkpoint));
  }
  if (leaseMs === null) {
    return say(`the lease of process ${owner}, which has the hold of ${request}`, "one", "none");
  }
  if (nowMs - leaseMs <= LEASE_OVERDUE_MS) return null;
  const expected = `at most ${LEASE_OVERDUE_MS / 1000} s past its lease`;
  return say(`the hold of ${request}`, expected, `${Math.floor((nowMs - leaseMs) / 1000)} s`);
}

function checkNegative(account: string, wallet: Wallet): AuditFinding | null {
  for (const [name, field] of BALANCES) {
    const amount = wallet[field];
    if (amount >= 0n) continue;
    const finding = saying(account)(`the ${name} in Redis`, "$0 or more", dollars(amount));
    return { ...finding, isBelowZero: true };
  }
  if (wallet.owed === 0n || wallet.paid === 0n) return null;
  const fact = `the available paid balance in Redis while ${dollars(wallet.owed)} is owed`;
  return saying(account)(fact, "$0", dollars(wallet.paid));
}

const BALANCES = [
  ["available paid balance", "paid"],
  ["available free balance", "free"],
  ["held paid balance", "heldPaid"],
  ["held free balance", "heldFree"],
  ["amount owed", "owed"],
] as const;

function checkBalances(
  replay: LedgerReplay,
  wallet: Wallet,
  holds: readonly HoldRecord[],
): AuditFinding | null {
  const say = saying(replay.account);
  const heldPaid = holds.reduce((sum, { paid }) => sum + paid, 0n);
  const heldFree = holds.reduce((sum, { free }) => sum + free, 0n);
  const streams = holds.filter(({ isStream }) => isStream).length;
  const calls = holds.filter(({ deadlineMs }) => deadlineMs === 0).length;
  // Rejected entries may have applied operations.
  const isWhole = replay.hidden === 0;
  const counts = [
    ["ledger number", wallet.seq, replay.seq],
    ...(isWhole ? [["last operation", wallet.operations, replay.operations] as const] : []),
    ["number of open calls", wallet.calls, calls],
    ["number of open streams", wallet.streams, streams],
    ...(isWhole
      ? [["end of free credit", wallet.freeEnds.lastMs, replay.freeEnds.lastMs] as const]
      : []),
  ] as const;
  for (const [name, found, expected] of counts) {
    if (found !== expected) return say(`the ${name} in Redis`, `${expected}`, `${found}`);
  }
  // A rebuilt wallet does not know when its free credit began.
  const since = wallet.freeSinceMs;
  const isKnown = since === replay.walletFreeSinceMs || replay.earlierEnds.has(since);
  if (isWhole && since !== 0 && !isKnown) {
    const most = `0 or ${replay.walletFreeSinceMs}`;
    return say("the beginning of free credit in Redis", most, `${since}`);
  }
  const expected = {
    paid: replay.paid - heldPaid,
    free: replay.free - heldFree,
    heldPaid,
    heldFree,
    owed: replay.owed,
  };
  for (const [name, field] of BALANCES) {
    if (wallet[field] === expected[field]) continue;
    const fact = `the ${name} in Redis, with ${holds.length} open holds`;
    return say(fact, dollars(expected[field]), dollars(wallet[field]));
  }
  return null;
}

/**
 * Checks the amount that each end of free credit before the last one leaves to calls. Calls that
 * began after the end have spent and hold a part of it; a wallet that was rebuilt meanwhile has
 * lost the amount that these calls spent.
 */
function checkLots(
  replay: LedgerReplay,
  wallet: Wallet,
  holds: readonly HoldRecord[],
): AuditFinding | null {
  if (replay.holes > 0) return null;
  const say = saying(replay.account);
  const { earlier } = replay.freeEnds;
  const found = wallet.freeEnds.earlier;
  const [due, there] = [earlier, found].map((ends) => ends.map(({ atMs }) => atMs).join(", "));
  if (due !== there) {
    return say("the ends of free credit before the last in Redis", due || "none", there || "none");
  }
  for (const [index, end] of found.entries()) {
    const { atMs, later } = end;
    const held = holds.reduce((sum, { admittedMs, free }) => {
      return admittedMs >= atMs ? sum + free : sum;
    }, 0n);
    if (end.held !== held) {
      const fact = `the free credit in Redis held by calls after ${new Date(atMs).toISOString()}`;
      return say(fact, dollars(held), dollars(end.held));
    }
    const least = (earlier[index]?.later ?? 0n) - held;
    const most = (replay.freeEndsUncharged.earlier[index]?.later ?? 0n) - held;
    if (later >= least && later <= most) continue;
    const fact = `the free credit in Redis that goes on after ${new Date(atMs).toISOString()}`;
    const expected = least === most ? dollars(least) : `${dollars(least)} to ${dollars(most)}`;
    return say(fact, expected, dollars(later));
  }
  return null;
}

/**
 * The amounts that a wallet or a key spent and holds in a month; only the last two months are
 * stored.
 */
function monthOfRecord(
  record: Wallet | KeyState | undefined,
  month: number,
): { readonly spent: bigint; readonly held: bigint } {
  if (record?.month === month) return record;
  if (record === undefined || monthBefore(record.month) !== month) return { spent: 0n, held: 0n };
  return { spent: record.previousSpent, held: record.previousHeld };
}

/**
 * Checks spending and holds of the account and its keys, in this month and the one before. A wallet
 * may be months ahead of a clock that jumped back; it has no amounts of the months between.
 */
function checkMonths(
  replay: LedgerReplay,
  { nowMs, bucket, keys }: AccountInspection,
  { wallet, holds }: { readonly wallet: Wallet; readonly holds: readonly HoldRecord[] },
): AuditFinding | null {
  const thisMonth = Math.max(monthOf(nowMs), wallet.month);
  const names = new Set([...keys.keys(), ...holds.map(({ key }) => key)]);
  for (const row of replay.spent.keys()) names.add(row.split(" ")[1] ?? "");
  const inForce = (key: string) => {
    const state = keys.get(key);
    return state?.epoch === bucket?.epoch ? state : undefined;
  };
  for (const month of [thisMonth, monthBefore(thisMonth)]) {
    let total = 0n;
    for (const key of names) {
      const spent = replay.spent.get(`${month} ${key}`) ?? 0n;
      total += spent;
      const held = heldIn(
        holds.filter((hold) => hold.key === key),
        month,
      );
      const expected = { name: key, month, spent, held };
      const finding = checkMonth(replay, expected, inForce(key));
      if (finding !== null) return finding;
    }
    const expected = { name: "all keys", month, spent: total, held: heldIn(holds, month) };
    const finding = checkMonth(replay, expected, wallet);
    if (finding !== null) return finding;
  }
  return null;
}

/** Checks the amounts that each budget in Redis has of its last two spans. */
function checkBudgets(
  replay: LedgerReplay,
  { bucket, budgets }: AccountInspection,
  holds: readonly HoldRecord[],
): AuditFinding | null {
  for (const [number, record] of budgets) {
    if (record.epoch !== bucket?.epoch) continue;
    for (const span of spansOf(record)) {
      const finding = checkSpan(replay, { ...span, number }, holds);
      if (finding !== null) return finding;
    }
  }
  return null;
}

interface SpanInRedis {
  readonly number: number;
  readonly startMs: number;
  readonly spent: bigint;
  readonly held: bigint;
}

function spansOf(record: BudgetRecord): Omit<SpanInRedis, "number">[] {
  const { startMs, spent, held, previousStartMs, previousSpent, previousHeld } = record;
  return [
    { startMs, spent, held },
    { startMs: previousStartMs, spent: previousSpent, held: previousHeld },
  ];
}

function checkSpan(
  replay: LedgerReplay,
  { number, startMs, spent, held }: SpanInRedis,
  holds: readonly HoldRecord[],
): AuditFinding | null {
  const say = saying(replay.account);
  const span = `budget ${number} in the span from ${startMs} in Redis`;
  const counts = ({ budgets }: HoldRecord) =>
    budgets.some((named) => named.number === number && named.startMs === startMs);
  const ofHolds = holds.filter(counts).reduce((sum, { paid, free }) => sum + paid + free, 0n);
  if (held !== ofHolds) return say(`the amount held of ${span}`, dollars(ofHolds), dollars(held));
  const charged = replay.budgets.get(`${number} ${startMs}`) ?? 0n;
  if (spent === charged || replay.holes > 0) return null;
  return say(`the amount spent of ${span}`, dollars(charged), dollars(spent));
}

function heldIn(holds: readonly HoldRecord[], month: number): bigint {
  return holds.reduce(
    (sum, hold) => (hold.month === month ? sum + hold.paid + hold.free : sum),
    0n,
  );
}

/** The amounts that a key, or all keys, must have spent and hold in a month. */
interface ExpectedMonth {
  readonly name: string;
  readonly month: number;
  readonly spent: bigint;
  readonly held: bigint;
}

function checkMonth(
  replay: LedgerReplay,
  expected: ExpectedMonth,
  record: Wallet | KeyState | undefined,
): AuditFinding | null {
  const { name, month } = expected;
  const found = monthOfRecord(record, month);
  const say = saying(replay.account);
  if (found.held !== expected.held) {
    const fact = `the amount held by ${name} in ${month} in Redis`;
    return say(fact, dollars(expected.held), dollars(found.held));
  }
  if (found.spent === expected.spent || replay.holes > 0) return null;
  const fact = `the amount spent by ${name} in ${month} in Redis`;
  return say(fact, dollars(expected.spent), dollars(found.spent));
}

/** The access document in Redis, and the wallet with its version. */
interface StoredDocument {
  readonly wallet: Wallet;
  readonly document: string | null;
}

/** If Redis still knew a revoked key, the key's holder could spend the money. */
function checkDocument(
  account: string,
  { wallet: { version }, document }: StoredDocument,
  access: DocumentFacts,
): AuditFinding | null {
  const say = saying(account);
  if (version < access.appliedVersion) {
    const expected = `${access.appliedVersion} or later`;
    return say("the version of the access document in Redis", expected, `${version}`);
  }
  if (version !== access.version || document === access.document) return null;
  const fact = `the access document in Redis (version ${version})`;
  return say(fact, access.document, document ?? "none");
}

function saying(account: string) {
  return (fact: string, expected: string, found: string): AuditFinding => {
    return { account, bucket: null, seq: null, fact, expected, found };
  };
}
