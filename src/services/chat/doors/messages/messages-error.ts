// The errors of this door, in Anthropic's form with our code beside its type.

import type { ApiError } from "../../../../core/errors.ts";
import type { ErrorForm } from "../../../../http/respond.ts";

/** Anthropic's types by status; clients choose by these whether they try again. */
const TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  405: "invalid_request_error",
  413: "request_too_large",
  429: "rate_limit_error",
  502: "overloaded_error",
  503: "overloaded_error",
};

/** The body of an error, which is also an event of a stream that broke off. */
export const messagesError: ErrorForm = (error: ApiError, requestId: string) => ({
  type: "error",
  error: {
    type: TYPES[error.status] ?? "api_error",
    message: error.message,
    code: error.code,
  },
  request_id: requestId,
});
