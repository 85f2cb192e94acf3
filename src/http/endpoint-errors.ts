// Lists every error code that an endpoint can return: its own, and those of its kind.

import { SERVICES } from "../core/access/services.ts";
import { ERRORS, type ErrorCode } from "../core/errors.ts";
import type { Endpoint } from "./endpoint-info.ts";
import { isRepeatable } from "./idempotency.ts";

/** The part of an endpoint that documentation reads. */
export type DocumentedEndpoint = Omit<Endpoint<never>, "answer">;

const ANY: readonly ErrorCode[] = ["invalid_parameter", "rate_limit_exceeded", "internal_error"];
const KEYED: readonly ErrorCode[] = [
  "missing_api_key",
  "invalid_api_key",
  "payment_required",
  "account_inactive",
  "ip_not_allowed",
  "service_unavailable",
];
const WITH_BODY: readonly ErrorCode[] = ["body_too_large", "invalid_json"];
const BILLED: readonly ErrorCode[] = [
  "max_cost_exceeded",
  "key_paused",
  "run_paused",
  "run_ended",
  "too_many_budgets",
  "key_budget_exceeded",
  "monthly_limit_reached",
  "account_budget_exceeded",
  "run_budget_exceeded",
  "end_user_budget_exceeded",
  "insufficient_credits",
];

const REPEATABLE: readonly ErrorCode[] = [
  "idempotency_key_mismatch",
  "idempotency_in_progress",
  "idempotency_already_charged",
  "too_many_idempotency_keys",
];

/** The error codes in the order of the error table. */
export function errorsOf(endpoint: DocumentedEndpoint): readonly ErrorCode[] {
  const { surface, service, access, body, isBilled, errors } = endpoint;
  if (surface === null) return [];
  const codes = new Set<ErrorCode>([...ANY, ...errors]);
  const add = (more: readonly ErrorCode[]) => {
    for (const code of more) codes.add(code);
  };
  if (access !== "anybody") add(KEYED);
  if (access === "scope") add(["insufficient_scope"]);
  if (access === "scope" && service === "chat") add(["model_not_allowed"]);
  // Every plan includes all of the Application API.
  if (access === "scope" && surface === "gateway") add(["tier_required"]);
  if (body !== undefined) add(WITH_BODY);
  if (isBilled) add(BILLED);
  if (isRepeatable(endpoint)) add(REPEATABLE);
  if (isBilled && service !== null) add([SERVICES[service].unavailable]);
  return (Object.keys(ERRORS) as ErrorCode[]).filter((code) => codes.has(code));
}
