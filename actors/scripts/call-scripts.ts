// Scripts for admitted calls, typed. The header of each .lua file is its contract.

import type { HeldBudget } from "../../src/core/access/budgets.ts";
import { markerContent } from "../../src/core/journal/marker.ts";
import { type NanoUsd, nanoOf, toDouble } from "../../src/core/money/money.ts";
import type { Limit, Settlement, WholeResponse } from "../account.ts";
import endResponseLua from "../lua/end_response.lua" with { type: "text" };
import extendLua from "../lua/extend.lua" with { type: "text" };
import forgetEndedLua from "../lua/forget_ended.lua" with { type: "text" };
import settleLua from "../lua/settle.lua" with { type: "text" };
import settleLateLua from "../lua/settle_late.lua" with { type: "text" };
import settleOwnerlessLua from "../lua/settle_ownerless.lua" with { type: "text" };
import sweepLua from "../lua/sweep.lua" with { type: "text" };
import viewLua from "../lua/view.lua" with { type: "text" };
import {
  type BucketKeys,
  callKeys,
  holdsKey,
  keyStateKey,
  MAIL_OWNER,
  markerKey,
  opKey,
} from "../records/keys.ts";
import { type KeyState, parseKeyState, parseWallet, type Wallet } from "../records/records.ts";
import { withLimitKeys } from "../records/window.ts";
import type { Argument, Keys } from "../redis/script-client.ts";
import type { OwnerRef } from "./lease-scripts.ts";
import {
  bytesOf,
  type OfAccount,
  pack,
  type RawReply,
  type Script,
  type Timed,
  unpack,
  verdictOf,
} from "./script.ts";

/** For this time, Redis keeps the reply of a settlement that any process may repeat. */
const REPEAT_MS = 300_000;
/**
 * The time for which the reply of a call is kept for an owner that returns after its lease has
 * ended. Longer than any call may run.
 */
const LATE_MS = 3_600_000;

/** Everything that identifies a hold. */
export interface HoldRef extends OfAccount {
  readonly keyId: string;
  readonly requestId: string;
  readonly owner: string;
  /**
   * True if budgets count the call: the scripts of the call then take the record of the budgets
   * too.
   */
  readonly hasBudgets: boolean;
  /**
   * The marker of the call's idempotency key, which the scripts of the call then take too; null
   * without a key.
   */
  readonly marker: string | null;
  /** The response that the call is a part of; the sweep does not know it. */
  readonly partOf?: WholeResponse | undefined;
}

/** Adds the key of a call's marker. Most calls have none. */
function withMarker(names: Keys[], { keys, marker }: Pick<HoldRef, "keys" | "marker">): Keys[] {
  if (marker !== null) names.push(markerKey(keys.number, marker));
  return names;
}

/** The contents of markers, and the response that the call is a part of, if it is one. */
export function markerContents(
  markers: readonly string[],
  partOf: WholeResponse | undefined,
): string {
  const contents = markers.map(markerContent).join("");
  return partOf === undefined ? contents : contents + partOf.requestId;
}

type SettleReply = Settlement | null;

/** Null if the hold no longer exists. */
function parseSettlement(raw: RawReply): SettleReply {
  if (!(raw instanceof Buffer)) return null;
  // A reply that an earlier release stored has no `owned`.
  const [charged = 0, free = 0, left = -1, owned = -1] = unpack(raw);
  return {
    charged: nanoOf(charged),
    free: nanoOf(free),
    left: left < 0 ? null : nanoOf(left),
    ownedPaid: owned < 0 ? null : nanoOf(owned),
  };
}

export interface SettleArgs extends HoldRef {
  readonly cost: NanoUsd;
  /** An Outcome in the form of `outcomeText`. */
  readonly outcome: string;
}

export interface SettleOpenArgs extends SettleArgs {
  /** The counts to give back to the limits of the call. */
  readonly unused: readonly (Pick<Limit, "name" | "kind"> & { readonly count: number })[];
}

