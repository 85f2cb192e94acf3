// Admission as a typed script. The contract is the header of admit.lua.

import { BUDGET_OWNERS, type Budget, NO_BUDGETS, SPANS } from "../../src/core/access/budgets.ts";
import type { AccessRefusal } from "../../src/core/access/key-limits.ts";
import { LEASE_MS, REFUSED_ROWS_PER_MINUTE, type Tier } from "../../src/core/access/limits.ts";
import { BEFORE_WINDOW, type ErrorCode, isErrorCode } from "../../src/core/errors.ts";
import { type NanoUsd, nanoOf, toDouble } from "../../src/core/money/money.ts";
import type { Asking, CallTerms, Limit, RateLimits } from "../account.ts";
import admitLua from "../lua/admit.lua" with { type: "text" };
import { callKeys, markerKey, opKey } from "../records/keys.ts";
import { inSeconds, withLimitKeys } from "../records/window.ts";
import type { Argument, Keys } from "../redis/script-client.ts";
import { type HoldRef, markerContents } from "./call-scripts.ts";
import {
  bytesOf,
  pack,
  type RawReply,
  type Script,
  type Timed,
  unpack,
  verdictOf,
} from "./script.ts";

/**
 * The time after which Redis no longer takes an admission that was sent. The process has given the
 * admission up by then. The records of a call that ended stay longer (process-leases.ts), so a copy
 * of its admission finds these records, or comes too late.
 */
export const ADMISSION_VALID_MS = 7_500;

/** The numbers by which admit.lua knows the attempts. A quote is the attempt of no call. */
const ATTEMPTS = {
  only: 0,
  tentative: 1,
  counted: 2,
  open: 3,
  ahead: 4,
  countedTentative: 5,
  quote: 6,
} as const;

/** Replaces the deadline of a brief call, whose hold does not count as an open call. */
const BRIEF = -1;

/** The arguments of the script: the attempt, and all that its actor has decided about it. */
export interface AdmitArgs extends Timed, Asking {
  /** True for a quote, which takes no hold. */
  readonly isQuote: boolean;
  readonly ref: HoldRef;
  /** The time of sending by Redis's clock, as this process estimates it. */
  readonly aboutMs: number;
  /** The version of the access document. */
  readonly version: number;
  /** The refusal by the access document; null if the document admits the call. */
  readonly refusal: Pick<AccessRefusal, "code"> | null;
  readonly tier: Tier;
  /** The requests of its key in any 60 seconds. */
  readonly windowLimit: number;
  readonly limits: readonly Limit[];
  readonly cap: NanoUsd;
  readonly budget: NanoUsd | null;
  /** The budgets that count the call, in the order of the error table. */
  readonly budgets: readonly Budget[];
  /** The markers of the idempotency key by each secret; the call claims the first. */
  readonly markers: readonly string[];
  /** Account, key and metadata between tabs. */
  readonly text: string;
}

export type AdmitReply =
  | {
      readonly verdict: "ok";
      readonly nowMs: number;
      readonly rate: RateLimits;
      readonly paid: NanoUsd;
      readonly free: NanoUsd;
      readonly admittedAtMs: number;
      /** The start of the span of each budget, in the order of the budgets. */
      readonly spanStarts: readonly number[];
    }
  | { readonly verdict: "hydrate" }
  | { readonly verdict: "budgets" }
  | { readonly verdict: "markers" }
  | { readonly verdict: "stale" }
  | { readonly verdict: "begin" }
  | { readonly verdict: "lease" }
  | { readonly verdict: "late"; readonly nowMs: number }
  | { readonly verdict: "short"; readonly spendable: NanoUsd }
  | RefusedReply
  | QuoteReply;

export type QuoteReply = RefusalNumbers & {
  readonly verdict: "quote";
  readonly code: ErrorCode | null;
  /** The tokens left within the limits of the key; null for a key without such limits. */
  readonly tokensLeft: number | null;
  readonly binding: BindingNumbers;
};

/** Limits by the numbers that the script gives them in a quote. */
const BINDING = ["balance", "cap", "key_month", "budget"] as const;

/** The limit that leaves the least to hold. */
interface BindingNumbers extends Pick<RefusalNumbers, "byBudget" | "left" | "renewsAtMs"> {
  readonly limit: (typeof BINDING)[number];
}

