// Defines every error that a caller can receive, in one table. Rows are in the order in which the
// checks run (SPEC 7): if several apply, the first one is the answer.

import type { UnavailableCode } from "./access/services.ts";

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
  /**
   * The case in which a caller receives the error, for the documentation: Markdown, half a
   * sentence.
   */
  readonly when: string;
}

export const ERRORS = {
  not_found: {
    status: 404,
    type: "invalid_request_error",
    when: "no endpoint has this path",
  },
  method_not_allowed: {
    status: 405,
    type: "invalid_request_error",
    when: "the path has no such method; the header `Allow` names those it has",
  },
  origin_not_allowed: {
    status: 403,
    type: "permission_error",
    when: "MCP: a page of another origin sent the message",
  },
  missing_api_key: {
    status: 401,
    type: "authentication_error",
    when: "neither `Authorization: Bearer` nor `x-api-key` has a key",
  },
  invalid_api_key: {
    status: 401,
    type: "authentication_error",
    when: "the key is wrong, revoked, disabled, past its end, or of the other surface",
  },
  account_inactive: {
    status: 403,
    type: "permission_error",
    when: "the account is suspended or closed",
  },
  payment_required: {
    status: 402,
    type: "insufficient_quota",
    when: "a reversed payment left a balance to settle",
  },
  ip_not_allowed: {
    status: 403,
    type: "permission_error",
    when: "the key is limited to other IP addresses",
  },
  insufficient_scope: {
    status: 403,
    type: "permission_error",
    when: "the key lacks the scope of the service",
  },
  tier_required: {
    status: 403,
    type: "permission_error",
    when: "the account's tier does not include the service",
  },
  rate_limit_exceeded: {
    status: 429,
    type: "rate_limit_error",
    when: "too many requests or tokens in a minute or day, or open calls; wait for `Retry-After`",
  },
  body_too_large: {
    status: 413,
    type: "invalid_request_error",
    when: "the body is over the endpoint's limit",
  },
  invalid_json: {
    status: 400,
    type: "invalid_request_error",
    when: "the body is not valid JSON, nests too deep, or did not arrive whole",
  },
  messages_required: {
    status: 400,
    type: "invalid_request_error",
    when: "`messages` is missing or empty",
  },
  batch_too_large: {
    status: 400,
    type: "invalid_request_error",
    when: "the batch has more searches than the tier allows",
  },
  invalid_action: {
    status: 400,
    type: "invalid_request_error",
    when: "`action` is missing or not known",
  },
  unsupported_field: {
    status: 400,
    type: "invalid_request_error",
    when: "a field that cannot be set is in the body",
  },
  invalid_parameter: {
    status: 400,
    type: "invalid_request_error",
    when: "a field breaks its rule; the message names both",
  },
  too_many_recipients: {
    status: 400,
    type: "invalid_request_error",
    when: "more recipients than the tier allows in one message",
  },
  idempotency_key_reused: {
    status: 400,
    type: "invalid_request_error",
    when: "mail: the `Idempotency-Key` came with another body before",
  },
  model_not_found: {
    status: 404,
    type: "invalid_request_error",
    when: "there is no such model",
  },
  model_not_allowed: {
    status: 403,
    type: "permission_error",
    when: "the key may call other models only; the message names them",
  },
  message_not_found: {
    status: 404,
    type: "invalid_request_error",
    when: "the account has no such message",
  },
  run_not_found: {
    status: 404,
    type: "invalid_request_error",
    when: "the account has no such run",
  },
  receipt_not_found: {
    status: 404,
    type: "invalid_request_error",
    when: "the key has made no such request",
  },
  receipt_pending: {
    status: 409,
    type: "invalid_request_error",
    when: "the request has no final record yet; wait for `Retry-After`",
  },
  receipt_gone: {
    status: 410,
    type: "invalid_request_error",
    when: "the log of the request is not kept any more, and no receipt was issued before",
  },
  model_unavailable: {
    status: 503,
    type: "server_error",
    when: "chat or the model is paused",
  },
  search_unavailable: {
    status: 503,
    type: "server_error",
    when: "search is paused, or nobody can serve it now",
  },
  maps_unavailable: {
    status: 503,
    type: "server_error",
    when: "maps are paused, or nobody serves the action",
  },
  mail_unavailable: {
    status: 503,
    type: "server_error",
    when: "sending mail is paused, or the message was given up",
  },
  max_cost_exceeded: {
    status: 402,
    type: "insufficient_quota",
    when: "the call can cost more than its header `x-svc-max-cost-usd` allows; nothing is charged",
  },
  key_paused: {
    status: 402,
    type: "insufficient_quota",
    when:
      "a burn-rate rule paused the key, because it spent much at once; nothing is charged, and " +
      "the message says until when",
  },
  run_paused: {
    status: 402,
    type: "insufficient_quota",
    when: "the run of the call is paused; nothing is charged, and it can be resumed",
  },
  run_ended: {
    status: 402,
    type: "insufficient_quota",
    when: "the time of the run is over; nothing is charged, and it can get more time",
  },
  // Mail has a code and a status of its own (D-754).
  idempotency_key_mismatch: {
    status: 422,
    type: "invalid_request_error",
    when:
      "the `Idempotency-Key` came with another path, body, run, end user or cap in the last 24 " +
      "hours (mail has `idempotency_key_reused`)",
  },
  idempotency_in_progress: {
    status: 409,
    type: "invalid_request_error",
    when: "the first request with this `Idempotency-Key` is still running; wait for `Retry-After`",
  },
  idempotency_already_charged: {
    status: 409,
    type: "invalid_request_error",
    when:
      "the first request with this `Idempotency-Key` was charged, and its answer is not kept; " +
      "the message names its receipt",
  },
  too_many_budgets: {
    status: 429,
    type: "rate_limit_error",
    when: "the call would begin a run, and the account has as many open runs as it may have",
  },
  mail_rate_limit: {
    status: 429,
    type: "rate_limit_error",
    when: "too many messages in a minute; wait for `Retry-After`",
  },
  mail_daily_limit: {
    status: 429,
    type: "rate_limit_error",
    when: "too many recipients in a UTC day; wait for `Retry-After`",
  },
  too_many_idempotency_keys: {
    status: 429,
    type: "rate_limit_error",
    when: "too many calls of the account with an `Idempotency-Key` in a UTC day",
  },
  key_budget_exceeded: {
    status: 402,
    type: "insufficient_quota",
    when: "a budget of the key, of the month or another span, cannot cover the call",
  },
  monthly_limit_reached: {
    status: 402,
    type: "insufficient_quota",
    when: "the account's monthly limit, its own or its tier's, is reached",
  },
  account_budget_exceeded: {
    status: 402,
    type: "insufficient_quota",
    when: "a budget of the account cannot cover the call",
  },
  run_budget_exceeded: {
    status: 402,
    type: "insufficient_quota",
    when: "the budget of the run cannot cover the call; nothing is charged, and it can be raised",
  },
  end_user_budget_exceeded: {
    status: 402,
    type: "insufficient_quota",
    when: "a budget of the end user cannot cover the call; nothing is charged",
  },
  insufficient_credits: {
    status: 402,
    type: "insufficient_quota",
    when: "the balance cannot cover the call; nothing is charged",
  },
  too_many_streams: {
    status: 429,
    type: "rate_limit_error",
    when: "too many open streams for the tier",
  },
  context_length_exceeded: {
    status: 400,
    type: "invalid_request_error",
    when: "the messages do not fit the context of the model; nothing is charged",
  },
  mail_rejected: {
    status: 422,
    type: "invalid_request_error",
    when: "the mail server refused all recipients; nothing is charged",
  },
  upstream_unreachable: {
    status: 502,
    type: "server_error",
    when: "no server behind the service answered; nothing is charged",
  },
  service_unavailable: {
    status: 503,
    type: "server_error",
    when: "a part of the service is away; nothing is charged, try again",
  },
  internal_error: {
    status: 500,
    type: "server_error",
    when: "a fault of ours; nothing is charged",
  },
} as const satisfies Record<string, ErrorRow> & Record<UnavailableCode, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

