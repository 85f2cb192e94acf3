// An admission in progress, and what its script is given.

import type { AccessDocument, AccessKey } from "../src/core/access/access.ts";
import { LEASE_MS, type Tier } from "../src/core/access/limits.ts";
import type { Clock } from "../src/core/clock.ts";
import type { ErrorCode } from "../src/core/errors.ts";
import type { NanoUsd } from "../src/core/money/money.ts";
import type { AdmissionRequest, Limit } from "./account.ts";
import type { KeyTexts } from "./records/key-texts.ts";
import type { AccountKeys } from "./records/keys.ts";
import { type AdmitArgs, attemptOf } from "./scripts/admit-script.ts";
import type { HoldRef } from "./scripts/call-scripts.ts";
import type { ScriptTime } from "./scripts/script.ts";

export interface Access {
  readonly version: number;
  readonly document: AccessDocument;
  /** By key id, for keys that have made calls. */
  readonly texts: Map<string, KeyTexts>;
}

/** The request, and what was decided before Redis runs the script. */
export interface Attempt {
  readonly request: AdmissionRequest;
  readonly access: Access;
  readonly key: AccessKey;
  readonly tier: Tier;
  readonly limits: readonly Limit[];
  readonly cap: NanoUsd;
  readonly ref: HoldRef;
  readonly metadata: string;
  /** Account, key and metadata between tabs. */
  readonly text: string;
  readonly refusal: { readonly code: ErrorCode; readonly message: string } | null;
}

/** What the script needs to know of its account and of the time. */
interface AttemptingAccount {
  readonly accountId: string;
  readonly keys: AccountKeys;
  readonly scriptTime: () => ScriptTime;
  readonly deps: { readonly clock: Pick<Clock, "now"> };
}

export function argsOf(
  { accountId, keys, scriptTime, deps }: AttemptingAccount,
  tried: Attempt,
): AdmitArgs {
  const { request, access, key, tier, limits, cap, ref, text, refusal } = tried;
  return {
    account: accountId,
    keys,
    nowMs: scriptTime(),
    aboutMs: deps.clock.now(),
    version: access.version,
    keyId: request.keyId,
    requestId: request.requestId,
    owner: ref.owner,
    deadlineMs: request.isDetached === true ? LEASE_MS : 0,
    refusal: refusal?.code ?? request.refusal?.code ?? null,
    limit: tier.requestsPerMinute,
    bound: request.bound,
    freeEligible: request.freeEligible,
    stream: request.stream,
    streamLimit: tier.streams,
    callLimit: request.isBrief === true ? Number.MAX_SAFE_INTEGER : tier.openCalls,
    cap,
    budget: key.monthlyLimit,
    attempt: attemptOf(request),
    text,
    elapsedMs: Math.round(request.elapsedMs),
    limits,
  };
}
