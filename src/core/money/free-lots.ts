// The lots of free credit: each has its own end, and the lot that ends first is spent first
// (D-970). A wallet keeps one balance, and for each end before the last one the amount that is left
// to calls that begin after the end. actors/lua/shared/free_credit.lua computes the same.

import { DAY_MS } from "../durations.ts";
import { min, type NanoUsd, nano, ZERO } from "./money.ts";

/** An end of free credit that is not the last one. */
export interface FreeEnd {
  readonly atMs: number;
  /**
   * The amount, in nano-USD, that is left to calls that begin after this end; below zero only after
   * a clock jumped.
   */
  readonly later: bigint;
  /** The amount, in nano-USD, by which later grants lowered `later`. */
  readonly lowered: bigint;
  /** The time when `later` was first counted; 0 if `later` was zero at first. */
  readonly countedMs: number;
}

/** When the free credit of an account ends. */
export interface FreeEnds {
  /** The last end; 0 if free credit never ends. */
  readonly lastMs: number;
  /** The ends before the last one, by time. */
  readonly earlier: readonly FreeEnd[];
}

export const NO_FREE_ENDS: FreeEnds = { lastMs: 0, earlier: [] };

/** An operation that gives free credit. */
export interface FreeGrant {
  readonly amount: bigint;
  readonly expiresAtMs: number | null;
  readonly createdAtMs: number;
}

/** The free balance of the wallet when a grant was applied. */
export interface BeforeGrant {
  /** The free balance before the grant, held amounts included. */
  readonly owned: bigint;
  readonly nowMs: number;
}

/** Free credit that a late settlement gave back because the sweep had taken too much. */
export interface FreeReturn {
  /** The number of its ledger entry. */
  readonly seq: number;
  readonly admittedMs: number;
  readonly amount: bigint;
}

/** A part of the free credit that ends at one time. */
export interface FreeLot {
  readonly amount: NanoUsd;
  /** The end of the credit; null if it never ends. */
  readonly endsAtMs: number | null;
}

/** The most ends of free credit that an account may have to redeem a voucher that adds one. */
export const FREE_LOTS_MAX = 16;

/** The next grant drops an end that both clocks passed longer ago than this. */
const END_KEPT_MS = DAY_MS;

/** True if a grant finds only free credit that ended by both clocks, and takes its place. */
export function replacesAll({ lastMs }: FreeEnds, grant: FreeGrant, nowMs: number): boolean {
  return lastMs > 0 && Math.min(nowMs, grant.createdAtMs) >= lastMs;
}

/** The ends after a grant of free credit was applied. */
export function withGrant(ends: FreeEnds, grant: FreeGrant, before: BeforeGrant): FreeEnds {
  const { amount } = grant;
  const { owned, nowMs } = before;
  const { lastMs } = ends;
  const grantMs = grant.expiresAtMs ?? 0;
  if (replacesAll(ends, grant, nowMs)) {
    const isStillHeld = owned > 0n && grantMs > lastMs;
    const earlier = isStillHeld ? [{ ...nothingAfter(lastMs), later: amount }] : [];
    return { lastMs: Math.max(lastMs, grantMs), earlier };
  }
  if (amount <= 0n) return ends;
  if (lastMs === 0) return { lastMs: grantMs, earlier: [] };
  const most = min(owned, laterThan(ends, nowMs) ?? owned);
  const expiresMs = grantMs > 0 ? grantMs : lastMs;
  const known = knownEnds(ends, Math.min(nowMs, grant.createdAtMs), owned).map((end) => {
    if (end.atMs <= nowMs || end.later <= most) return end;
    return { ...end, later: most, lowered: end.lowered + end.later - most };
  });
  if (expiresMs > lastMs) known.push(nothingAfter(lastMs));
  const newLastMs = Math.max(lastMs, expiresMs);
  const atMs = Math.max(expiresMs, nowMs + 1);
  const sooner = known.filter((end) => end.atMs < atMs);
  const others = known.filter((end) => end.atMs >= atMs);
  const last = sooner.at(-1);
  const isLastAhead = last !== undefined && last.atMs > nowMs;
  const found = isLastAhead ? last : { later: most, lowered: 0n, countedMs: nowMs };
  const isKnown = atMs >= newLastMs || others[0]?.atMs === atMs;
  const added = isKnown ? [] : [{ ...found, atMs }];
  const raised = sooner.map((end) => ({ ...end, later: end.later + amount }));
  return { lastMs: newLastMs, earlier: [...raised, ...added, ...others] };
}

