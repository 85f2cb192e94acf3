// Checks every answer, to any request: documented, in the shape of its surface, no fault of ours,
// and free of charge unless it is a success.

import { ApiError, ERRORS, isErrorCode } from "../../../src/core/errors.ts";
import type { NanoUsd } from "../../../src/core/money/money.ts";
import { usd } from "../../../src/core/money/money.ts";
import type { DocumentedEndpoint } from "../../../src/http/endpoint-errors.ts";
import { errorFormOf } from "../../../src/http/endpoint-info.ts";
import { ERROR_FORMS, type ErrorForm } from "../../../src/http/respond.ts";
import { errorFormNear } from "../../../src/http/unknown-route.ts";
import { AGENTS, APPLICATION, GATEWAY, PROGRAM } from "../../../src/routes.ts";
import { endpointOf, misfit, undocumented } from "../../support/api/contract.ts";
import { type OrderedEvent, orderFault } from "../../support/api/event-order.ts";
import { checkMcp } from "./check-mcp.ts";
import { type FuzzRequest, pathOf } from "./fuzz-request.ts";
import { isNoHttp, type RawAnswer } from "./raw-client.ts";

/** The facts about the money that the caller knows after a request. */
export interface Outcome {
  readonly status: number;
  /** Null for an answer of the server itself, before any of our code ran. */
  readonly requestId: string | null;
  /** The exact cost; null for a stream that broke off, and for mail that waits. */
  readonly cost: NanoUsd | null;
}

export interface CheckOptions {
  /** True if the request may fail by its upstream. */
  readonly mayFail: boolean;
}

const COMMON_HEADERS = [
  "x-svc-cost-usd",
  "x-ratelimit-limit-requests",
  "x-ratelimit-remaining-requests",
  "x-ratelimit-reset-requests",
] as const;
/** Paths of no surface, which answer without the headers of a surface. */
const OF_THE_PROGRAM: ReadonlySet<string> = new Set(PROGRAM.map(({ path }) => path));
/**
 * The console, which dots in a path may lead to. The console has its own fuzzer (check-console.ts).
 */
const OF_THE_CONSOLE = /^\/console\/api\//i;
const GATEWAY_FAILURES: ReadonlySet<number> = new Set([502, 503]);
/** Codes of paths that have no endpoint; a malformed Host comes before them. */
const UNROUTED: ReadonlySet<string> = new Set([
  "not_found",
  "method_not_allowed",
  "invalid_parameter",
]);

/** Throws an Error that names the fault of the answer. */
export function checkAnswer(
  request: FuzzRequest,
  answer: RawAnswer,
  { mayFail }: CheckOptions,
): Outcome {
  const { status, headers, body } = answer;
  const requestId = headers.get("x-request-id");
  if (isNoHttp(request, answer)) return { status, requestId, cost: usd("0") };
  if (status === 500) throw new Error("A fault of ours");
  if (status > 500 && !(mayFail && GATEWAY_FAILURES.has(status))) {
    throw new Error("Nothing explains a failure");
  }
  const path = pathOf(request.target);
  const endpoint = endpointOf(request.method, path);
  if (endpoint === null && OF_THE_CONSOLE.test(path)) {
    return { status, requestId: null, cost: usd("0") };
  }
  // The webhook has a request id, but serves no call of an account.
  const isWebhook = path === "/webhooks/stripe" && request.method === "POST";
  if (requestId === null || isWebhook) {
    return checkPlain(endpoint, request, answer);
  }
  const isMcp = AGENTS.some((one) => one === endpoint);
  const outcomeOfMcp = isMcp ? checkMcp(request, answer) : null;
  if (outcomeOfMcp !== null) return outcomeOfMcp;
  for (const name of COMMON_HEADERS) if (!headers.has(name)) throw new Error(`${name} is missing`);
  const cost = usd(headers.get("x-svc-cost-usd") ?? "");
  const isError = status >= 400;
  if (isError && cost !== 0n) throw new Error(`An error says that it cost ${cost} nano-USD`);
  const outcome = { status, requestId, cost };
  if (request.method === "HEAD") return outcome;
  const type = headers.get("content-type") ?? "";
  if (type.startsWith("text/event-stream"))
    return { ...outcome, cost: checkStream(endpoint, answer) };
  if (endpoint?.mediaType !== undefined && type === endpoint.mediaType) return outcome;
  const value: unknown = JSON.parse(body.toString());
  if (isError) checkError(status, value, expectedForm(request, endpoint));
  // A page limits requests without a key, and has no list of errors.
  const isRefusedPage = isError && endpoint === null && OF_THE_PROGRAM.has(path);
  if (!isRefusedPage) checkDocumented(endpoint, !isError, value);
  if (isError) return outcome;
  checkSvc(value, outcome, headers.has("idempotent-replayed"));
  if (headers.has("idempotent-replayed")) return { ...outcome, cost: usd("0") };
  return status === 200 ? outcome : { ...outcome, cost: null };
}

/** Health, documentation and webhooks. */
function checkPlain(
  endpoint: DocumentedEndpoint | null,
  request: FuzzRequest,
  { status, headers, body }: RawAnswer,
): Outcome {
  const outcome = { status, requestId: null, cost: usd("0") };
  if (status >= 400) {
    const path = pathOf(request.target);
    if (!OF_THE_PROGRAM.has(path)) throw new Error("An error has no request id");
    checkError(status, JSON.parse(body.toString()), expectedForm(request, null));
    return outcome;
  }
  const isJson = headers.get("content-type")?.startsWith("application/json") === true;
  if (isJson && endpoint !== null) checkDocumented(endpoint, true, JSON.parse(body.toString()));
  return outcome;
}

