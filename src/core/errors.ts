// The one table of what a caller can be told. Rows stand in the order the checks run (SPEC 7,
// docs/decisions.md): when more than one applies, the first is the answer.

import type { UnavailableCode } from "./services.ts";

type ErrorType =
  | "invalid_request_error"
  | "authentication_error"
  | "insufficient_quota"
  | "permission_error"
  | "rate_limit_error"
  | "server_error";

interface ErrorRow {
  readonly status: number;
  readonly type: ErrorType;
}

export const ERRORS = {
  not_found: { status: 404, type: "invalid_request_error" },
  method_not_allowed: { status: 405, type: "invalid_request_error" },
  missing_api_key: { status: 401, type: "authentication_error" },
  invalid_api_key: { status: 401, type: "authentication_error" },
  account_inactive: { status: 403, type: "permission_error" },
  payment_required: { status: 402, type: "insufficient_quota" },
  ip_not_allowed: { status: 403, type: "permission_error" },
  insufficient_scope: { status: 403, type: "permission_error" },
  tier_required: { status: 403, type: "permission_error" },
  rate_limit_exceeded: { status: 429, type: "rate_limit_error" },
  body_too_large: { status: 413, type: "invalid_request_error" },
  invalid_json: { status: 400, type: "invalid_request_error" },
  messages_required: { status: 400, type: "invalid_request_error" },
  batch_too_large: { status: 400, type: "invalid_request_error" },
  invalid_action: { status: 400, type: "invalid_request_error" },
  unsupported_field: { status: 400, type: "invalid_request_error" },
  invalid_parameter: { status: 400, type: "invalid_request_error" },
  too_many_recipients: { status: 400, type: "invalid_request_error" },
  idempotency_key_reused: { status: 400, type: "invalid_request_error" },
  model_not_found: { status: 404, type: "invalid_request_error" },
  message_not_found: { status: 404, type: "invalid_request_error" },
  model_unavailable: { status: 503, type: "server_error" },
  search_unavailable: { status: 503, type: "server_error" },
  maps_unavailable: { status: 503, type: "server_error" },
  mail_unavailable: { status: 503, type: "server_error" },
  mail_rate_limit: { status: 429, type: "rate_limit_error" },
  mail_daily_limit: { status: 429, type: "rate_limit_error" },
  key_budget_exceeded: { status: 402, type: "insufficient_quota" },
  monthly_limit_reached: { status: 402, type: "insufficient_quota" },
  insufficient_credits: { status: 402, type: "insufficient_quota" },
  too_many_streams: { status: 429, type: "rate_limit_error" },
  mail_rejected: { status: 422, type: "invalid_request_error" },
  upstream_unreachable: { status: 502, type: "server_error" },
  service_unavailable: { status: 503, type: "server_error" },
  internal_error: { status: 500, type: "server_error" },
} as const satisfies Record<string, ErrorRow> & Record<UnavailableCode, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

/** What a change of an account, a key or a payment can be refused with; no API key meets these. */
export const ADMINISTRATION_ERRORS = {
  not_found: { status: 404 },
  wrong_scope: { status: 400 },
  wrong_surface: { status: 400 },
  unreadable_documents: { status: 400 },
  closed: { status: 409 },
  wrong_state: { status: 409 },
  too_large: { status: 409 },
  reference_reused: { status: 409 },
} as const satisfies Record<string, Pick<ErrorRow, "status">>;

export type AdministrationErrorCode = keyof typeof ADMINISTRATION_ERRORS;

/** A change that an account does not allow. The message is for the operator. */
export class AdministrationError extends Error {
  override readonly name = "AdministrationError";

  constructor(
    readonly code: AdministrationErrorCode,
    message: string,
  ) {
    super(message);
  }

  get status(): number {
    return ADMINISTRATION_ERRORS[this.code].status;
  }
}

/** The codes that outrank the request window; a request refused by one of them is never a 429. */
export const BEFORE_WINDOW: ReadonlySet<ErrorCode> = new Set(
  (Object.keys(ERRORS) as ErrorCode[]).slice(0, Object.keys(ERRORS).indexOf("rate_limit_exceeded")),
);

export interface ApiErrorOptions {
  /** Whole seconds after which the same request can succeed; becomes `Retry-After`. */
  readonly retryAfterSeconds?: number;
  /** The field at fault, which the Application API names apart from the message. */
  readonly param?: string;
  /** The methods that a 405 allows; becomes `Allow`. */
  readonly allow?: string;
  /** What went wrong for us; it is logged and never shown to the caller. */
  readonly cause?: unknown;
}

/** A refusal that the caller is told. `message` is public; `cause` is only for the log. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly retryAfterSeconds: number | undefined;
  readonly param: string | undefined;
  readonly allow: string | undefined;

  constructor(
    readonly code: ErrorCode,
    message: string,
    options: ApiErrorOptions = {},
  ) {
    super(message, { cause: options.cause });
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.param = options.param;
    this.allow = options.allow;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }

  get type(): ErrorType {
    return ERRORS[this.code].type;
  }
}

/** True for a string that is a row of the table, as scripts answer it. */
export function isErrorCode(value: string): value is ErrorCode {
  return Object.hasOwn(ERRORS, value);
}

/** The status of an answer that is none of the table's. */
export const OK = 200;

/** The status of a message that was taken and waits for the mail server. */
export const ACCEPTED = 202;

/** How the log names a caller who left before the answer; nobody is told it. */
export const DISCONNECTED = { status: 499, code: "client_disconnected" } as const;

/** The error as the caller is told it: what nobody foresaw is our own fault, and stays hidden. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError("internal_error", "Something went wrong on our side", { cause: error });
}