/** Adds the keys of all that counts the call: its limits, then its budgets. */
function withCounts(names: Keys[], call: SettleOpenArgs): readonly Keys[] {
  withLimitKeys(names, call, call.unused);
  if (call.hasBudgets) names.push(call.keys.budgets);
  return names;
}

/** Settles a hold of this process. */
const settleOwned: Script<SettleOpenArgs, SettleReply> = {
  name: "settle",
  lua: settleLua,
  flags: ["allow-oom"],
  keys: (a) => withCounts(withMarker([callKeys(a)], a), a),
  args: (a) => {
    const cost = toDouble(a.cost);
    return settleArgs(a.marker === null ? pack(cost) : pack(cost, a.partOf?.untilMs ?? 0), a);
  },
  reply: parseSettlement,
};

/** Settles a hold that belongs to no process. */
const settleOwnerless: Script<SettleOpenArgs, SettleReply> = {
  name: "settle_ownerless",
  lua: settleOwnerlessLua,
  flags: ["allow-oom"],
  keys: (a) => withCounts([callKeys(a), opKey(a.keys.number, a.requestId)], a),
  args: (a) => settleArgs(pack(toDouble(a.cost), REPEAT_MS), a),
  reply: parseSettlement,
};

export const SETTLE_SCRIPTS = [settleOwned, settleOwnerless] as const;

/**
 * The script that settles a hold of this owner. The script returns null if the hold no longer
 * exists: then use `settleLate`.
 */
export function settleOf(owner: string): Script<SettleOpenArgs, SettleReply> {
  return owner === MAIL_OWNER ? settleOwnerless : settleOwned;
}

function settleArgs(
  numbers: Buffer,
  { requestId, outcome, unused }: SettleOpenArgs,
): readonly Argument[] {
  const args: Argument[] = [numbers, requestId, outcome];
  for (const { kind, count } of unused) args.push(kind, count);
  return args;
}

export interface SettleLateArgs extends Timed, SettleArgs {
  readonly admittedAtMs: number;
  readonly cap: NanoUsd;
  readonly budget: NanoUsd | null;
  readonly budgets: readonly HeldBudget[];
  /** Account, key and metadata between tabs. */
  readonly text: string;
}

/** `budgets`: a budget is not in Redis, and must be loaded first. */
type LateReply = SettleReply | "budgets";

export const settleLate: Script<SettleLateArgs, LateReply> = {
  name: "settle_late",
  lua: settleLateLua,
  flags: ["allow-oom"],
  keys: ({ keys, keyId, requestId, hasBudgets, marker }) => {
    const names: Keys[] = [
      keys.bucket,
      keys.wallet,
      keyStateKey(keys.number, keyId),
      opKey(keys.number, requestId),
      keys.events,
    ];
    withMarker(names, { keys, marker });
    if (hasBudgets) names.push(keys.budgets);
    return names;
  },
  args: (a) => [
    pack(
      a.nowMs,
      a.admittedAtMs,
      toDouble(a.cost),
      toDouble(a.cap),
      a.budget === null ? -1 : toDouble(a.budget),
      REPEAT_MS,
      a.marker === null ? 0 : 1,
    ),
    a.requestId,
    a.text,
    a.outcome,
    ...(a.marker === null ? [] : [markerContents([a.marker], a.partOf)]),
    ...(a.hasBudgets ? [packHeldBudgets(a.budgets)] : []),
  ],
  reply: (raw) => (verdictOf(raw) === "budgets" ? "budgets" : parseSettlement(raw)),
};

function packHeldBudgets(budgets: readonly HeldBudget[]): Buffer {
  return pack(
    ...budgets.flatMap(({ number, startMs, amount }) => [number, startMs, toDouble(amount)]),
  );
}

export interface SweepArgs extends Timed, HoldRef {
  /** An Outcome in the form of `outcomeText`. */
  readonly outcome: string;
}

