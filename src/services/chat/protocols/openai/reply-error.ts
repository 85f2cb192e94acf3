// Reads the errors of model servers, which come in many forms: with an error status, as a whole
// reply with status 200, or in the middle of a stream.

import { isFullText, isObject, type Json, jsonOrNull } from "../../../../core/text/json.ts";
import { isFilled, reportsFailure } from "../../../../upstream/reported-failure.ts";
import { RouteFailure } from "../../../../upstream/route-failure.ts";

/** An error of a server. */
export interface ReplyError {
  readonly message: string;
  /** A short code, which unlike the message never quotes the request; empty if there is none. */
  readonly code: string;
  /** The status of HTTP that the error repeats, as a number; null if it has none. */
  readonly status: number | null;
  /** True if the prompt does not fit the context of the model. */
  readonly isContextFull: boolean;
  /** The delay that the server asks for, in seconds; null if the error names none. */
  readonly retryAfterSeconds: number | null;
  /** True if the error is about the operator's account at the server, which no caller can mend. */
  readonly isOperators: boolean;
  /** True if the error refuses the operator's key or account, rather than a model or a rate. */
  readonly isAccess: boolean;
  /** True if the server's rules for content refuse the request. */
  readonly isContentRefusal: boolean;
  /** True if a word of the error blames the request. */
  readonly isRequests: boolean;
}

/** An error that a reply reports. Its meaning depends on the call, which a reader does not know. */
export class ReportedFailure extends RouteFailure {
  constructor(readonly reported: ReplyError) {
    super(`The reply is an error${codeInBrackets(reported)}`);
  }
}

const CONTEXT_CODES: ReadonlySet<string> = new Set([
  "context_length_exceeded",
  "context_window_exceeded",
  "exceed_context_size_error",
  "model_context_window_exceeded",
]);
const CONTEXT_MESSAGE = new RegExp(
  "maximum (?:context|prompt|input) length|context (?:length|window|size|limit)|" +
    "(?:prompt|input) is too long|(?:prompt|input|total tokens)\\b[^.;]{0,60}\\bexceed|" +
    "reduce the length of|range of input length|inputs`? (?:tokens|must have less)|" +
    "(?:model|input) token limit|number of tokens in the prompt|tokens in request more|" +
    "max size: \\d+ tokens|exceeds? the (?:available |model's )?context",
  "i",
);
/** Some servers answer 400 and 413 if an account has no credit, a wrong key or a limit (D-656). */
const ACCESS_CODES: ReadonlySet<string> = new Set([
  "account_deactivated",
  "authentication_error",
  "billing_error",
  "billing_hard_limit_reached",
  "billing_not_active",
  "insufficient_balance",
  "insufficient_quota",
  "invalid_api_key",
]);
const ACCESS_MESSAGE = new RegExp(
  "credit balance is too low|insufficient (?:account )?(?:balance|credits?|funds|quota)|" +
    "billing hard limit|exceeded your current quota|account is (?:not )?in (?:arrears|good)|" +
    "api key (?:not valid|expired|is invalid)|(?:incorrect|invalid) api key|security token",
  "i",
);
/** The same for its limits, and for models that the account does not have. */
const LIMIT_CODES: ReadonlySet<string> = new Set([
  "data_residency_mismatch",
  "invalid_model",
  "model_not_found",
  "not_found_error",
  "permission_error",
  "rate_limit_error",
  "rate_limit_exceeded",
  "resource_exhausted",
]);
const LIMIT_MESSAGE = new RegExp(
  "tokens per (?:minute|day)|is not a valid model|model identifier is invalid|" +
    "on-demand throughput isn|region prefix",
  "i",
);

/** Words that blame the request, by Anthropic, Google and OpenAI. */
const REQUEST_CODES: ReadonlySet<string> = new Set([
  "array_above_max_length",
  "empty_image_file",
  "failed_to_download_image",
  "image_file_not_found",
  "image_file_too_large",
  "image_parse_error",
  "image_too_large",
  "image_too_small",
  "integer_above_max_value",
  "integer_below_min_value",
  "invalid_argument",
  "invalid_base64_image",
  "invalid_function_parameters",
  "invalid_image",
  "invalid_image_format",
  "invalid_image_mode",
  "invalid_image_url",
  "invalid_json_schema",
  "invalid_request_error",
  "invalid_type",
  "invalid_value",
  "missing_required_parameter",
  "request_too_large",
  "string_above_max_length",
  "unknown_parameter",
  "unsupported_image_media_type",
  "unsupported_parameter",
  "unsupported_value",
]);

/** The same as numbers, which some servers send in the middle of a stream. */
const ACCESS_STATUSES: ReadonlySet<number | null> = new Set([401, 402]);
const LIMIT_STATUSES: ReadonlySet<number | null> = new Set([404, 429, 498]);
/** Refuses models or accounts, or content. */
const FORBIDDEN = 403;

const CONTENT_CODES: ReadonlySet<string> = new Set([
  "bio_policy",
  "content_filter",
  "content_policy_violation",
  "content_policy",
  "cyber_policy_violation",
  "data_inspection_failed",
  "image_content_policy_violation",
  "invalid_prompt",
  "misalignment_policy_violation",
  "moderation_blocked",
  "moderation_error",
  "safety_violation",
]);
const CONTENT_MESSAGE = new RegExp(
  "content (?:management |moderation )?(?:filter|polic)|usage polic|safety (?:system|polic)|" +
    "\\b(?:was|been|is|were) flagged\\b|inappropriate content|moderation",
  "i",
);