function checkDocumented(endpoint: DocumentedEndpoint | null, ok: boolean, value: unknown): void {
  if (endpoint !== null) {
    const problem = undocumented(endpoint, { ok }, value);
    if (problem !== null) throw new Error(problem);
    return;
  }
  const code = (value as { readonly error?: { readonly code?: string } }).error?.code ?? "";
  if (ok || !UNROUTED.has(code)) throw new Error("A path without an endpoint was served");
}

/** The form of the endpoint: of SPEC 7, of OpenAI on the Application API, or its own. */
function expectedForm(
  { target, headers }: FuzzRequest,
  endpoint: DocumentedEndpoint | null,
): ErrorForm {
  const path = pathOf(target);
  const surface = path.startsWith("/api/") ? "application" : "gateway";
  const has = (name: string) => headers.some(([other]) => other.toLowerCase() === name);
  const asking = { headers: { has } };
  const own =
    endpoint === null
      ? errorFormNear(surface === "gateway" ? GATEWAY : APPLICATION, path, asking)
      : errorFormOf(endpoint, asking);
  return own ?? ERROR_FORMS[surface];
}

/** Throws unless the body of an error has this form and one of our codes, with its own status. */
function checkError(status: number, value: unknown, form: ErrorForm): void {
  const { error } = value as { readonly error?: Readonly<Record<string, unknown>> };
  const { code, type, message, ...others } = error ?? {};
  if (typeof code !== "string" || !isErrorCode(code)) throw new Error(`'${code}' is no code`);
  if (typeof message !== "string" || message === "") throw new Error(`${code} has no message`);
  const expected = form(new ApiError(code, message), "").error as Readonly<Record<string, unknown>>;
  if (ERRORS[code].status !== status || expected.type !== type) {
    throw new Error(`${code} is not ${type} ${status}`);
  }
  // With a malformed Host the router treats another part of the URL as the path.
  if (message.startsWith("The header Host")) return;
  const names = Object.keys(others).join();
  const known = Object.keys(expected).filter((name) => !OF_EVERY_FORM.has(name));
  if (names !== known.join()) throw new Error(`An error has fields '${names}'`);
}

const OF_EVERY_FORM: ReadonlySet<string> = new Set(["code", "type", "message"]);

interface Svc {
  readonly request_id?: string;
  readonly cost_usd?: number;
}

/** Requires that body and headers agree. A repeat names the request that it repeats. */
function checkSvc(value: unknown, { requestId, cost }: Outcome, isRepeat: boolean): void {
  const { svc } = value as { readonly svc?: Svc };
  if (svc?.cost_usd === undefined) return;
  const inBody = usd(svc.cost_usd.toFixed(9));
  // The body of a replayed answer is that of the first call, which was charged; the repeat is free.
  if (isRepeat && cost === usd("0")) return;
  if (inBody !== cost) throw new Error(`The header says ${cost}, the body ${inBody} nano-USD`);
  if (!isRepeat && svc.request_id !== requestId) throw new Error("The body has another request id");
}

/** A frame of any door; those of chat have no name. */
interface Frame extends OrderedEvent {
  readonly error?: { readonly code?: string };
  readonly svc?: Svc;
  readonly response?: { readonly error?: { readonly code?: string } | null; readonly svc?: Svc };
}

const FRAME = /^(?:event: (\S+)\n)?data: (.*)$/s;
/** It keeps the connection. */
const COMMENT = /^:[^\n]*$/;
const MARK = "[DONE]";

/** The data of the whole frames of a stream, which may have broken off within one. */
function dataIn(body: Buffer): readonly string[] {
  const frames = body.toString().split("\n\n").slice(0, -1);
  return frames.flatMap((frame) => {
    if (COMMENT.test(frame)) return [];
    const [, name, data] = FRAME.exec(frame) ?? [];
    if (data === undefined) throw new Error(`A stream has the frame '${frame}'`);
    const isNamed = name === undefined || (JSON.parse(data) as Frame).type === name;
    if (!isNamed) throw new Error(`The event ${name} has another type`);
    return [data];
  });
}

/** The cost in the last frame; null if the stream broke off. */
function checkStream(
  endpoint: DocumentedEndpoint | null,
  { body, isWhole }: Pick<RawAnswer, "body" | "isWhole">,
): NanoUsd | null {
  const data = dataIn(body);
  const hasMark = data.at(-1) === MARK;
  if (endpoint?.chunk === undefined) throw new Error("An endpoint without streams sent one");
  const frames = (hasMark ? data.slice(0, -1) : data).map((text) => JSON.parse(text) as Frame);
  let cost: NanoUsd | null = null;
  for (const frame of frames) {
    const error = frame.error ?? frame.response?.error;
    if (error?.code === "internal_error") throw new Error("A stream ends with a fault of ours");
    const problem = frame.error === undefined ? misfit(endpoint.chunk, frame) : null;
    if (problem !== null) throw new Error(problem);
    const svc = frame.svc ?? frame.response?.svc;
    if (svc?.cost_usd !== undefined) cost = usd(svc.cost_usd.toFixed(9));
  }
  const fault = orderFault(frames, isWhole);
  if (fault !== null) throw new Error(fault);
  if (hasMark && cost === null) throw new Error("A whole stream does not say what it cost");
  return cost;
}