/** Limits by the numbers that the script gives them in a refusal. */
const REFUSED_BY = [null, "calls", "tokens", "requests_day", "tokens_day"] as const;

/** The figures that a refusal gives. */
interface RefusalNumbers {
  readonly nowMs: number;
  readonly rate: RateLimits;
  readonly spendable: NanoUsd;
  /** The time until the exceeded limit has room again. */
  readonly retrySeconds: number;
  /** Set if one of these limits refused the call. */
  readonly refusedBy: (typeof REFUSED_BY)[number];
  /** The place of the budget that refused the call, from 0 on; null if none did. */
  readonly byBudget: number | null;
  /** The part of the cap or budget that is left. */
  readonly left: NanoUsd;
  /** The end of that budget's span, ms; null if there is none. */
  readonly renewsAtMs: number | null;
}

export type RefusedReply = RefusalNumbers & {
  readonly verdict: "refused";
  readonly code: ErrorCode;
  /** The requests that have the idempotency key of a call that was refused for this key. */
  readonly markedBy?: string;
};

export const admit: Script<AdmitArgs, AdmitReply> = {
  name: "admit",
  lua: admitLua,
  flags: [],
  keys: ({ ref, limits, markers }) => {
    const { keys, requestId } = ref;
    const names: Keys[] = [callKeys(ref), opKey(keys.number, requestId), keys.refused];
    if (markers.length > 0) names.push(keys.marked);
    for (const marker of markers) names.push(markerKey(keys.number, marker));
    withLimitKeys(names, ref, limits);
    if (ref.hasBudgets) names.push(keys.budgets);
    return names;
  },
  args: (a) => {
    const refusal = a.refusal?.code ?? a.terms.refusal?.code ?? null;
    const numbers = packNumbers(a, refusal);
    const args: Argument[] = [
      refusal === null ? numbers : Buffer.concat([numbers, Buffer.from(refusal)]),
      a.ref.requestId,
      a.text,
    ];
    if (a.markers.length > 0) args.push(markerContents(a.markers, a.ref.partOf));
    for (const { kind, max, weight, code } of a.limits) args.push(kind, max, weight, code);
    if (a.ref.hasBudgets) args.push(packBudgets(a.budgets));
    return args;
  },
  reply: (raw) => parseAdmit(raw),
};

function packBudgets(budgets: readonly Budget[]): Buffer {
  return pack(
    ...budgets.flatMap(({ number, span, amount, of }) => [
      number,
      SPANS.indexOf(span) + 1,
      toDouble(amount),
      BUDGET_OWNERS.indexOf(of) + 1,
    ]),
  );
}

function packNumbers(args: AdmitArgs, refusal: ErrorCode | null): Buffer {
  const { terms, elapsedMs, tier, windowLimit, nowMs, aboutMs, version, cap, budget } = args;
  return pack(
    nowMs,
    version,
    windowLimit,
    toDouble(terms.bound),
    terms.freeEligible ? 1 : 0,
    terms.stream ? 1 : 0,
    tier.streams,
    tier.openCalls,
    toDouble(cap),
    budget === null ? -1 : toDouble(budget),
    deadlineOf(terms),
    rankOf(refusal),
    ATTEMPTS[args.isQuote ? "quote" : attemptOf(args)],
    REFUSED_ROWS_PER_MINUTE,
    Math.round(elapsedMs),
    nowMs || aboutMs,
    ADMISSION_VALID_MS,
    args.markers.length === 0 ? 0 : 1 + args.markers.length,
  );
}

function deadlineOf({ isDetached, isBrief }: Pick<CallTerms, "isDetached" | "isBrief">): number {
  if (isDetached === true) return LEASE_MS;
  return isBrief === true ? BRIEF : 0;
}

/** Says whether a refusal precedes the request window, and the debt of an account. */
function rankOf(refusal: ErrorCode | null): 0 | 1 | 2 {
  if (refusal === null || !BEFORE_WINDOW.has(refusal)) return 0;
  return refusal === "invalid_api_key" || refusal === "account_inactive" ? 2 : 1;
}

