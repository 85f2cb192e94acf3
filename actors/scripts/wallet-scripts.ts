// Scripts for wallets outside of calls, typed. The header of each .lua file is its contract.

import { REFUSED_ROWS_PER_MINUTE } from "../../src/core/access/limits.ts";
import type { Operation } from "../../src/core/journal/journal.ts";
import { markerContent } from "../../src/core/journal/marker.ts";
import type { FreeEnds } from "../../src/core/money/free-lots.ts";
import { type NanoUsd, toDouble } from "../../src/core/money/money.ts";
import type { ExpiredFree } from "../../src/store/accounts/pending-work.ts";
import type { StoredMarker } from "../../src/store/accounts/stored-markers.ts";
import type { EvictionRecord, WalletRecord } from "../../src/store/accounts/wallet-repository.ts";
import applyOperationLua from "../lua/apply_operation.lua" with { type: "text" };
import configureLua from "../lua/configure.lua" with { type: "text" };
import countRefusedLua from "../lua/count_refused.lua" with { type: "text" };
import evictLua from "../lua/evict.lua" with { type: "text" };
import expireFreeLua from "../lua/expire_free.lua" with { type: "text" };
import forgetBudgetsLua from "../lua/forget_budgets.lua" with { type: "text" };
import hydrateLua from "../lua/hydrate.lua" with { type: "text" };
import loadBudgetsLua from "../lua/load_budgets.lua" with { type: "text" };
import loadMarkersLua from "../lua/load_markers.lua" with { type: "text" };
import recoverLua from "../lua/recover.lua" with { type: "text" };
import summariseLua from "../lua/summarise.lua" with { type: "text" };
import {
  accountKeys,
  type BucketKeys,
  bucketKeys,
  keyStateKey,
  markerKey,
} from "../records/keys.ts";
import type { Argument } from "../redis/script-client.ts";
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

export interface OperationArgs extends Timed, OfAccount {
  readonly operation: Operation;
}

export const applyOperation: Script<OperationArgs, "ok" | "already" | "gap" | "hydrate"> = {
  name: "apply_operation",
  lua: applyOperationLua,
  flags: ["allow-oom"],
  keys: ({ keys }) => [keys.bucket, keys.wallet, keys.events],
  args: ({ nowMs, account, operation }) => [
    pack(nowMs, ...figuresOf(operation)),
    account,
    operation.kind,
    operation.balance,
  ],
  reply: (raw) => verdictOf(raw) as "ok" | "already" | "gap" | "hydrate",
};

function figuresOf({ number, amount, expiresAtMs, createdAtMs }: Operation): number[] {
  return [number, Number(amount), expiresAtMs ?? 0, createdAtMs];
}

export interface ConfigureArgs extends OfAccount {
  readonly version: number;
  readonly document: string;
}

export const configure: Script<ConfigureArgs, "ok" | "absent"> = {
  name: "configure",
  lua: configureLua,
  flags: ["allow-oom"],
  keys: ({ keys }) => [keys.bucket, keys.wallet, keys.document],
  args: (a) => [pack(a.version), a.document],
  reply: (raw) => verdictOf(raw) as "ok" | "absent",
};

/** The spending of a key in two UTC months, such as 202611. */
export interface KeySpending {
  readonly key: string;
  readonly month: number;
  readonly spent: NanoUsd;
  readonly monthBefore: number;
  readonly spentBefore: NanoUsd;
}

export interface HydrateArgs
  extends Timed,
    OfAccount,
    Omit<WalletRecord, "months" | "missing" | "grants"> {
  readonly freeEnds: FreeEnds;
  readonly epoch: number;
  readonly evictions: number;
  /** The operations that the ledger lacks, in order. */
  readonly pending: readonly Operation[];
  readonly spending: readonly KeySpending[];
}

