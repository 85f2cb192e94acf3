// The verbs of a call as typed scripts. The contract of each is the header of its .lua file.

import { BEFORE_WINDOW, type ErrorCode, isErrorCode } from "../src/core/errors.ts";
import { LEASE_MS, REFUSED_ROWS_PER_MINUTE } from "../src/core/limits.ts";
import { type NanoUsd, nano } from "../src/core/money.ts";
import type { Settlement } from "./hold.ts";
import { opKey, windowKey } from "./keys.ts";
import admitLua from "./lua/admit.lua" with { type: "text" };
import countLua from "./lua/count.lua" with { type: "text" };
import extendLua from "./lua/extend.lua" with { type: "text" };
import preludeLua from "./lua/prelude.lua" with { type: "text" };
import settleLua from "./lua/settle.lua" with { type: "text" };
import settleLateLua from "./lua/settle_late.lua" with { type: "text" };
import viewLua from "./lua/view.lua" with { type: "text" };
import { defineScript, type OfAccount, type RawReply, type Timed } from "./script.ts";

/** How a request window stands after a request. */
export interface WindowState {
  readonly remaining: number;
  readonly resetSeconds: number;
}

function parseWindow(
  remaining: RawReply[number] | undefined,
  resetMs: RawReply[number] | undefined,
): WindowState {
  return {
    remaining: Number(remaining),
    resetSeconds: Math.max(1, Math.ceil(Number(resetMs) / 1000)),
  };
}

/** A settled call's answer is kept this long for a client library that sends the script again. */
const REPEAT_MS = 300_000;
export interface AdmitArgs extends Timed, OfAccount {
  readonly version: number;
  readonly keyId: string;
  readonly requestId: string;
  readonly refusal: ErrorCode | null;
  readonly limit: number;
  readonly bound: NanoUsd;
  readonly freeEligible: boolean;
  readonly stream: boolean;
  readonly streamLimit: number;
  readonly cap: NanoUsd;
  readonly budget: NanoUsd | null;
  /** `tentative` may be answered `short` and is counted; `second` follows such an answer. */
  readonly attempt: "only" | "tentative" | "second";
  readonly facts: string;
  readonly elapsedMs: number;
}

export type AdmitReply =
  | {
      readonly verdict: "ok";
      readonly nowMs: number;
      readonly window: WindowState;
      readonly paid: NanoUsd;
      readonly free: NanoUsd;
      readonly admittedAtMs: number;
    }
  | { readonly verdict: "hydrate" }
  | { readonly verdict: "stale"; readonly version: number; readonly document: string }
  | { readonly verdict: "short"; readonly spendable: NanoUsd }
  | {
      readonly verdict: "refused";
      readonly code: ErrorCode;
      readonly nowMs: number;
      readonly window: WindowState;
      readonly spendable: NanoUsd;
    };

export const admit = defineScript<AdmitArgs, AdmitReply>(preludeLua + admitLua, {
  keys: ({ keys, keyId, requestId }) => [
    keys.meta,
    keys.wallet,
    keys.holds,
    keys.leases,
    windowKey(keys.bucket, keyId),
    keys.refused,
    opKey(keys.bucket, requestId),
    keys.journal,
  ],
  args: (a) => [
    a.nowMs,
    a.version,
    a.account,
    a.keyId,
    a.requestId,
    a.refusal ?? "",
    a.refusal !== null && BEFORE_WINDOW.has(a.refusal) ? 1 : 0,
    a.limit,
    a.bound.toString(),
    a.freeEligible ? 1 : 0,
    a.stream ? 1 : 0,
    a.streamLimit,
    a.cap.toString(),
    a.budget === null ? "" : a.budget.toString(),
    LEASE_MS,
    a.attempt,
    a.facts,
    a.elapsedMs,
    REFUSED_ROWS_PER_MINUTE,
  ],
  reply: (raw) => parseAdmit(raw),
});

function parseAdmit(raw: RawReply): AdmitReply {
  const verdict = String(raw[0]);
  if (verdict === "hydrate") return { verdict };
  if (verdict === "stale") {
    return { verdict, version: Number(raw[1]), document: String(raw[2]) };
  }
  if (verdict === "short") return { verdict, spendable: nano(String(raw[1])) };
  const nowMs = Number(raw[1]);
  const window = parseWindow(raw[2], raw[3]);
  if (verdict === "ok") {
    return {
      verdict,
      nowMs,
      window,
      paid: nano(String(raw[4])),
      free: nano(String(raw[5])),
      admittedAtMs: Number(raw[6]),
    };
  }
  if (!isErrorCode(verdict)) throw new Error(`The admit script answered '${verdict}'`);
  return {
    verdict: "refused",
    code: verdict,
    nowMs,
    window,
    spendable: nano(String(raw[4])),
  };
}

