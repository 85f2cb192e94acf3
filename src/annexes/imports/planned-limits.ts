// Plans the limits of an imported key (its end, models, rates and budgets), and its tags.

import type { StandingSpan } from "../../core/access/budgets.ts";
import {
  MODEL_PATTERN,
  MODEL_PATTERNS_MAX,
  type ModelPatterns,
  mayCallModel,
  RATE_MAX,
  TAGS_MAX,
} from "../../core/access/key-limits.ts";
import { isTag } from "../../core/text/field-rules.ts";
import { type PlannedBudget, wholeOf } from "./plan.ts";

/** A key with a later end counts as endless: some ends are not dates of any calendar. */
const FAR_MS = Date.UTC(10_000, 0);

/** Periods of LiteLLM that are a span here; the month is the span of a key's monthly limit. */
const SPAN_OF: ReadonlyMap<string, StandingSpan | "month"> = new Map([
  ["5h", "5h"],
  ...["1d", "24h"].map((period) => [period, "day"] as const),
  ...["7d", "1w"].map((period) => [period, "week"] as const),
  ...["28d", "29d", "30d", "31d", "1mo"].map((period) => [period, "month"] as const),
]);
const SECONDS_OF: ReadonlyMap<string, number> = new Map([
  ["s", 1],
  ["m", 60],
  ["h", 3_600],
  ["d", 86_400],
  ["w", 604_800],
]);
const MONTH_SECONDS = 31 * 86_400;

/**
 * Returns the span here of a period of LiteLLM, null for one without an end, and whether they are
 * the same. A period that Farebox does not have is the month if it is no longer than one, since the
 * same sum is stricter then, and else all time (D-887).
 */
export function spanOf(period: string | null): {
  readonly span: StandingSpan | "month";
  readonly isSame: boolean;
} {
  const same = period === null ? "total" : SPAN_OF.get(period);
  if (same !== undefined) return { span: same, isSame: true };
  const [, count, unit = ""] = /^(\d+)([smhdw])$/.exec(period ?? "") ?? [];
  const seconds = Number(count) * (SECONDS_OF.get(unit) ?? Number.NaN);
  return { span: seconds <= MONTH_SECONDS ? "month" : "total", isSame: false };
}

/** The end of a key that ends at this time in the other product; null for never. */
export function endDateOf(expiresMs: number): Date | null {
  // A time beyond the range of Date is NaN.
  return expiresMs < FAR_MS ? new Date(expiresMs) : null;
}

/** A value as a limit here, and its differences from the original in words. */
export interface Carried<Value> {
  readonly value: Value;
  readonly notes: readonly string[];
}

/**
 * Returns the patterns of models that these names stand for, as many as a key may have: null for
 * all models, an empty list if no name is possible here. A name that fits none of the ids, which
 * are those of the imported models, is kept and named.
 */
export function patternsFrom(names: ModelPatterns, ids: readonly string[]): Carried<ModelPatterns> {
  if (names === null) return { value: null, notes: [] };
  const [possible, impossible] = partition([...new Set(names)], (name) => MODEL_PATTERN.test(name));
  const value = possible.slice(0, MODEL_PATTERNS_MAX);
  const others = possible.slice(MODEL_PATTERNS_MAX);
  const unknown = value.filter((name) => !ids.some((id) => mayCallModel([name], id)));
  const notes: string[] = [];
  if (impossible.length > 0) {
    notes.push(`its models ${impossible.join(", ")} cannot be named so here; not allowed`);
  }
  if (others.length > 0) {
    const most = `a key may name ${MODEL_PATTERNS_MAX} models`;
    notes.push(`${most}; not allowed are ${others.join(", ")}`);
  }
  if (unknown.length > 0) {
    notes.push(`its models ${unknown.join(", ")} are allowed, but none of that name is imported`);
  }
  return { value, notes };
}

function partition(names: readonly string[], is: (name: string) => boolean): [string[], string[]] {
  return [names.filter(is), names.filter((name) => !is(name))];
}

/** Returns these words as tags of a key, as many as it may have; the notes name the others. */
export function keyTagsFrom(words: readonly string[]): Carried<readonly string[]> {
  const distinct = [...new Set(words.map((word) => word.trim()))];
  const [possible, impossible] = partition(distinct, isTag);
  const others = possible.slice(TAGS_MAX);
  const notes: string[] = [];
  if (impossible.length > 0) {
    const names = impossible.map((word) => `'${word}'`).join(", ");
    notes.push(`not carried over: tags that no key can have here: ${names}`);
  }
  if (others.length > 0) {
    notes.push(`a key may have ${TAGS_MAX} tags; not carried over: ${others.join(", ")}`);
  }
  return { value: possible.slice(0, TAGS_MAX), notes };
}

/** The models that both lists allow. */
export function commonModels(one: ModelPatterns, other: ModelPatterns): ModelPatterns {
  if (one === null || other === null) return one ?? other;
  return [
    ...one.filter((pattern) => mayCallModel(other, pattern)),
    ...other.filter((pattern) => mayCallModel(one, pattern)),
  ];
}

/** Returns a rate of a key; "nothing" if it lets no call through. `name` names it in the notes. */
export function rateFrom(name: string, rate: unknown): Carried<number | null | "nothing"> {
  if (rate === null || rate === undefined) return { value: null, notes: [] };
  const whole = wholeOf(rate);
  if (whole === null) return { value: null, notes: [`not carried over: ${name} ${rate}`] };
  if (whole <= 0n) return { value: "nothing", notes: [] };
  if (whole <= BigInt(RATE_MAX)) return { value: Number(whole), notes: [] };
  return { value: RATE_MAX, notes: [`its ${name} of ${whole} is ${RATE_MAX} here, the most`] };
}

/** The smallest budget of each span. */
export function smallestOfSpans(budgets: readonly PlannedBudget[]): readonly PlannedBudget[] {
  const smallest = new Map<StandingSpan, PlannedBudget>();
  for (const budget of budgets) {
    const present = smallest.get(budget.span);
    if (present === undefined || budget.amount < present.amount) smallest.set(budget.span, budget);
  }
  return [...smallest.values()];
}
