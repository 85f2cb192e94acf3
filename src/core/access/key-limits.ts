// The limits that a key has of its own, beside its scopes, addresses and money: whether it is
// disabled, when it ends, which models it may call, and how often.

import { type ApiError, ERRORS, type ErrorCode } from "../errors.ts";
import { type KeyMeasure, measuresOf, type StoredMeasure } from "./burn-rules.ts";

/** Ids of models, in which `*` stands for any characters; null stands for every model (D-743). */
export type ModelPatterns = readonly string[] | null;

/** The most patterns of a key. */
export const MODEL_PATTERNS_MAX = 50;
/** The characters of a model's id, and `*`. */
export const MODEL_PATTERN = /^[A-Za-z0-9._:/@+*-]{1,128}$/;

/** The most requests and tokens of a key in a time; null: only the account limits them (D-746). */
export interface KeyRates {
  /** The most requests in any 60 seconds; the limit of the tier applies too. */
  readonly requestsPerMinute: number | null;
  /** The most requests in a UTC day. */
  readonly requestsPerDay: number | null;
  /** The most tokens of prompts and replies in any 60 seconds. */
  readonly tokensPerMinute: number | null;
  /** The most tokens of prompts and replies in a UTC day. */
  readonly tokensPerDay: number | null;
}

/** The requests that a key may make in any 60 seconds, where its tier allows so many. */
export function windowLimitOf(
  { requestsPerMinute: own }: Pick<KeyRates, "requestsPerMinute">,
  ofTier: number,
): number {
  return own === null ? ofTier : Math.min(own, ofTier);
}

/** The most tags of a key, and the most characters of each. */
export const TAGS_MAX = 8;
export const TAG_CHARACTERS_MAX = 32;

/** Sanity limit of a rate. A slot of a window has four bytes. */
export const RATE_MAX = 1_000_000_000;

export interface KeyLimits extends KeyRates {
  /** True while the key is refused, although it is not revoked. */
  readonly isDisabled: boolean;
  /** The time from which on the key is refused; null for a key without an end. */
  readonly endsAtMs: number | null;
  readonly models: ModelPatterns;
  /** The measures of burn-rate rules against the key; each counts until its end. */
  readonly measures: readonly KeyMeasure[];
}

/** The limits as the access document has them: each is left out unless it is set. */
export interface StoredKeyLimits {
  readonly disabled?: true;
  readonly ends_ms?: number;
  readonly models?: readonly string[];
  readonly rpm?: number;
  readonly rpd?: number;
  readonly tpm?: number;
  readonly tpd?: number;
  readonly burn?: readonly StoredMeasure[];
}

/** New limits of a key; a missing one stays as it is. */
export interface KeyChange extends Partial<KeyRates> {
  readonly isDisabled?: boolean;
  /** Null takes the end away. */
  readonly endsAt?: Date | null;
  /** Null allows every model. */
  readonly models?: ModelPatterns;
  /** The tags of the key, by which calls are found (D-748); a change may set them beside limits. */
  readonly tags?: readonly string[];
}

const NAMED_MAX = 3;

/** A change in words, for the activity: "disabled; ends 2026-12-31T00:00:00.000Z; any model". */
export function keyChangeWords({ isDisabled, endsAt, models, tags, ...rates }: KeyChange): string {
  const words: string[] = [];
  if (isDisabled !== undefined) words.push(isDisabled ? "disabled" : "enabled");
  if (endsAt !== undefined) words.push(endsAt === null ? "no end" : `ends ${endsAt.toISOString()}`);
  if (models === null) words.push("any model");
  if (models != null) {
    const more = models.length > NAMED_MAX ? ` and ${models.length - NAMED_MAX} more` : "";
    words.push(`models ${models.slice(0, NAMED_MAX).join(", ")}${more}`);
  }
  for (const [name, unit] of Object.entries(RATE_WORDS)) {
    const rate = rates[name as keyof KeyRates];
    if (rate !== undefined) words.push(rate === null ? `any ${unit}` : `${rate} ${unit}`);
  }
  if (tags !== undefined) words.push(tags.length === 0 ? "no tag" : `tags ${tags.join(", ")}`);
  return words.join("; ");
}

/** The units of rates, for messages. */
export const RATE_WORDS = {
  requestsPerMinute: "requests a minute",
  requestsPerDay: "requests a day",
  tokensPerMinute: "tokens a minute",
  tokensPerDay: "tokens a day",
} as const satisfies Record<keyof KeyRates, string>;

