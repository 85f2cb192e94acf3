// The verbs of a wallet outside a call as typed scripts; each .lua file's header is its contract.

import { REFUSED_ROWS_PER_MINUTE } from "../src/core/limits.ts";
import type { NanoUsd } from "../src/core/money.ts";
import { type BucketKeys, holdKeys } from "./keys.ts";
import configureLua from "./lua/configure.lua" with { type: "text" };
import creditLua from "./lua/credit.lua" with { type: "text" };
import evictLua from "./lua/evict.lua" with { type: "text" };
import expireFreeLua from "./lua/expire_free.lua" with { type: "text" };
import hydrateLua from "./lua/hydrate.lua" with { type: "text" };
import preludeLua from "./lua/prelude.lua" with { type: "text" };
import pruneLua from "./lua/prune.lua" with { type: "text" };
import recoverLua from "./lua/recover.lua" with { type: "text" };
import summariseLua from "./lua/summarise.lua" with { type: "text" };
import sweepLua from "./lua/sweep.lua" with { type: "text" };
import { defineScript, type OfAccount, type Timed } from "./script.ts";

/** An expired call's answer is kept for an owner that comes back; longer than any call may run. */
const LATE_MS = 3_600_000;

export interface SweepArgs extends Timed, OfAccount {
  readonly requestId: string;
  readonly outcome: string;
}

export const sweep = defineScript<SweepArgs, "ok" | "alive" | "gone">(preludeLua + sweepLua, {
  keys: ({ keys, requestId }) => holdKeys(keys, requestId),
  args: (a) => [a.nowMs, a.account, a.requestId, a.outcome, LATE_MS],
  reply: ([verdict]) => verdict as "ok" | "alive" | "gone",
});

export interface CreditArgs extends Timed, OfAccount {
  readonly number: number;
  readonly purse: "paid" | "free";
  readonly amount: NanoUsd;
  readonly expiresAtMs: number | null;
}

export const credit = defineScript<CreditArgs, "ok" | "already" | "gap" | "hydrate">(
  preludeLua + creditLua,
  {
    keys: ({ keys }) => [keys.meta, keys.wallet, keys.journal],
    args: (a) => [a.nowMs, a.account, a.number, a.purse, a.amount.toString(), a.expiresAtMs ?? ""],
    reply: ([verdict]) => verdict as "ok" | "already" | "gap" | "hydrate",
  },
);

export interface ConfigureArgs extends OfAccount {
  readonly version: number;
  readonly document: string;
}

export const configure = defineScript<ConfigureArgs, "ok" | "absent">(preludeLua + configureLua, {
  keys: ({ keys }) => [keys.meta, keys.wallet],
  args: (a) => [a.version, a.document],
  reply: ([verdict]) => verdict as "ok" | "absent",
});

/** A credit as Postgres has it. */
export type Credit = Pick<CreditArgs, "number" | "purse" | "amount" | "expiresAtMs">;

export interface HydrateArgs extends Timed, OfAccount {
  readonly epoch: string;
  readonly evictions: string;
  readonly seq: number;
  readonly paid: NanoUsd;
  readonly free: NanoUsd;
  readonly freeExpiresAtMs: number | null;
  readonly credits: number;
  readonly version: number;
  readonly document: string;
  /** The credits that follow `credits`, in order. */
  readonly pending: readonly Credit[];
  /** Spending by month field: `s202611` and `s202611:key_…`. */
  readonly months: readonly (readonly [field: string, spent: NanoUsd])[];
}

export const hydrate = defineScript<HydrateArgs, "ok" | "present" | "again">(
  preludeLua + hydrateLua,
  {
    keys: ({ keys }) => [keys.meta, keys.wallet, keys.holds, keys.journal],
    args: (a) => [
      a.nowMs,
      a.account,
      a.epoch,
      a.evictions,
      a.seq,
      a.paid.toString(),
      a.free.toString(),
      a.freeExpiresAtMs ?? 0,
      a.credits,
      a.version,
      a.document,
      a.pending.length,
      ...a.pending.flatMap((credit) => [
        credit.number,
        credit.purse,
        credit.amount.toString(),
        credit.expiresAtMs ?? "",
      ]),
      ...a.months.flatMap(([field, spent]) => [field, spent.toString()]),
    ],
    reply: ([verdict]) => verdict as "ok" | "present" | "again",
  },
);

export interface EvictArgs extends Timed, OfAccount {
  readonly seq: number;
  readonly idleMs: number;
}

export const evict = defineScript<EvictArgs, "ok" | "kept">(preludeLua + evictLua, {
  keys: ({ keys }) => [keys.meta, keys.wallet, keys.holds],
  args: (a) => [a.nowMs, a.seq, a.idleMs],
  reply: ([verdict]) => verdict as "ok" | "kept",
});

export const prune = defineScript<Timed & OfAccount, number>(preludeLua + pruneLua, {
  keys: ({ keys }) => [keys.wallet],
  args: (a) => [a.nowMs],
  reply: ([, removed]) => Number(removed ?? 0),
});

export interface RecoverArgs {
  readonly keys: BucketKeys;
  readonly epoch: number;
  readonly entry: number;
}

export const recover = defineScript<RecoverArgs, "ok" | "newer">(preludeLua + recoverLua, {
  keys: ({ keys }) => [keys.meta, keys.leases, keys.refused, keys.journal],
  args: (a) => [a.epoch, a.entry],
  reply: ([verdict]) => verdict as "ok" | "newer",
});

export const summarise = defineScript<Timed & { readonly keys: BucketKeys }, number>(
  preludeLua + summariseLua,
  {
    keys: ({ keys }) => [keys.meta, keys.refused, keys.journal],
    args: (a) => [a.nowMs, REFUSED_ROWS_PER_MINUTE],
    reply: ([written]) => Number(written),
  },
);

export const expireFree = defineScript<Timed & OfAccount, "ok" | "hydrate">(
  preludeLua + expireFreeLua,
  {
    keys: ({ keys }) => [keys.meta, keys.wallet, keys.journal],
    args: (a) => [a.nowMs, a.account],
    reply: ([verdict]) => verdict as "ok" | "hydrate",
  },
);
