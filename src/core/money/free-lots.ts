// The lots of free credit: each has an end of its own, and the lot that ends first is spent first
// (D-970). A wallet keeps one balance, and for each end before the last one the amount that is left
// to calls which begin after that end. actors/lua/shared/free_credit.lua computes the same.

import { DAY_MS } from "../durations.ts";
import { type NanoUsd, nano, ZERO } from "./money.ts";

/** An end of free credit that is not the last one. */
export interface FreeEnd {
  readonly atMs: number;
  /**
   * The amount, in nano-USD, that is left to calls that begin after this end; below zero only after
   * a clock jumped.
   */
  readonly later: bigint;
}

/** When the free credit of an account ends. */
export interface FreeEnds {
  /** The last end; 0 if free credit never ends. */
  readonly lastMs: number;
  /** The ends before it, by time. */
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

/** A part of the free credit that ends at one time. */
export interface FreeLot {
  readonly amount: NanoUsd;
  /** The end of the credit; null if it never ends. */
  readonly endsAtMs: number | null;
}

/** The most ends of free credit that an account may have to redeem a voucher that adds one. */
export const FREE_LOTS_MAX = 16;

/** An end that passed this long ago is removed when the next lot comes. */
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
  if (replacesAll(ends, grant, nowMs)) return { lastMs: Math.max(lastMs, grantMs), earlier: [] };
  if (amount <= 0n) return ends;
  if (owned === 0n || lastMs === 0) return { lastMs: grantMs, earlier: [] };
  const expiresMs = grantMs > 0 ? grantMs : lastMs;
  const known = ends.earlier
    .filter(({ atMs }) => atMs + END_KEPT_MS > nowMs)
    .map((end) => (end.atMs > nowMs ? { ...end, later: least(end.later, owned) } : end));
  if (expiresMs > lastMs) known.push({ atMs: lastMs, later: 0n });
  const newLastMs = Math.max(lastMs, expiresMs);
  const atMs = Math.max(expiresMs, nowMs + 1);
  const sooner = known.filter((end) => end.atMs < atMs);
  const others = known.filter((end) => end.atMs >= atMs);
  const last = sooner.at(-1);
  const later = last !== undefined && last.atMs > nowMs ? last.later : owned;
  const isKnown = atMs >= newLastMs || others[0]?.atMs === atMs;
  const added = isKnown ? [] : [{ atMs, later }];
  const raised = sooner.map((end) => ({ ...end, later: end.later + amount }));
  return { lastMs: newLastMs, earlier: [...raised, ...added, ...others] };
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
 * The amount that the ends up to a time leave to calls; null if no earlier end has passed by that
 * time.
 */
export function laterThan({ earlier }: FreeEnds, timeMs: number): bigint | null {
  const over = earlier.filter(({ atMs }) => atMs <= timeMs).map(({ later }) => later);
  if (over.length === 0) return null;
  const later = over.reduce(least);
  return later > 0n ? later : 0n;
}

/** The part of the available free balance for a call that begins at this time. */
export function usableFree(ends: FreeEnds, available: NanoUsd, nowMs: number): NanoUsd {
  if (ends.lastMs > 0 && nowMs >= ends.lastMs) return ZERO;
  const later = laterThan(ends, nowMs);
  return later === null ? available : nano(least(available, later));
}

/** The lots that something is left of, by their ends. Their sum is the usable free credit. */
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

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
