// The verbs of an admitted call as typed scripts; the header of each .lua file is its contract.

import { type NanoUsd, nano } from "../src/core/money.ts";
import type { Limit, Settlement } from "./account.ts";
import { holdKeys, opKey } from "./keys.ts";
import extendLua from "./lua/extend.lua" with { type: "text" };
import preludeLua from "./lua/prelude.lua" with { type: "text" };
import settleLua from "./lua/settle.lua" with { type: "text" };
import settleLateLua from "./lua/settle_late.lua" with { type: "text" };
import viewLua from "./lua/view.lua" with { type: "text" };
import { defineScript, type OfAccount, type RawReply, type Timed } from "./script.ts";
import { countingLua, limitKeys } from "./window.ts";

/** A settled call's answer is kept this long for a client library that sends the script again. */
const REPEAT_MS = 300_000;

type SettleReply = Settlement | null;

function parseSettlement(raw: RawReply): SettleReply {
  if (raw[0] !== "ok") return null;
  // Not said where the wallet is not here, nor by an answer that an older release kept.
  const left = raw[3] ? nano(String(raw[3])) : null;
  return { charged: nano(String(raw[1])), free: nano(String(raw[2])), left };
}

export interface SettleArgs extends OfAccount {
  readonly requestId: string;
  readonly cost: NanoUsd;
  readonly outcome: string;
}

export interface SettleOpenArgs extends SettleArgs {
  /** What goes back to the limits that the call counted against. */
  readonly unused: readonly (Pick<Limit, "name" | "kind"> & { readonly count: number })[];
}

/** Null when there is no such hold any more: see `settleLate`. */
export const settle = defineScript<SettleOpenArgs, SettleReply>(countingLua + settleLua, {
  keys: ({ account, keys, requestId, unused }) => [
    ...holdKeys(keys, requestId),
    ...limitKeys({ account, keys }, unused),
  ],
  args: (a) => [
    a.account,
    a.requestId,
    a.cost.toString(),
    a.outcome,
    REPEAT_MS,
    ...a.unused.flatMap(({ kind, count }) => [kind, count]),
  ],
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
