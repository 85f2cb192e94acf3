// Explains the refusal or failure of a call in words, with a step that would help.

import { ERRORS, type ErrorCode, isErrorCode } from "../core/errors.ts";
import { nullable, text, type WireOf } from "../core/records.ts";
import { SUMMARY_CODE } from "../store/usage/log-rows.ts";

export const Refusal = {
  code: text({ sample: "insufficient_credits" }),
  limit: nullable(text({ about: "Which limit refused it", sample: "balance" })),
  explanation: text({ about: "In words, with what would help", sample: "Top up." }),
  docs: text({ about: "Where it is explained", sample: "/docs/api#errors" }),
};

/** The limits by their names in the log, in words. */
const LIMITS = {
  requests: "the requests of the key, or of the account, in 60 seconds or a UTC day",
  budget: "the key's monthly limit",
  cap: "the account's monthly limit",
  budget_5h: "a budget of five hours",
  budget_day: "a budget of the UTC day",
  budget_week: "a budget of the week",
  budget_total: "a budget of all time",
  budget_month: "a budget of the UTC month",
  run: "the budget of the run",
  balance: "the balance that was not held by other calls",
  streams: "the streams that may be open at once",
  calls: "the calls that may be open at once",
  tokens: "the tokens of the key in 60 seconds",
  tokens_day: "the tokens of the key in a UTC day",
  minute: "the messages of a minute",
  day: "the recipients, or the idempotency keys, of a day",
} as const;

/** The limits that have words. */
export type LimitName = keyof typeof LIMITS;

const HELP = {
  insufficient_credits:
    "Top up, or ask for fewer output tokens: the most that it can cost is held.",
  key_budget_exceeded: "Raise the key's budget, wait until it renews, or use another key.",
  account_budget_exceeded: "Raise the account's budget, or wait until it renews.",
  run_budget_exceeded: "Raise the run, or ask for fewer output tokens; then send the call again.",
  end_user_budget_exceeded:
    "Raise the budget of the end user on the page of limits, or wait until it renews.",
  key_paused: "Resume the key on the page of limits, or wait until the pause ends.",
  run_paused: "Resume the run, and send the call again.",
  run_ended: "Give the run more time, or name another one.",
  too_many_budgets: "Wait until other runs end, or name one of them.",
  monthly_limit_reached: "Raise your own cap if you have set one, or reach the next tier.",
  rate_limit_exceeded: "Send again after a pause, or spread the calls over time.",
  too_many_streams: "Wait until a stream has ended, or reach a tier with more of them.",
  payment_required: "Pay what is owed: the next payment does it first.",
  insufficient_scope: "Use a key that has the scope of this service, or create one.",
  tier_required: "The limits page shows what unlocks the tier that has it.",
  ip_not_allowed: "Call from an address of the key's list, or create a key with another list.",
  model_not_allowed: "Call one of the key's models, or change them on the page of keys.",
  account_inactive: "The settings page says why.",
  idempotency_key_mismatch: "Take a new Idempotency-Key for each thing that is to be done.",
  idempotency_in_progress: "Send the same request again after a pause.",
  idempotency_already_charged: "The first request is in the log, with what it cost.",
  too_many_idempotency_keys: "Wait until the UTC day ends, or send calls without a key.",
} as const satisfies Partial<Record<ErrorCode, string>>;

/** The codes that a step of the caller would mend. */
export type MendedCode = keyof typeof HELP;

const DOCS = "/docs/api#errors";
const SERVER_FAULT = 500;

/** Explains an error in the log; null without an error. */
export function refusalOf(
  code: string | null,
  limit: string | null,
  status: number,
): WireOf<typeof Refusal> | null {
  if (code === null) return null;
  return { code, limit, explanation: sentences(code, limit, status), docs: DOCS };
}

function sentences(code: string, limit: string | null, status: number): string {
  if (code === SUMMARY_CODE) {
    return "Several requests of one key were refused in this minute and are counted in one row.";
  }
  if (code === "hold_expired") {
    return "The server of this call went away. What it had cost by then was charged.";
  }
  const what = status >= SERVER_FAULT ? "Failed" : "Refused";
  const when = isErrorCode(code) ? `${what}: ${ERRORS[code].when}.` : `${what}: ${code}.`;
  const limits: Readonly<Record<string, string>> = LIMITS;
  const name = limit === null ? null : (limits[limit] ?? limit);
  const reached = name === null ? "" : ` The limit is ${name}.`;
  const helps: Readonly<Record<string, string>> = HELP;
  const help = helps[code];
  return `${when}${reached}${help === undefined ? "" : ` ${help}`}`;
}
