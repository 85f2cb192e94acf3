// What can go wrong with an upstream server, and whose fault it is.

import type { ModelEntry } from "../../core/catalogue.ts";
import { ApiError } from "../../core/errors.ts";

/** Why an attempt at a route came to nothing. */
export type FailureReason =
  | "connection"
  | "timeout"
  | "status"
  | "redirect"
  | "busy"
  | "bad_reply"
  | "empty_reply"
  | "too_large"
  | "broken_off";

export interface FailureFacts {
  /** The server's HTTP status, or the one that its error object names. */
  readonly status?: number;
  /** The server's own error code: a short name, never a message, which may quote the caller. */
  readonly code?: string | undefined;
  /** False where the server itself is well, as with a model that it does not know. */
  readonly blamesServer?: boolean;
  readonly cause?: unknown;
}

/** A route failed; the next one may do better. */
export class UpstreamFailure extends Error {
  override readonly name = "UpstreamFailure";
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly blamesServer: boolean;

  constructor(
    readonly reason: FailureReason,
    { status, code, blamesServer = true, cause }: FailureFacts = {},
  ) {
    super(`The upstream failed: ${[reason, status, code].filter(Boolean).join(" ")}`, { cause });
    this.status = status;
    this.code = code;
    this.blamesServer = blamesServer;
  }
}

/** What an upstream says of an error. */
interface ErrorDetail {
  readonly message: string;
  readonly code: string;
  readonly type: string;
  readonly param: string;
  readonly status: number | undefined;
}

const CALLER_STATUSES: readonly number[] = [400, 413, 422];
/** The server is well; it only does not want this request now, or does not know the model. */
const WELL_STATUSES: readonly number[] = [403, 404, 405, 409, 429];

const OPERATORS_FAULT =
  /api[ _-]?key|authenti|unauthori[sz]ed|billing|insufficient_quota|model_not_found|invalid_model|(?:no such|unknown|invalid) model|model \S* ?(?:does not exist|not found)/i;
const CALLERS_FAULT =
  /invalid_request|invalid_param|bad_?request|context_length|content_(?:policy|filter)/i;
const TOO_LONG =
  /context[_ ](?:length|window|size)|maximum (?:context|number of tokens|prompt)|too many tokens|too long|too large|exceeds?\b.*\b(?:context|tokens)|prompt is longer/i;
const CONTENT = /content[_ ](?:policy|filter|management)|safety|moderation|responsible ai/i;
/** What the gateway forwards, so that a refusal may name it. */
const FIELDS =
  /\b(messages|tools|tool_choice|parallel_tool_calls|response_format|temperature|top_p|stop|seed|presence_penalty|frequency_penalty|logit_bias|user|reasoning_effort|max_tokens|max_completion_tokens)\b((?:\[\d{1,4}\]|\.[a-z_]{1,32}){0,6})/;

/**
 * The error for an answer that is none. It is an ApiError where the caller is to blame: that is told in
 * our own words, since a server's message may hold its name, its address, or somebody's account.
 */
export function failureOf(status: number, body: unknown, model: ModelEntry): Error {
  const detail = readDetail(body);
  const code = /^[A-Za-z0-9_.-]{1,64}$/.exec(detail.code)?.[0];
  const effective = status === 200 ? statusOf(detail) : status;
  if (status >= 300 && status < 400) {
    return new UpstreamFailure("redirect", { status });
  }
  const facts = `${detail.code} ${detail.type} ${detail.message}`;
  if (CALLER_STATUSES.includes(effective) && !OPERATORS_FAULT.test(facts)) {
    const cause = new UpstreamFailure("status", { status: effective, code });
    return new ApiError("invalid_parameter", publicMessage(effective, detail, model), { cause });
  }
  return new UpstreamFailure("status", {
    status: effective,
    code,
    blamesServer: !WELL_STATUSES.includes(effective) && !CALLER_STATUSES.includes(effective),
  });
}

/** The status that an error inside of a reply with status 200 stands for. */
function statusOf(detail: ErrorDetail): number {
  if (detail.status !== undefined) return detail.status;
  return CALLERS_FAULT.test(`${detail.code} ${detail.type}`) ? 400 : 500;
}

function publicMessage(status: number, detail: ErrorDetail, model: ModelEntry): string {
  const facts = `${detail.code} ${detail.type} ${detail.message}`;
  if (status === 413 || TOO_LONG.test(facts)) {
    return `'messages' and max_tokens together are too long for the model '${model.id}', which takes ${model.contextTokens} tokens`;
  }
  if (CONTENT.test(facts))
    return `'messages' is refused by the content rules of the model '${model.id}'`;
  const field = FIELDS.exec(detail.param) ?? FIELDS.exec(detail.message);
  if (field !== null) {
    return `'${field[1]}${field[2] ?? ""}' is not accepted by the model '${model.id}'`;
  }
  return `The model '${model.id}' does not accept this request: check its messages and parameters`;
}

function readDetail(body: unknown): ErrorDetail {
  const outer = asFields(Array.isArray(body) ? body[0] : body);
  const inner = asFields(outer.error);
  const text = (name: string): string => {
    const value = inner[name] ?? outer[name];
    return typeof value === "string" ? value.slice(0, 4_000) : "";
  };
  const error = typeof outer.error === "string" ? outer.error : "";
  const status = [inner.code, inner.status, outer.code, outer.status].find(isErrorStatus);
  return {
    message: text("message") || error || text("detail"),
    code: text("code"),
    type: text("type"),
    param: text("param"),
    status,
  };
}

function isErrorStatus(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 400 && value <= 599;
}

function asFields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