export const hydrate: Script<HydrateArgs, "ok" | "present" | "again"> = {
  name: "hydrate",
  lua: hydrateLua,
  flags: [],
  keys: ({ keys, spending }) => [
    keys.bucket,
    keys.wallet,
    keys.document,
    keys.events,
    ...spending.map(({ key }) => keyStateKey(keys.number, key)),
  ],
  args: (a) => [
    pack(
      a.nowMs,
      a.epoch,
      a.evictions,
      a.seq,
      toDouble(a.paid),
      toDouble(a.free),
      toDouble(a.owed),
      a.freeEnds.lastMs,
      a.operations,
      a.version,
      a.pending.length,
      ...a.freeEnds.earlier.flatMap(({ atMs, later, lowered, countedMs }) => {
        return [atMs, Number(later), 0, Number(lowered), countedMs];
      }),
    ),
    a.account,
    a.document,
    ...a.pending.flatMap((operation): Argument[] => [
      operation.kind,
      operation.balance,
      pack(...figuresOf(operation)),
    ]),
    ...a.spending.map(({ month, spent, monthBefore, spentBefore }) =>
      pack(month, toDouble(spent), monthBefore, toDouble(spentBefore)),
    ),
  ],
  reply: (raw) => verdictOf(raw) as "ok" | "present" | "again",
};

/** The newest span of a budget that Postgres knows, and the one before; -1 where there is none. */
export interface BudgetSpans {
  readonly number: number;
  readonly startMs: number;
  readonly spent: NanoUsd;
  readonly previousStartMs: number;
  readonly previousSpent: NanoUsd;
}

export interface LoadBudgetsArgs extends OfAccount {
  readonly epoch: number;
  readonly evictions: number;
  /** The count of `forget_budgets.lua` for this account, read before the rows of Postgres. */
  readonly forgotten: number;
  readonly budgets: readonly BudgetSpans[];
}

export const loadBudgets: Script<LoadBudgetsArgs, "ok" | "again" | "hydrate"> = {
  name: "load_budgets",
  lua: loadBudgetsLua,
  flags: ["allow-oom"],
  keys: ({ keys }) => [keys.bucket, keys.wallet, keys.budgets, keys.forgotten],
  args: ({ epoch, evictions, forgotten, budgets }) => [
    pack(epoch, evictions, forgotten),
    ...budgets.flatMap((b): Argument[] => [
      `${b.number}`,
      pack(b.startMs, toDouble(b.spent), b.previousStartMs, toDouble(b.previousSpent)),
    ]),
  ],
  reply: (raw) => verdictOf(raw) as "ok" | "again" | "hydrate",
};

/** A budget that no call needs now, and its spending by the ledger. */
export interface SpentBudget {
  readonly number: number;
  readonly accountId: string;
  /** The start of the newest span; 0 for a run. */
  readonly startMs: number;
  readonly spent: NanoUsd;
  /** The spending in the span that Redis has as the one before. */
  readonly previousSpent: NanoUsd;
}

export interface ForgetBudgetsArgs {
  readonly bucket: number;
  /** The budgets to remove, all of accounts of this bucket. */
  readonly budgets: readonly SpentBudget[];
}

/**
 * Forgets budgets. Returns for each budget false if the budget stays, because Redis has more holds
 * or charges of it.
 */
export const forgetBudgets: Script<ForgetBudgetsArgs, readonly boolean[]> = {
  name: "forget_budgets",
  lua: forgetBudgetsLua,
  flags: ["allow-oom"],
  keys: ({ bucket, budgets }) => [
    bucketKeys(bucket).bucket,
    ...budgets.flatMap(({ accountId }) => {
      const keys = accountKeys(accountId, bucket);
      return [keys.budgets, keys.forgotten];
    }),
  ],
  args: ({ budgets }) =>
    budgets.map(({ number, startMs, spent, previousSpent }) =>
      pack(number, startMs, toDouble(spent), toDouble(previousSpent)),
    ),
  reply: (raw) =>
    [...bytesOf((raw as readonly RawReply[])[1]).toString()].map((one) => one === "1"),
};