/** Some servers send these with every good reply. */
const SUCCESS_CODES: ReadonlySet<unknown> = new Set([null, undefined, 0, 200, "0", "200", ""]);

/** The error in a body or a chunk; null if there is none. */
export function readError(value: unknown): ReplyError | null {
  const body: unknown = Array.isArray(value) ? value[0] : value;
  if (!isObject(body)) return null;
  const { error, response } = body;
  if (tellsError(error) || (isFilled(error) && !hasReply(body))) return errorOf(error, body);
  if (body.object === "error" || body.type === "error") return errorOf(body, body);
  const { base_resp: status } = body;
  if (isObject(status) && !SUCCESS_CODES.has(status.status_code)) return errorOf(status, body);
  if (isObject(response) && tellsError(response.error)) return errorOf(response.error, response);
  return hasReply(body) ? null : readBareError(body);
}

/** The failure that a body or a chunk reports; null if it reports none. */
export function reportedFailure(value: unknown): ReportedFailure | null {
  const error = readError(value);
  return error === null ? null : new ReportedFailure(error);
}

/** The failure in the data of an event that is an error by its name. */
export function failureOfEvent(data: string | null): RouteFailure {
  const failure = data === null ? null : reportedFailure(jsonOrNull(data));
  return failure ?? new RouteFailure("The stream has an error");
}

/** The code of an error in brackets, for the operator's log; empty if it has none. */
export function codeInBrackets(error: ReplyError | null): string {
  return error === null || error.code === "" ? "" : ` (${error.code})`;
}

/** The error in a body that is no reply, and has no member of its own for an error. */
function readBareError(body: Json): ReplyError | null {
  const [first] = Array.isArray(body.errors) ? body.errors : [];
  if (isFilled(first)) return errorOf(first, body);
  if (reportsFailure(body)) return errorOf(body, body);
  const code = body.code ?? body.error_code ?? body.status_code ?? null;
  const isError = code === null ? messageOf(body) !== "" : !SUCCESS_CODES.has(code);
  return isError ? errorOf(body, body) : null;
}

/** True for an error that says something. Some servers add one of empty members to good replies. */
export function tellsError(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return Boolean(error);
  return Object.values(error).some((member) => !SUCCESS_CODES.has(member));
}

function hasReply({ choices, usage }: Json): boolean {
  return isObject(usage) || isFilled(choices);
}

function errorOf(error: unknown, body: Json): ReplyError {
  const message = typeof error === "string" ? error : isObject(error) ? messageOf(error) : "";
  const words = [...wordsOf(error), ...wordsOf(body)];
  const [code = ""] = words;
  const isContextFull =
    CONTEXT_CODES.has(code) ||
    (isObject(error) && CONTEXT_CODES.has(String(error.type))) ||
    CONTEXT_MESSAGE.test(message);
  const status = statusIn(error) ?? statusIn(body);
  const isContentRefusal = CONTENT_CODES.has(code) || CONTENT_MESSAGE.test(message);
  const isAccess =
    ACCESS_CODES.has(code) || ACCESS_STATUSES.has(status) || ACCESS_MESSAGE.test(message);
  const isLimit = status === FORBIDDEN ? !isContentRefusal : LIMIT_STATUSES.has(status);
  const isOperators = isAccess || isLimit || LIMIT_CODES.has(code) || LIMIT_MESSAGE.test(message);
  const retryAfterSeconds = isObject(error) ? retryDelayOf(error) : null;
  // A code that the list lacks can come with a type that it has, such as invalid_request_error.
  const isRequests = words.some((word) => REQUEST_CODES.has(word));
  const faults = { isContextFull, isOperators, isAccess, isContentRefusal, isRequests };
  return { message, code, status, ...faults, retryAfterSeconds };
}

const STATUS = /^[45]\d\d$/;

/** The status of HTTP in an error, under any of its names. */
function statusIn(error: unknown): number | null {
  if (!isObject(error)) return null;
  const words = [error.code, error.status, error.status_code, error.statusCode].map(String);
  const status = words.find((word) => STATUS.test(word));
  return status === undefined ? null : Number(status);
}

/** Google names the delay in the details of the error, as text: `"retryDelay": "13s"`. */
function retryDelayOf({ details }: Json): number | null {
  if (!Array.isArray(details)) return null;
  const delays = details.filter(isObject).map(({ retryDelay }) => String(retryDelay ?? ""));
  const delay = delays.find((one) => RETRY_DELAY.test(one));
  return delay === undefined ? null : Math.max(1, Math.ceil(Number.parseFloat(delay)));
}

const RETRY_DELAY = /^\d{1,5}(?:\.\d{1,9})?s$/;

/** The names of members with the message of an error. */
const MESSAGE_NAMES = [
  "message",
  "msg",
  "detail",
  "error_message",
  "error_msg",
  "status_msg",
  "error_description",
];

function messageOf(error: Json): string {
  for (const name of MESSAGE_NAMES) {
    const value = error[name];
    // Some servers send a list of faults, with an entry for each field.
    const first: unknown = Array.isArray(value) ? value[0] : value;
    const message = isObject(first) ? (first.msg ?? first.message) : first;
    if (isFullText(message)) return message;
  }
  return "";
}

/** The short words that name an error, the most exact one first. */
function wordsOf(error: unknown): readonly string[] {
  if (!isObject(error)) return [];
  const words = [error.code, error.type, error.status].filter((one) => typeof one === "string");
  // Google writes its words in capitals, such as RESOURCE_EXHAUSTED.
  return words.map((word) => word.toLowerCase()).filter((word) => WORD.test(word));
}

const WORD = /^[a-z][a-z0-9_]{0,39}$/;
