// The errors of this door, in Anthropic's form with our code beside its type.

import type { ApiError } from "../../../../core/errors.ts";
import type { ErrorForm } from "../../../../http/respond.ts";

/** Anthropic's types by status; clients choose by these whether they try again. */
const TYPES: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  409: "conflict_error",
  413: "request_too_large",
  429: "rate_limit_error",
  502: "overloaded_error",
  503: "overloaded_error",
};

/** Faults of a server begin here; before are refusals, which the request caused. */
const SERVER_FAULT = 500;

function typeOf(status: number): string {
  return TYPES[status] ?? (status < SERVER_FAULT ? "invalid_request_error" : "api_error");
}

/** The body of an error, which is also an event of a stream that broke off. */
export const messagesError: ErrorForm = (error: ApiError, requestId: string) => ({
  type: "error",
  error: {
    type: typeOf(error.status),
    message: error.message,
    code: error.code,
  },
  request_id: requestId,
});