export interface LoadMarkersArgs extends OfAccount {
  readonly epoch: number;
  readonly markers: readonly StoredMarker[];
  /** True if Redis then has all markers of the account. */
  readonly isLast: boolean;
}

export const loadMarkers: Script<LoadMarkersArgs, "ok" | "again"> = {
  name: "load_markers",
  lua: loadMarkersLua,
  flags: ["allow-oom"],
  keys: ({ keys, markers }) => [
    keys.bucket,
    keys.marked,
    ...markers.map(({ marker }) => markerKey(keys.number, marker)),
  ],
  args: ({ epoch, isLast, markers }) => [
    pack(epoch, isLast ? 1 : 0),
    ...markers.flatMap(({ marker, requestIds, leftMs }): Argument[] => [
      markerContent(marker) + requestIds.join(" "),
      pack(leftMs),
    ]),
  ],
  reply: (raw) => verdictOf(raw) as "ok" | "again",
};

export interface EvictArgs extends Timed, OfAccount, EvictionRecord {
  readonly idleMs: number;
}

export const evict: Script<EvictArgs, "ok" | "kept"> = {
  name: "evict",
  lua: evictLua,
  flags: ["allow-oom"],
  keys: ({ keys, keyIds }) => [
    keys.bucket,
    keys.wallet,
    keys.document,
    keys.budgets,
    ...keyIds.map((id) => keyStateKey(keys.number, id)),
  ],
  args: (a) => [pack(a.nowMs, a.seq, a.idleMs)],
  reply: (raw) => verdictOf(raw) as "ok" | "kept",
};

export interface RecoverArgs {
  readonly keys: BucketKeys;
  readonly epoch: number;
}

export const recover: Script<RecoverArgs, "ok" | "newer"> = {
  name: "recover",
  lua: recoverLua,
  flags: [],
  keys: ({ keys }) => [keys.bucket, keys.refused, keys.events],
  args: (a) => [pack(a.epoch)],
  reply: (raw) => verdictOf(raw) as "ok" | "newer",
};

export const summarise: Script<Timed & { readonly keys: BucketKeys }, number> = {
  name: "summarise",
  lua: summariseLua,
  flags: [],
  keys: ({ keys }) => [keys.bucket, keys.refused, keys.events],
  args: (a) => [pack(a.nowMs, REFUSED_ROWS_PER_MINUTE)],
  reply: (raw) => Number((raw as readonly RawReply[])[0]),
};

export interface CountRefusedArgs {
  readonly keys: BucketKeys;
  /** Minutes since 1970. */
  readonly minute: number;
  readonly refusals: number;
  readonly account: string;
  readonly keyId: string;
  readonly metadata: string;
  /** Names these refusals, so that they count once however often they are sent. */
  readonly name: string;
}

export const countRefused: Script<CountRefusedArgs, "ok"> = {
  name: "count_refused",
  lua: countRefusedLua,
  flags: [],
  keys: ({ keys }) => [keys.bucket, keys.refused],
  args: (a) => [pack(a.minute, a.refusals), a.account, a.keyId, a.metadata, a.name],
  reply: (raw) => verdictOf(raw) as "ok",
};

export interface ExpireFreeArgs extends Timed, OfAccount {
  /** The time of Postgres, which must agree that a lot has ended. */
  readonly byMs: number;
}

export const expireFree: Script<ExpireFreeArgs, ExpiredFree | "hydrate"> = {
  name: "expire_free",
  lua: expireFreeLua,
  flags: ["allow-oom"],
  keys: ({ keys }) => [keys.bucket, keys.wallet, keys.events],
  args: (a) => [pack(a.nowMs, a.byMs), a.account],
  reply(raw) {
    const [verdict, numbers] = raw as readonly RawReply[];
    if (String(verdict) !== "ok") return "hydrate";
    const [seq = 0, held = 0, byMs = 0] = unpack(bytesOf(numbers));
    return { seq, isHeld: held > 0, byMs };
  },
};
