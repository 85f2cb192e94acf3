// Admission as a typed script. Its contract is the header of admit.lua.

import { REFUSED_ROWS_PER_MINUTE } from "../../src/core/access/limits.ts";
import { BEFORE_WINDOW, type ErrorCode, isErrorCode } from "../../src/core/errors.ts";
import { type NanoUsd, nanoOf, toDouble } from "../../src/core/money/money.ts";
import type { AdmissionRequest, Limit, RateLimits } from "../account.ts";
import admitLua from "../lua/admit.lua" with { type: "text" };
import { callKeys, opKey } from "../records/keys.ts";
import { inSeconds, withLimitKeys } from "../records/window.ts";
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

/**
 * How long after it was sent Redis still takes an admission. Its process has given it up by then.
 * What a call leaves in Redis when it ends stays for longer (process-leases.ts), so a copy of its
 * admission finds that, or comes too late.
 */
export const ADMISSION_VALID_MS = 7_500;

/** The numbers by which admit.lua knows the attempts. */
const ATTEMPTS = {
  only: 0,
  tentative: 1,
  counted: 2,
  open: 3,
  ahead: 4,
  countedTentative: 5,
} as const;

export interface AdmitArgs extends Timed, OfAccount {
  /** Redis's time as this process estimates it: when this is sent. */
  readonly aboutMs: number;
  readonly version: number;
  readonly keyId: string;
  readonly requestId: string;
  readonly owner: string;
  /** For a hold that belongs to no process; otherwise 0. */
  readonly deadlineMs: number;
  readonly refusal: ErrorCode | null;
  readonly limit: number;
  readonly bound: NanoUsd;
  readonly freeEligible: boolean;
  readonly stream: boolean;
  readonly streamLimit: number;
  readonly callLimit: number;
  readonly cap: NanoUsd;
  readonly budget: NanoUsd | null;
  /**
   * `tentative` counts the request and may return `short`; `counted` follows such a reply. `open`
   * is the only attempt of a request that an account may make although it owes. `ahead` comes
   * before the body: it counts the request and returns `short`; the next attempts of the request
   * are `countedTentative` or `counted`.
   */
  readonly attempt: keyof typeof ATTEMPTS;
  /** Account, key and metadata between tabs. */
  readonly text: string;
  readonly elapsedMs: number;
  readonly limits: readonly Limit[];
}

export type AdmitReply =
  | {
      readonly verdict: "ok";
      readonly nowMs: number;
      readonly rate: RateLimits;
      readonly paid: NanoUsd;
      readonly free: NanoUsd;
      readonly admittedAtMs: number;
    }
  | { readonly verdict: "hydrate" }
  | { readonly verdict: "stale" }
  | { readonly verdict: "lease" }
  | { readonly verdict: "late"; readonly nowMs: number }
  | { readonly verdict: "short"; readonly spendable: NanoUsd }
  | {
      readonly verdict: "refused";
      readonly code: ErrorCode;
      readonly nowMs: number;
      readonly rate: RateLimits;
      readonly spendable: NanoUsd;
      /** How long until the exceeded limit has room again. */
      readonly retrySeconds: number;
      /** True if the limit of open calls refused the call. */
      readonly byOpenCalls: boolean;
    };

export const admit: Script<AdmitArgs, AdmitReply> = {
  name: "admit",
  lua: admitLua,
  flags: [],
  keys: (a) => {
    const { keys, requestId, limits } = a;
    const names = [callKeys(a), opKey(keys.number, requestId), keys.refused];
    return withLimitKeys(names, a, limits);
  },
  args: (a) => {
    const numbers = packNumbers(a);
    const args: Argument[] = [
      a.refusal === null ? numbers : Buffer.concat([numbers, Buffer.from(a.refusal)]),
      a.requestId,
      a.text,
    ];
    for (const { kind, max, weight, code } of a.limits) args.push(kind, max, weight, code);
    return args;
  },
  reply: (raw) => parseAdmit(raw),
};

function packNumbers(a: AdmitArgs): Buffer {
  return pack(
    a.nowMs,
    a.version,
    a.limit,
    toDouble(a.bound),
    a.freeEligible ? 1 : 0,
    a.stream ? 1 : 0,
    a.streamLimit,
    a.callLimit,
    toDouble(a.cap),
    a.budget === null ? -1 : toDouble(a.budget),
    a.deadlineMs,
    a.refusal !== null && BEFORE_WINDOW.has(a.refusal) ? 1 : 0,
    ATTEMPTS[a.attempt],
    REFUSED_ROWS_PER_MINUTE,
    a.elapsedMs,
    a.nowMs || a.aboutMs,
    ADMISSION_VALID_MS,
  );
}

/** Which attempt of its request an admission is. */
export function attemptOf({
  tentative,
  counted,
  isAhead,
  isOpen,
}: AdmissionRequest): AdmitArgs["attempt"] {
  if (isAhead) return "ahead";
  if (tentative) return counted ? "countedTentative" : "tentative";
  if (counted) return "counted";
  return isOpen ? "open" : "only";
}

function parseAdmit(raw: RawReply): AdmitReply {
  if (raw instanceof Buffer) {
    const [nowMs = 0, limit = 0, remaining = 0, resetMs = 0, paid = 0, free = 0, admittedAtMs = 0] =
      unpack(raw);
    return {
      verdict: "ok",
      nowMs,
      rate: { limit, remaining, resetSeconds: inSeconds(resetMs) },
      paid: nanoOf(paid),
      free: nanoOf(free),
      admittedAtMs,
    };
  }
  const verdict = verdictOf(raw);
  const [, first] = raw as readonly RawReply[];
  if (verdict === "hydrate" || verdict === "stale" || verdict === "lease") return { verdict };
  const numbers = unpack(bytesOf(first));
  if (verdict === "late") return { verdict, nowMs: numbers[0] ?? 0 };
  if (verdict === "short") return { verdict, spendable: nanoOf(numbers[0] ?? 0) };
  if (verdict === null || !isErrorCode(verdict)) {
    throw new Error(`The admit script answered '${verdict}'`);
  }
  const [
    nowMs = 0,
    limit = 0,
    remaining = 0,
    resetMs = 0,
    spendable = 0,
    retryMs = 0,
    byCalls = 0,
  ] = numbers;
  return {
    verdict: "refused",
    code: verdict,
    nowMs,
    rate: { limit, remaining, resetSeconds: inSeconds(resetMs) },
    spendable: nanoOf(spendable),
    retrySeconds: inSeconds(retryMs),
    byOpenCalls: byCalls === 1,
  };
}
