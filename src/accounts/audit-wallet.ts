// Holds an account's wallet in Redis against the ledger and the journal that is not in it yet.

import type { AccountInspection, OpenHoldFacts } from "../../actors/inspection.ts";
import { type AuditFinding, dollars } from "../core/audit-finding.ts";
import { monthOf } from "../core/clock.ts";
import type { JournalEntry } from "../core/journal.ts";
import type { LedgerReplay, ReplayEntry } from "../core/ledger-replay.ts";
import { LEASE_OVERDUE_MS } from "../core/limits.ts";

/** What the ledger says of an account's access document. */
export interface DocumentFacts {
  readonly version: number;
  readonly appliedVersion: number;
  readonly document: string;
}

/** A journal entry as the ledger will have it; null for one that changed no balance. */
export function toReplayEntry(entry: JournalEntry): ReplayEntry | null {
  if (entry.seq === null) return null;
  const { seq, paidDelta, freeDelta, paidAfter, freeAfter, month, credit, atMs } = entry;
  const kinds = { credit: "credit", free_expired: "free_expired", late: "late_charge" } as const;
  return {
    seq,
    kind: entry.type in kinds ? kinds[entry.type as keyof typeof kinds] : "charge",
    paidDelta,
    freeDelta,
    paidAfter,
    freeAfter,
    request: entry.request || null,
    key: entry.key || null,
    month,
    credit,
    atMs,
  };
}

/**
 * True when the bucket vouches for the wallet; any other is void, and built anew when it is used.
 */
export function isInForce({ wallet, epoch }: AccountInspection): boolean {
  return wallet !== null && epoch !== null && wallet.get("epoch") === String(epoch);
}

/** The first thing in Redis that does not follow from the replayed entries and the open holds. */
export function checkWallet(
  replay: LedgerReplay,
  inspection: AccountInspection,
  access: DocumentFacts,
): AuditFinding | null {
  const { wallet, holds } = inspection;
  const say = saying(replay.account);
  if (wallet === null && holds.length > 0) {
    return say("open holds without a wallet", "none", `${holds.length}`);
  }
  if (wallet === null || !isInForce(inspection)) return null;
  for (const hold of holds) {
    const wrong = checkHold(replay.account, hold, inspection.nowMs);
    if (wrong !== null) return wrong;
  }
  return (
    checkBalances(replay, wallet, holds) ??
    checkMonths(replay, inspection, wallet) ??
    checkDocument(replay.account, wallet, access)
  );
}

function checkHold(account: string, hold: OpenHoldFacts, nowMs: number): AuditFinding | null {
  const say = saying(account);
  const { request, terms, leaseMs } = hold;
  if (terms === null) return say(`the hold of ${request}`, "a readable record", "another text");
  if (terms.checkpoint > terms.paid + terms.free) {
    const most = `at most ${dollars(terms.paid + terms.free)}`;
    return say(`the checkpoint of the hold of ${request}`, most, dollars(terms.checkpoint));
  }
  if (leaseMs === null) return say(`the lease of the hold of ${request}`, "one", "none");
  if (nowMs - leaseMs <= LEASE_OVERDUE_MS) return null;
  return overdue(account, request, nowMs - leaseMs);
}

/** A lease that ran out so long ago that the sweep must have missed it. */
export function overdue(account: string, request: string, byMs: number): AuditFinding {
  const expected = `at most ${LEASE_OVERDUE_MS / 1000} s past its lease`;
  return saying(account)(`the hold of ${request}`, expected, `${Math.floor(byMs / 1000)} s`);
}