export const sweep: Script<SweepArgs, "ok" | "alive" | "gone"> = {
  name: "sweep",
  lua: sweepLua,
  flags: ["allow-oom"],
  keys: (a) => {
    const names: Keys[] = [callKeys(a), opKey(a.keys.number, a.requestId), a.keys.leases];
    withMarker(names, a);
    if (a.hasBudgets) names.push(a.keys.budgets);
    return names;
  },
  args: (a) => [pack(a.nowMs, LATE_MS, a.marker === null ? 0 : 1), a.requestId, a.owner, a.outcome],
  reply: (raw) => verdictOf(raw) as "ok" | "alive" | "gone",
};

export interface EndResponseArgs {
  readonly keys: BucketKeys;
  readonly marker: string;
  readonly requestId: string;
}

export const endResponse: Script<EndResponseArgs, void> = {
  name: "end_response",
  lua: endResponseLua,
  flags: ["allow-oom"],
  keys: ({ keys, marker }) => [keys.bucket, markerKey(keys.number, marker)],
  args: ({ requestId }) => [requestId],
  reply: () => {},
};

export interface EndedCalls {
  readonly keys: BucketKeys;
  readonly owner: string;
  /** At most `ENDED_AT_ONCE`. */
  readonly requestIds: readonly string[];
  /** True keeps the replies for an owner that returns. */
  readonly ownerMayReturn: boolean;
}

/** More arguments would be too many for Lua, and would block Redis for too long. */
export const ENDED_AT_ONCE = 500;

/** Removes the replies that settled calls left in the place of their holds. Open holds stay. */
export const forgetEnded: Script<EndedCalls, void> = {
  name: "forget_ended",
  lua: forgetEndedLua,
  flags: ["allow-oom"],
  keys: ({ keys: { number }, owner, requestIds, ownerMayReturn }) => [
    holdsKey(number, owner),
    ...(ownerMayReturn ? requestIds.map((id) => opKey(number, id)) : []),
  ],
  args: ({ requestIds }) => [pack(LATE_MS), ...requestIds],
  reply: () => {},
};

export interface ExtendArgs extends OwnerRef {
  readonly leaseMs: number;
  readonly requestIds: readonly string[];
}

/**
 * Extends the deadlines of holds without a process; returns the requests that have no hold any
 * more.
 */
export const extend: Script<ExtendArgs, readonly string[]> = {
  name: "extend",
  lua: extendLua,
  flags: ["allow-oom"],
  keys: ({ keys, owner }) => [keys.bucket, holdsKey(keys.number, owner)],
  args: (a) => [pack(a.nowMs, a.leaseMs), ...a.requestIds],
  reply: (raw) => (raw as readonly RawReply[]).map(String),
};

export interface ViewReply {
  readonly nowMs: number;
  /** The UTC month of `nowMs`, as 202611. */
  readonly month: number;
  readonly wallet: Wallet;
  readonly document: string;
  /** Null for a key that never made a call. */
  readonly key: KeyState | null;
}

/** Returns null if Redis has no such wallet. */
export const view: Script<Timed & OfAccount & { readonly keyId: string }, ViewReply | null> = {
  name: "view",
  lua: viewLua,
  flags: ["no-writes"],
  keys: ({ keys, keyId }) => [
    keys.bucket,
    keys.wallet,
    keys.document,
    keyStateKey(keys.number, keyId),
  ],
  args: (a) => [pack(a.nowMs)],
  reply: (raw) => (verdictOf(raw) === "ok" ? parseView(raw as readonly RawReply[]) : null),
};

function parseView([, time, wallet, document, key]: readonly RawReply[]): ViewReply {
  const [nowMs = 0, month = 0] = unpack(bytesOf(time));
  const keyBytes = bytesOf(key);
  return {
    nowMs,
    month,
    wallet: parseWallet(bytesOf(wallet)),
    document: String(document),
    key: keyBytes.length === 0 ? null : parseKeyState(keyBytes),
  };
}
