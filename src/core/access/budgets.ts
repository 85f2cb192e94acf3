// Defines budgets: capped amounts over spans of time, of an account, of one of its keys, of a run
// (runs.ts), or of an end user (end-users.ts). The month of account and key is a limit of its own
// (AccessKey.monthlyLimit, AccessDocument.ownCap).

import { DAY_MS, HOUR_MS } from "../durations.ts";
import { type NanoUsd, nano, subtract, ZERO } from "../money/money.ts";
import { nextMonthMs } from "../money/months.ts";

/** Spans by name; budgets.lua in actors/lua/shared/ knows them by their places, from 1 on. */
export const SPANS = ["5h", "day", "week", "total", "month"] as const;
export type Span = (typeof SPANS)[number];

/** The spans of account and key. */
export const STANDING_SPANS = ["5h", "day", "week", "total"] as const satisfies readonly Span[];
export type StandingSpan = (typeof STANDING_SPANS)[number];

/** The spans of end users, in the order in which people read them. */
export const END_USER_SPANS = ["5h", "day", "week", "month", "total"] as const satisfies Span[];

/** The owners, in the order of the error table; the script knows them by their places too. */
export const BUDGET_OWNERS = ["key", "account", "run", "end_user"] as const;
export type BudgetOwner = (typeof BUDGET_OWNERS)[number];

/** The owners whose budgets count every call of a key. */
export const STANDING_OWNERS = ["key", "account"] as const;
export type StandingOwner = (typeof STANDING_OWNERS)[number];

/** The most budgets that count one call, those of its account and of its key together. */
export const OWN_BUDGETS_MAX = 4;

export interface Budget<Of extends BudgetOwner = BudgetOwner> {
  readonly number: number;
  readonly of: Of;
  readonly span: Of extends StandingOwner ? StandingSpan : Span;
  readonly amount: NanoUsd;
  /** The id of a run. */
  readonly name?: string;
}

/** A budget that counts every call of a key. */
export type StandingBudget = Budget<StandingOwner>;

/** A span of a budget that a call counts in. */
export interface BudgetRef {
  readonly number: number;
  /** The start of the span, ms; 0 for a span without an end. */
  readonly startMs: number;
}

/** A budget that counts an open call. */
export interface HeldBudget extends BudgetRef {
  /** The amount of the budget when the call was admitted. */
  readonly amount: NanoUsd;
}

/** Shared by all calls that no budget counts. */
export const NO_BUDGETS: readonly never[] = Object.freeze([]);

/** Budgets as the access document has them: number, span, amount in nano-USD. */
export type StoredBudget<Of extends BudgetOwner = StandingOwner> = readonly [
  number: number,
  span: Budget<Of>["span"],
  amount: string,
];

/** Reads budgets of an access document. */
export function budgetsOf<Of extends BudgetOwner>(
  of: Of,
  stored: readonly StoredBudget<Of>[] = [],
): Budget<Of>[] {
  return stored.map(([number, span, amount]) => ({ number, of, span, amount: nano(amount) }));
}

/** Reads the names of budgets in a hold or a journal entry: `number:start number:start`. */
export function parseBudgetRefs(text: string): readonly BudgetRef[] {
  if (text === "") return NO_BUDGETS;
  return text.split(" ").map((name) => {
    const [number, startMs] = name.split(":").map(Number);
    if (!Number.isSafeInteger(number) || !Number.isSafeInteger(startMs)) {
      throw new RangeError(`'${name}' names no span of a budget`);
    }
    return { number: number ?? 0, startMs: startMs ?? 0 };
  });
}

/** The inverse of `parseBudgetRefs`. */
export function budgetRefsText(refs: readonly BudgetRef[]): string {
  return refs.map(({ number, startMs }) => `${number}:${startMs}`).join(" ");
}

const SPAN_MS = { "5h": 5 * HOUR_MS, day: DAY_MS, week: 7 * DAY_MS } as const;

/** The end, in ms, of a span that began at this time; null for a span without an end. */
export function spanEnd(span: Span, startMs: number): number | null {
  if (span === "total") return null;
  return span === "month" ? nextMonthMs(startMs) : startMs + SPAN_MS[span];
}

/** The charges and the open holds that count against an amount. */
interface AmountUse {
  readonly spent: NanoUsd;
  readonly held: NanoUsd;
}

/** The part of an amount that is neither spent nor held; negative if the use exceeds the amount. */
export function roomOf(amount: NanoUsd, { spent, held }: AmountUse): NanoUsd {
  return subtract(subtract(amount, spent), held);
}

/** The amount that calls may still hold. A budget that was lowered below its use has none. */
export function leftOf({ amount }: Pick<Budget, "amount">, use: AmountUse): NanoUsd {
  const left = roomOf(amount, use);
  return left < ZERO ? ZERO : left;
}

/** The limits that decide how much an account can spend right now. */
export const SPENDING_LIMITS = [
  "balance",
  "tier_cap",
  "own_cap",
  "key_budget",
  "account_budget",
] as const;
export type SpendingLimit = (typeof SPENDING_LIMITS)[number];

/** Those that decide how much a call can hold, which may name a run and an end user. */
export const CALL_LIMITS = [...SPENDING_LIMITS, "run_budget", "end_user_budget"] as const;
export type CallLimit = (typeof CALL_LIMITS)[number];

/** A budget that binds. */
export interface BindingBudget {
  readonly span: Span;
  /** The part of it that is neither spent nor held. */
  readonly left: NanoUsd;
  /** When it has its whole amount again, ms; null for never. */
  readonly renewsAtMs: number | null;
}

/** The limit that leaves the least amount, which is zero at least; the first of equal ones. */
export function bindingOf<Limit extends { readonly amount: NanoUsd }>(
  limits: readonly Limit[],
): Limit {
  const least = limits.reduce((a, b) => (b.amount < a.amount ? b : a));
  return least.amount < ZERO ? { ...least, amount: ZERO } : least;
}

const SPAN_WORDS = {
  "5h": "of five hours",
  day: "of the UTC day",
  week: "of the week",
  total: "of all time",
  month: "of the UTC month",
} as const satisfies Record<Span, string>;

const OWNER_WORDS = {
  key: "key",
  account: "account",
  run: "run",
  end_user: "end user",
} as const satisfies Record<BudgetOwner, string>;

/** The name of a budget in a message: "budget of the UTC day of the key". */
export function budgetWords({ of, span, name }: Pick<Budget, "of" | "span" | "name">): string {
  if (name !== undefined) return `budget of the ${of} ${name}`;
  return `budget ${SPAN_WORDS[span]} of the ${OWNER_WORDS[of]}`;
}
