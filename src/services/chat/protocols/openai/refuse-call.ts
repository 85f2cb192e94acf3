// Reads a server's refusal of a request: the fault of the caller, of the operator or of the server.

import type { ApiError } from "../../../../core/errors.ts";
import { jsonOrNull } from "../../../../core/text/json.ts";
import { AccessFailure, RouteFailure } from "../../../../upstream/route-failure.ts";
import { readRefusal, statusFailure } from "../../../../upstream/upstream-http.ts";
import type { UpstreamResponse } from "../../../../upstream/upstream-response.ts";
import { callerFault, type RefusedCall } from "./caller-fault.ts";
import { codeInBrackets, type ReplyError, ReportedFailure, readError } from "./reply-error.ts";

const ERROR_BYTES_MAX = 64 * 1024;
/** Statuses for an invalid request, which every other route would refuse as well. */
const CALLER_FAULTS: ReadonlySet<number | null> = new Set([400, 413, 422]);
/** Some servers use this status to refuse single models, and some to refuse content. */
const FORBIDDEN = 403;

/** Throws the meaning of a status other than 200: an ApiError for the caller, or a RouteFailure. */
export async function refuse(response: UpstreamResponse, call: RefusedCall): Promise<never> {
  const text = await readRefusal(response, ERROR_BYTES_MAX);
  const error = readError(jsonOrNull(text));
  const isContents = response.status === FORBIDDEN && error?.isContentRefusal === true;
  const isAboutRequest = CALLER_FAULTS.has(response.status) || isContents;
  const isCallers = isAboutRequest && error?.isOperators !== true;
  if (isCallers) throw callerFault(error, call);
  throw statusFailure(response, {
    isHealthy: response.status === FORBIDDEN,
    isAccess: error?.isAccess ?? false,
    detail: codeInBrackets(error),
    retryAfterSeconds: error?.retryAfterSeconds ?? null,
  });
}

/**
 * The meaning of an error in a reply with status 200: the fault of the caller, who gets an
 * ApiError, of the operator or of the server (D-656).
 */
export function replyFailure(error: ReplyError, call: RefusedCall): ApiError | RouteFailure {
  const { status, isAccess, isOperators, retryAfterSeconds } = error;
  const message = `The reply is an error${codeInBrackets(error)}`;
  if (isAccess) return new AccessFailure(message);
  if (isOperators) return new RouteFailure(message, "nobody", retryAfterSeconds);
  const isRequests = error.isRequests || CALLER_FAULTS.has(status);
  return isRequests || error.isContextFull || error.isContentRefusal
    ? callerFault(error, call)
    : new RouteFailure(message, "server", retryAfterSeconds);
}

/** The failure of a reply, with the meaning for the call of an error that the reply reports. */
export function failureFor(error: unknown, call: RefusedCall): unknown {
  return error instanceof ReportedFailure ? replyFailure(error.reported, call) : error;
}

/** Reads a reply. Throws the meaning of an error that the reply reports. */
export function reading<Reply>(call: RefusedCall, read: () => Reply): Reply {
  try {
    return read();
  } catch (error) {
    throw failureFor(error, call);
  }
}