function nothingAfter(atMs: number): FreeEnd {
  return { atMs, later: 0n, lowered: 0n, countedMs: 0 };
}

/** The ends that still have an effect: none if no credit of the earlier lots is left. */
function knownEnds({ earlier }: FreeEnds, endedMs: number, owned: bigint): readonly FreeEnd[] {
  return owned === 0n ? [] : earlier.filter(({ atMs }) => atMs + END_KEPT_MS > endedMs);
}

/** The ends after a call that was admitted at this time was charged, or given back if below 0. */
export function withCharge(ends: FreeEnds, admittedMs: number, charged: bigint): FreeEnds {
  if (ends.earlier.length === 0 || charged === 0n) return ends;
  const earlier = ends.earlier.map((end) =>
    admittedMs >= end.atMs ? { ...end, later: end.later - charged } : end,
  );
  return { ...ends, earlier };
}

/**
 * The ends after a call that was admitted at this time gave back the excess charge of the sweep. A
 * lot that was added before this return did not see the excess as credit: the lot lowered the ends
 * by that amount, or counted its own end without it.
 */
export function withReturn(ends: FreeEnds, admittedMs: number, returned: bigint): FreeEnds {
  if (ends.earlier.length === 0 || returned <= 0n) return ends;
  const earlier = ends.earlier.map((end) => {
    if (admittedMs >= end.atMs) return end;
    const isFromBefore = admittedMs < end.countedMs;
    const back = isFromBefore ? returned : min(returned, end.lowered);
    return { ...end, later: end.later + back, lowered: end.lowered - min(back, end.lowered) };
  });
  return { ...ends, earlier };
}

/**
 * The amount that the ends up to a time leave to calls; null if no earlier end has passed by then.
 */
export function laterThan({ earlier }: FreeEnds, timeMs: number): bigint | null {
  const over = earlier.filter(({ atMs }) => atMs <= timeMs).map(({ later }) => later);
  if (over.length === 0) return null;
  const later = over.reduce(min);
  return later > 0n ? later : 0n;
}

/** The part of the available free balance for a call that begins at this time. */
export function usableFree(ends: FreeEnds, available: NanoUsd, nowMs: number): NanoUsd {
  if (ends.lastMs > 0 && nowMs >= ends.lastMs) return ZERO;
  const later = laterThan(ends, nowMs);
  return later === null ? available : nano(min(available, later));
}

/** The lots with credit left, by their ends. The sum of these lots is the usable free credit. */
export function freeLots(ends: FreeEnds, available: NanoUsd, nowMs: number): FreeLot[] {
  let rest: bigint = usableFree(ends, available, nowMs);
  const lots: FreeLot[] = [];
  for (const { atMs, later } of ends.earlier) {
    if (atMs <= nowMs || later >= rest) continue;
    lots.push({ amount: nano(rest - later), endsAtMs: atMs });
    rest = later;
  }
  if (rest > 0n) lots.push({ amount: nano(rest), endsAtMs: ends.lastMs || null });
  return lots;
}

/**
 * The end of the first lot of which something is left; without any, the last end; null for never.
 */
export function nextFreeEnd(ends: FreeEnds, available: NanoUsd, nowMs: number): number | null {
  return freeLots(ends, available, nowMs)[0]?.endsAtMs ?? (ends.lastMs || null);
}