/** Reads the limits of a key in an access document. */
export function keyLimitsOf(stored: StoredKeyLimits): KeyLimits {
  return {
    isDisabled: stored.disabled === true,
    endsAtMs: stored.ends_ms ?? null,
    models: stored.models ?? null,
    requestsPerMinute: stored.rpm ?? null,
    requestsPerDay: stored.rpd ?? null,
    tokensPerMinute: stored.tpm ?? null,
    tokensPerDay: stored.tpd ?? null,
    measures: measuresOf(stored.burn),
  };
}

/** True if a key with these patterns may call the model of this id. */
export function mayCallModel(patterns: ModelPatterns, id: string): boolean {
  return patterns === null || patterns.some((pattern) => fits(pattern, id));
}

/** True if the id is the pattern with some characters, or none, in the place of each `*`. */
function fits(pattern: string, id: string): boolean {
  const [head = "", ...others] = pattern.split("*");
  const tail = others.pop();
  if (tail === undefined) return id === head;
  if (!id.startsWith(head)) return false;
  let at = head.length;
  for (const part of others) {
    const found = id.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return id.length - at >= tail.length && id.endsWith(tail);
}

/** A refusal by the access document. */
export interface AccessRefusal {
  readonly code: ErrorCode;
  readonly message: string;
  /** The field at fault. */
  readonly param?: string;
}

/** The message of a key that is disabled. */
export const DISABLED = "This API key is disabled";

/** The refusal of every call of a key that is disabled or has ended; otherwise null (D-744). */
export function endedRefusal(
  { isDisabled, endsAtMs }: KeyLimits,
  nowMs: number,
): AccessRefusal | null {
  if (isDisabled) return { code: "invalid_api_key", message: DISABLED };
  if (endsAtMs === null || nowMs < endsAtMs) return null;
  const message = `This API key ended at ${new Date(endsAtMs).toISOString()}`;
  return { code: "invalid_api_key", message };
}

/** The refusal of every paid call of a key that a rule has paused; null if none has. */
export function pauseRefusal(measures: readonly KeyMeasure[], nowMs: number): AccessRefusal | null {
  const pauses = measures.filter((one) => one.requestsPerMinute === null && nowMs < one.untilMs);
  if (pauses.length === 0) return null;
  const end = new Date(Math.max(...pauses.map(({ untilMs }) => untilMs))).toISOString();
  const message = `A burn-rate rule paused this key until ${end}, because it spent much at once`;
  return { code: "key_paused", message };
}

/** The rates of a key at a time. */
export interface PresentRates extends KeyRates {
  /** The time until which a rule has lowered the key's requests; null if no rule has. */
  readonly slowedUntilMs: number | null;
}

/** The rates of a key now: its own, or fewer requests by the measures that last. */
export function ratesAt(
  key: KeyRates & { readonly measures: readonly KeyMeasure[] },
  nowMs: number,
): PresentRates {
  const { requestsPerDay, tokensPerMinute, tokensPerDay } = key;
  let { requestsPerMinute } = key;
  let slowedUntilMs: number | null = null;
  for (const { requestsPerMinute: slowed, untilMs } of key.measures) {
    if (slowed === null || nowMs >= untilMs) continue;
    if (requestsPerMinute !== null && requestsPerMinute <= slowed) continue;
    requestsPerMinute = slowed;
    slowedUntilMs = untilMs;
  }
  return { requestsPerMinute, requestsPerDay, tokensPerMinute, tokensPerDay, slowedUntilMs };
}

/** A call of models, as far as the patterns of its key decide about it. */
export interface ModelCall {
  /** The id of the model, never an alias; null or missing for a call without a model. */
  readonly model?: string | null | undefined;
  /** The ids of further models that may serve the call. */
  readonly standIns?: readonly string[] | undefined;
  /** The refusal of the call itself, decided before admission. */
  readonly refusal?: ApiError | undefined;
}

/**
 * The refusal of a model that the key does not allow; null if it allows all models of the call, or
 * if the call's own refusal comes first in the error table.
 */
export function modelRefusal(
  { models: patterns }: Pick<KeyLimits, "models">,
  { model, standIns = [], refusal }: ModelCall,
): AccessRefusal | null {
  if (patterns === null || model == null) return null;
  const wrong = [model, ...standIns].find((id) => !mayCallModel(patterns, id));
  if (wrong === undefined) return null;
  if (refusal !== undefined && placeOf(refusal.code) < placeOf("model_not_allowed")) return null;
  return {
    code: "model_not_allowed",
    message: `This key may not call the model '${wrong}', only ${patterns.join(", ")}`,
    param: "model",
  };
}

function placeOf(code: ErrorCode): number {
  return Object.keys(ERRORS).indexOf(code);
}