function checkBalances(
  replay: LedgerReplay,
  wallet: ReadonlyMap<string, string>,
  holds: readonly OpenHoldFacts[],
): AuditFinding | null {
  const sum = (pick: (terms: NonNullable<OpenHoldFacts["terms"]>) => bigint) =>
    holds.reduce((total, { terms }) => total + (terms === null ? 0n : pick(terms)), 0n);
  const heldPaid = sum((terms) => terms.paid);
  const heldFree = sum((terms) => terms.free);
  const of = `the ${holds.length} open holds`;
  const facts: readonly (readonly [field: string, expected: bigint, why: string, plain?: true])[] =
    [
      ["seq", BigInt(replay.seq), "the last entry of ledger and journal", true],
      ["credits", BigInt(replay.credits), "the last credit of ledger and journal", true],
      ["held_paid", heldPaid, `the sum of ${of}`],
      ["held_free", heldFree, `the sum of ${of}`],
      ["paid", replay.paid - heldPaid, "ledger and journal, less what is held"],
      ["free", replay.free - heldFree, "ledger and journal, less what is held"],
      ["streams", sum((terms) => BigInt(terms.stream)), `the streams of ${of}`, true],
      ["free_expires", BigInt(replay.freeExpiresAtMs), "the free credits applied", true],
    ];
  for (const [field, expected, why, plain] of facts) {
    const found = wallet.get(field) ?? "0";
    if (found === expected.toString()) continue;
    const show = plain ? String : shown;
    return saying(replay.account)(`'${field}' in Redis (${why})`, show(`${expected}`), show(found));
  }
  return null;
}

/** Spending and holds by month and key; an older month may be missing, but never wrong. */
function checkMonths(
  replay: LedgerReplay,
  { holds, nowMs }: AccountInspection,
  wallet: ReadonlyMap<string, string>,
): AuditFinding | null {
  const held = new Map<string, bigint>();
  for (const { terms } of holds) {
    if (terms !== null) countMonth(held, "h", terms.month, terms.key, terms.paid + terms.free);
  }
  const spent = new Map<string, bigint>();
  for (const [row, amount] of replay.spent) {
    const [month, key = ""] = row.split(" ");
    countMonth(spent, "s", Number(month), key, amount);
  }
  const thisMonth = `s${monthOf(nowMs)}`;
  const fields = new Set([
    ...held.keys(),
    ...[...spent.keys()].filter((field) => field.startsWith(thisMonth)),
    ...[...wallet.keys()].filter((field) => /^[sh]\d{6}(:|$)/.test(field)),
  ]);
  for (const field of fields) {
    const expected = `${(field.startsWith("s") ? spent : held).get(field) ?? 0n}`;
    const found = wallet.get(field) ?? "0";
    if (found === expected) continue;
    const what = field.startsWith("s") ? "spent" : "held";
    const fact = `'${field}' in Redis (${what} in that month)`;
    return saying(replay.account)(fact, shown(expected), shown(found));
  }
  return null;
}

function countMonth(
  sums: Map<string, bigint>,
  letter: "s" | "h",
  month: number,
  key: string,
  amount: bigint,
): void {
  for (const field of [`${letter}${month}`, `${letter}${month}:${key}`]) {
    sums.set(field, (sums.get(field) ?? 0n) + amount);
  }
}

/** A revoked key that Redis still knows would be money spent by somebody else. */
function checkDocument(
  account: string,
  wallet: ReadonlyMap<string, string>,
  access: DocumentFacts,
): AuditFinding | null {
  const version = Number(wallet.get("version"));
  const say = saying(account);
  if (!(version >= access.appliedVersion)) {
    const expected = `${access.appliedVersion} or later`;
    return say("the version of the access document in Redis", expected, `${version}`);
  }
  if (version !== access.version || wallet.get("document") === access.document) return null;
  return say(
    `the access document in Redis (version ${version})`,
    access.document,
    wallet.get("document") ?? "none",
  );
}

function shown(text: string): string {
  return /^-?\d+$/.test(text) ? dollars(BigInt(text)) : `'${text}'`;
}

function saying(account: string) {
  return (fact: string, expected: string, found: string): AuditFinding => {
    return { account, bucket: null, seq: null, fact, expected, found };
  };
}
