// Admission as a typed script. Its contract is the header of admit.lua.

import { BEFORE_WINDOW, type ErrorCode, isErrorCode } from "../src/core/errors.ts";
import { LEASE_MS, REFUSED_ROWS_PER_MINUTE } from "../src/core/limits.ts";
import { type NanoUsd, nano } from "../src/core/money.ts";
import type { Limit, RateLimits } from "./account.ts";
import { opKey, windowKey } from "./keys.ts";
import admitLua from "./lua/admit.lua" with { type: "text" };
import { defineScript, type OfAccount, type RawReply, type Timed } from "./script.ts";
import { countingLua, inSeconds, limitKeys, parseWindow } from "./window.ts";

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
  | { readonly verdict: "stale"; readonly version: number; readonly document: string }
  | { readonly verdict: "short"; readonly spendable: NanoUsd }
  | {
      readonly verdict: "refused";
      readonly code: ErrorCode;
      readonly nowMs: number;
      readonly rate: RateLimits;
      readonly spendable: NanoUsd;
      /** Until what refused the call counts less. */
      readonly retrySeconds: number;
    };

export const admit = defineScript<AdmitArgs, AdmitReply>(countingLua + admitLua, {
  keys: ({ account, keys, keyId, requestId, limits }) => [
    keys.meta,
    keys.wallet,
    keys.holds,
    keys.leases,
    windowKey(keys.bucket, keyId),
    keys.refused,
    opKey(keys.bucket, requestId),
    keys.journal,
    ...limitKeys({ account, keys }, limits),
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
    ...a.limits.flatMap(({ kind, max, weight, code }) => [kind, max, weight, code]),
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
  const rate = { limit: Number(raw[2]), ...parseWindow(raw[3], raw[4]) };
  if (verdict === "ok") {
    return {
      verdict,
      nowMs,
      rate,
      paid: nano(String(raw[5])),
      free: nano(String(raw[6])),
      admittedAtMs: Number(raw[7]),
    };
  }
  if (!isErrorCode(verdict)) throw new Error(`The admit script answered '${verdict}'`);
  return {
    verdict: "refused",
    code: verdict,
    nowMs,
    rate,
    spendable: nano(String(raw[5])),
    retrySeconds: inSeconds(raw[6]),
  };
}