type SettleReply = Settlement | null;

function parseSettlement(raw: RawReply): SettleReply {
  if (raw[0] !== "ok") return null;
  return { charged: nano(String(raw[1])), free: nano(String(raw[2])) };
}

export interface SettleArgs extends OfAccount {
  readonly requestId: string;
  readonly cost: NanoUsd;
  readonly outcome: string;
}

/** Null when there is no such hold any more: see `settleLate`. */
export const settle = defineScript<SettleArgs, SettleReply>(preludeLua + settleLua, {
  keys: ({ keys, requestId }) => [
    keys.meta,
    keys.wallet,
    keys.holds,
    keys.leases,
    opKey(keys.bucket, requestId),
    keys.journal,
  ],
  args: (a) => [a.account, a.requestId, a.cost.toString(), a.outcome, REPEAT_MS],
  reply: parseSettlement,
});

export interface SettleLateArgs extends Timed, SettleArgs {
  readonly keyId: string;
  readonly admittedAtMs: number;
  readonly cap: NanoUsd;
  readonly budget: NanoUsd | null;
  readonly facts: string;
}

export const settleLate = defineScript<SettleLateArgs, SettleReply>(preludeLua + settleLateLua, {
  keys: ({ keys, requestId }) => [
    keys.meta,
    keys.wallet,
    opKey(keys.bucket, requestId),
    keys.journal,
  ],
  args: (a) => [
    a.nowMs,
    a.account,
    a.keyId,
    a.requestId,
    a.admittedAtMs,
    a.cost.toString(),
    a.cap.toString(),
    a.budget === null ? "" : a.budget.toString(),
    a.facts,
    a.outcome,
    REPEAT_MS,
  ],
  reply: parseSettlement,
});

export interface ExtendArgs extends Timed, OfAccount {
  readonly version: number;
  readonly leaseMs: number;
  readonly calls: readonly { readonly requestId: string; readonly checkpoint: NanoUsd }[];
}

export interface ExtendReply {
  /** Set when the access document is another than the caller's. */
  readonly newer: { readonly version: number; readonly document: string } | null;
  readonly lost: readonly string[];
}

export const extend = defineScript<ExtendArgs, ExtendReply>(preludeLua + extendLua, {
  keys: ({ keys }) => [keys.meta, keys.wallet, keys.holds, keys.leases],
  args: (a) => [
    a.nowMs,
    a.version,
    a.account,
    a.leaseMs,
    ...a.calls.flatMap((call) => [call.requestId, call.checkpoint.toString()]),
  ],
  reply: ([version, document, ...lost]) => ({
    newer: document ? { version: Number(version), document: String(document) } : null,
    lost: lost.map(String),
  }),
});

export interface ViewReply {
  readonly nowMs: number;
  readonly month: number;
  readonly version: number;
  readonly document: string;
  readonly paid: NanoUsd;
  readonly free: NanoUsd;
  readonly freeExpiresAtMs: number | null;
  readonly heldPaid: NanoUsd;
  readonly heldFree: NanoUsd;
  readonly streams: number;
  readonly spent: NanoUsd;
  readonly held: NanoUsd;
  readonly keySpent: NanoUsd;
  readonly keyHeld: NanoUsd;
  readonly seq: number;
  readonly credits: number;
}

/** Null when the wallet is not here. */
export const view = defineScript<Timed & OfAccount & { readonly keyId: string }, ViewReply | null>(
  preludeLua + viewLua,
  {
    keys: ({ keys }) => [keys.meta, keys.wallet],
    args: (a) => [a.nowMs, a.keyId],
    reply: (raw) => (raw[0] === "ok" ? parseView(raw.map(String)) : null),
  },
);

function parseView(raw: readonly string[]): ViewReply {
  const at = (index: number) => raw[index] ?? "0";
  return {
    nowMs: Number(at(1)),
    month: Number(at(2)),
    version: Number(at(3)),
    document: at(4),
    paid: nano(at(5)),
    free: nano(at(6)),
    freeExpiresAtMs: Number(at(7)) || null,
    heldPaid: nano(at(8)),
    heldFree: nano(at(9)),
    streams: Number(at(10)),
    spent: nano(at(11)),
    held: nano(at(12)),
    keySpent: nano(at(13)),
    keyHeld: nano(at(14)),
    seq: Number(at(15)),
    credits: Number(at(16)),
  };
}

export interface CountReply extends WindowState {
  readonly allowed: boolean;
}

export const count = defineScript<
  Timed & { readonly key: string; readonly limit: number },
  CountReply
>(preludeLua + countLua, {
  keys: ({ key }) => [key],
  args: (a) => [a.nowMs, a.limit],
  reply: ([allowed, remaining, resetMs]) => ({
    allowed: Number(allowed) === 1,
    ...parseWindow(remaining, resetMs),
  }),
});
