import { expect, test } from "bun:test";
import { ApiError, ERRORS, type ErrorCode } from "../../../../../../src/core/errors.ts";
import { messagesError } from "../../../../../../src/services/chat/doors/messages/messages-error.ts";

/** The types that Anthropic documents for a status; any other 4xx is the first one. */
const DOCUMENTED: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  409: "conflict_error",
  413: "request_too_large",
  429: "rate_limit_error",
};

test("every refusal has the type that Anthropic documents for its status", () => {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  const refusals = codes.filter((code) => ERRORS[code].status < 500);
  for (const code of refusals) {
    const type = DOCUMENTED[ERRORS[code].status] ?? "invalid_request_error";
    const body = messagesError(new ApiError(code, "No"), "req_1");
    expect(body).toMatchObject({ error: { type, code }, request_id: "req_1" });
  }
});