/** Refusals of a change to an account, a key or a payment; API callers never receive them. */
export const ADMINISTRATION_ERRORS = {
  not_found: { status: 404 },
  wrong_scope: { status: 400 },
  wrong_surface: { status: 400 },
  unreadable_documents: { status: 400 },
  closed: { status: 409 },
  wrong_state: { status: 409 },
  too_large: { status: 409 },
  price_changed: { status: 409 },
  no_card: { status: 409 },
  no_payment_provider: { status: 409 },
  reference_reused: { status: 409 },
  voucher_unknown: { status: 404 },
  voucher_ended: { status: 409 },
  voucher_exhausted: { status: 409 },
  voucher_tier: { status: 409 },
  voucher_person: { status: 409 },
  voucher_disposable: { status: 409 },
  voucher_lots: { status: 409 },
  voucher_plan: { status: 409 },
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

/** The first digit of a status: 2 for a success, 3 for a redirect. */
export function statusClass(status: number): number {
  return Math.floor(status / 100);
}

/** Codes that take precedence over the request window: such a refusal is never a 429. */
export const BEFORE_WINDOW: ReadonlySet<ErrorCode> = codesBefore("rate_limit_exceeded");

/** Codes of refusals for which neither the body of a request nor its length matters. */
export const BEFORE_BODY: ReadonlySet<ErrorCode> = codesBefore("body_too_large");

function codesBefore(code: ErrorCode): ReadonlySet<ErrorCode> {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  return new Set(codes.slice(0, codes.indexOf(code)));
}

export interface ApiErrorOptions {
  /** Whole seconds after which the same request can succeed; becomes `Retry-After`. */
  readonly retryAfterSeconds?: number;
  /** The field at fault; the Application API also returns it separately. */
  readonly param?: string;
  /** The methods that a 405 allows; becomes `Allow`. */
  readonly allow?: string;
  /** True for a sender that floods us: instead of reading a large body, we close the connection. */
  readonly isFlood?: boolean;
  /** True if a provider refuses the content of the request; the log counts that. */
  readonly isContentRefusal?: boolean;
  /** Our internal cause; it is logged and never sent to the caller. */
  readonly cause?: unknown;
}

/** A refusal for the caller. `message` is public; `cause` is only for the log. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly retryAfterSeconds: number | undefined;
  readonly param: string | undefined;
  readonly allow: string | undefined;
  readonly isFlood: boolean;
  readonly isContentRefusal: boolean;

  constructor(
    readonly code: ErrorCode,
    message: string,
    options: ApiErrorOptions = {},
  ) {
    super(message, { cause: options.cause });
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.param = options.param;
    this.allow = options.allow;
    this.isFlood = options.isFlood ?? false;
    this.isContentRefusal = options.isContentRefusal ?? false;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }

  get type(): ErrorType {
    return ERRORS[this.code].type;
  }
}

/** True for a string that is a row of the table; scripts return such strings. */
export function isErrorCode(value: string): value is ErrorCode {
  return Object.hasOwn(ERRORS, value);
}

/** The status of a request without a valid key. */
export const UNAUTHORIZED = ERRORS.missing_api_key.status;

/** The status of a successful reply. */
export const OK = 200;

/** The status of a message that was accepted and waits for the mail server. */
export const ACCEPTED = 202;

/**
 * The status and code that the log shows for a caller who disconnected before the reply. Neither is
 * ever sent.
 */
export const DISCONNECTED = { status: 499, code: "client_disconnected" } as const;

/**
 * The error to send to the caller. An unexpected error is our own fault, and its details stay
 * hidden.
 */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError("internal_error", "Something went wrong on our side", { cause: error });
}