/**
 * `tentative` counts the request and may return `short`; `counted` follows such a reply. `open` is
 * the only attempt of a request that an account may make although it owes. `ahead` comes before the
 * body: it counts the request and returns `short`; the next attempts of the request are
 * `countedTentative` or `counted`.
 */
function attemptOf({ call, terms }: Asking): keyof typeof ATTEMPTS {
  const { tentative, counted = call.ahead === "counted", isAhead, isOpen } = terms;
  if (isAhead) return "ahead";
  if (tentative) return counted ? "countedTentative" : "tentative";
  if (counted) return "counted";
  return isOpen ? "open" : "only";
}

/** The numbers of a reply that admits a call, before those of its budgets. */
const ADMITTED_NUMBERS = 7;

const TO_REPEAT = ["hydrate", "stale", "budgets", "markers", "begin", "lease"] as const;
export type ToRepeat = (typeof TO_REPEAT)[number];

function isToRepeat(verdict: string | null): verdict is ToRepeat {
  return (TO_REPEAT as readonly (string | null)[]).includes(verdict);
}

function parseAdmit(raw: RawReply): AdmitReply {
  if (raw instanceof Buffer) {
    const numbers = unpack(raw);
    const [nowMs = 0, limit = 0, remaining = 0, resetMs = 0, paid = 0, free = 0, admittedAtMs = 0] =
      numbers;
    return {
      verdict: "ok",
      nowMs,
      rate: { limit, remaining, resetSeconds: inSeconds(resetMs) },
      paid: nanoOf(paid),
      free: nanoOf(free),
      admittedAtMs,
      spanStarts: numbers.length > ADMITTED_NUMBERS ? numbers.slice(ADMITTED_NUMBERS) : NO_BUDGETS,
    };
  }
  const verdict = verdictOf(raw);
  const [, first] = raw as readonly RawReply[];
  if (isToRepeat(verdict)) return { verdict };
  const numbers = unpack(bytesOf(first));
  if (verdict === "late") return { verdict, nowMs: numbers[0] ?? 0 };
  if (verdict === "short") return { verdict, spendable: nanoOf(numbers[0] ?? 0) };
  if (verdict === "quote") {
    const [, , code] = raw as readonly RawReply[];
    const [left = -1, kind = 0, ...limit] = numbers.slice(REFUSAL_NUMBERS);
    const tokensLeft = left < 0 ? null : left;
    const binding = { limit: BINDING[kind] ?? "balance", ...limitNumbers(limit) };
    const decision = { code: codeOf(String(code)), tokensLeft, binding };
    return { verdict, ...decision, ...refusalNumbers(numbers) };
  }
  if (verdict === null || !isErrorCode(verdict)) {
    throw new Error(`The admit script answered '${verdict}'`);
  }
  const markedBy = bytesOf(first).toString("latin1", REFUSAL_BYTES);
  const refused = { verdict: "refused", code: verdict, ...refusalNumbers(numbers) } as const;
  return markedBy === "" ? refused : { ...refused, markedBy };
}

/** The numbers of a refusal; a request id may follow. */
const REFUSAL_NUMBERS = 10;
const REFUSAL_BYTES = 8 * REFUSAL_NUMBERS;

/** The refusal of a quoted call; null if the call would be admitted. */
function codeOf(text: string): ErrorCode | null {
  if (text === "") return null;
  if (!isErrorCode(text)) throw new Error(`The admit script quoted '${text}'`);
  return text;
}

function refusalNumbers(numbers: readonly number[]): RefusalNumbers {
  const [
    nowMs = 0,
    limit = 0,
    remaining = 0,
    resetMs = 0,
    spendable = 0,
    retryMs = 0,
    by = 0,
    ...budget
  ] = numbers;
  return {
    nowMs,
    rate: { limit, remaining, resetSeconds: inSeconds(resetMs) },
    spendable: nanoOf(spendable),
    retrySeconds: inSeconds(retryMs),
    refusedBy: REFUSED_BY[by] ?? null,
    ...limitNumbers(budget),
  };
}

/** The numbers of a cap or budget, as `limit_numbers` of budgets.lua packs them. */
function limitNumbers([place = 0, left = 0, renewsAtMs = 0]: readonly number[]) {
  return {
    byBudget: place === 0 ? null : place - 1,
    left: nanoOf(left),
    renewsAtMs: renewsAtMs || null,
  };
}
