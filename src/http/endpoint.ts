// One definition per endpoint, and one frame that handles them all: it identifies the caller, reads
// and checks the request, refuses or runs it, and replies. Read this file from top to bottom to
// follow a request.

import type { RateLimits } from "../../actors/account.ts";
import { refuse } from "../calls/admission.ts";
import type { Call } from "../calls/call.ts";
import { EndUser } from "../core/access/end-users.ts";
import type { ModelPatterns } from "../core/access/key-limits.ts";
import type { Surface } from "../core/access/services.ts";
import { ApiError } from "../core/errors.ts";
import type { Answer } from "./answer.ts";
import { CallBody, checkAhead, checkPauses, serviceTerms } from "./body/ahead.ts";
import { endUserIn } from "./body/end-user.ts";
import type { JsonBody } from "./body/json-body.ts";
import { parseBody } from "./body/parse-body.ts";
import { LateBody, readBody } from "./body/read-body.ts";
import {
  type Endpoint,
  type EndpointInfo,
  errorFormOf,
  loggedName,
  methodsOf,
} from "./endpoint-info.ts";
import {
  answerError,
  arrive,
  checkHost,
  countOnce,
  type FrameDeps,
  identify,
  type RawRequest,
  tooManyRequests,
} from "./frame.ts";
import { idempotencyKeyIn, isRepeatable, keyedRequest } from "./idempotency.ts";
import type { KeyedRequest } from "./kept-answers.ts";
import { maxCostIn } from "./max-cost.ts";
import { countByKey } from "./optional-key.ts";
import { wantsReceiptIn } from "./receipt-header.ts";
import { keepAnswer, replayOf } from "./replay.ts";
import { bytesResponse, jsonResponse } from "./respond.ts";
import { runIn } from "./run-header.ts";
import { QuietConnection } from "./server.ts";
import { eventStream } from "./sse.ts";

/** A request with a known key. */
export interface EndpointContext<Deps> {
  readonly deps: Deps;
  readonly call: Call;
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
  /** The requested model or action, for the log. Only existing names may be set. */
  model: string | null;
  /** The bytes of the body; of a short one, its characters. */
  bodyBytes: number;
}

const BYTES = "application/octet-stream";

/** An endpoint that needs a key, and answers with its result. */
export interface KeyedDefinition<Deps, Input, Prepared, Result> extends EndpointInfo {
  readonly surface: Surface;
  readonly access: "scope" | "key";
  readonly body?: JsonBody<Input>;
  /** The most bytes of a body now, for an endpoint whose limit the configuration can change. */
  readonly bytesMax?: (deps: Deps) => number;
  /**
   * True if a call of the endpoint costs money. Such an endpoint is refused while its service is
   * paused.
   */
  readonly isBilled: boolean;
  /** Refuses a request for its sender, before its key is read. */
  readonly checkSender?: (request: Request, deps: Deps) => void;
  /** The id of the end user that a body names; null or empty without one. */
  readonly endUser?: (input: Input) => string | null | undefined;
  /** Refusals of the body that come before those of its schema. */
  readonly precheck?: (body: unknown, context: EndpointContext<Deps>) => Promise<void>;
  /**
   * Checks and converts the input. If the function throws, the request is refused: the account
   * counts and logs the request.
   */
  readonly prepare: (input: Input, context: EndpointContext<Deps>) => Prepared;
  readonly run: (context: EndpointContext<Deps>, prepared: Prepared) => Promise<Result>;
  readonly answer: (context: EndpointContext<Deps>, prepared: Prepared, result: Result) => Answer;
}

/** Defines an endpoint that needs a key (SPEC 5.2). */
export function endpoint<Deps extends FrameDeps, Input, Prepared, Result>(
  definition: KeyedDefinition<Deps, Input, Prepared, Result>,
): Endpoint<Deps> {
  return { ...definition, answer: (deps, raw) => answerKeyed(deps, raw, definition) };
}

/** An endpoint without a key; callers are counted by key or by address. */
export interface OpenDefinition<Deps> extends EndpointInfo {
  readonly surface: Surface;
  /** Makes the answer; `models` are those that the key of the request may call. */
  readonly run: (
    deps: Deps,
    asked: Required<Pick<RawRequest, "request" | "params">>,
    models: ModelPatterns,
  ) => string;
}

/** Defines an endpoint that needs no key. */
export function openEndpoint<Deps extends FrameDeps>(
  definition: OpenDefinition<Deps>,
): Endpoint<Deps> {
  const { run, ...info } = definition;
  const answer = (deps: Deps, raw: RawRequest) => {
    const { request, params = {} } = raw;
    return answerOpen(deps, raw, { info, run: (models) => run(deps, { request, params }, models) });
  };
  return { ...info, access: "anybody", isBilled: false, answer };
}

/** An endpoint of the program itself: no key, no counting, no headers of a surface. */
export interface PlainDefinition<Deps>
  extends Omit<EndpointInfo, "surface" | "service" | "errors"> {
  readonly run: (deps: Deps, raw: RawRequest) => Response | Promise<Response>;
}

/** Defines an endpoint of the program itself. */
export function plainEndpoint<Deps>({ run, ...info }: PlainDefinition<Deps>): Endpoint<Deps> {
  const answer = async (deps: Deps, raw: RawRequest) => guarded(await run(deps, raw));
  const none = { surface: null, service: null, errors: [] } as const;
  return { ...info, ...none, access: "anybody", isBilled: false, answer };
}

/**
 * Sets headers so that a browser keeps the response's type, and no cache keeps it unless it says
 * so.
 */
function guarded(response: Response): Response {
  const { headers } = response;
  headers.set("x-content-type-options", "nosniff");
  if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
  return response;
}

// One function, because every further `async` function costs each call objects and time.
async function answerKeyed<Deps extends FrameDeps, Input, Prepared, Result>(
  deps: Deps,
  raw: RawRequest,
  definition: KeyedDefinition<Deps, Input, Prepared, Result>,
): Promise<Response> {
  const arrival = arrive(deps, raw, errorFormOf(definition, raw.request));
  const { request } = raw;
  let call: Call | null = null;
  try {
    checkHost(request);
    definition.checkSender?.(request, deps);
    const identified = identify(deps, arrival, loggedName(definition));
    call = identified instanceof Promise ? await identified : identified;
    const { params = {} } = raw;
    const context: EndpointContext<Deps> = {
      deps,
      call,
      request,
      params,
      model: null,
      bodyBytes: 0,
    };
    const { accountId } = call.identity;
    let keyed: KeyedRequest | null = null;
    let prepared: Prepared;
    try {
      checkMethod(request, definition);
      if (definition.isBilled) {
        call.maxCost = maxCostIn(request.headers);
        call.run = runIn(request.headers, deps.runRules());
        call.wantsReceipt = wantsReceiptIn(request.headers);
      }
      const idempotencyKey = isRepeatable(definition) ? idempotencyKeyIn(request.headers) : null;
      const { body, precheck } = definition;
      // Without a body there is no input, although the type has one.
      let input = undefined as Input;
      if (body !== undefined) {
        const bytesMax = definition.bytesMax?.(deps) ?? body.bytesMax;
        const rules = new CallBody(context, definition, bytesMax);
        if (rules.isAskedAhead) await checkAhead(context, definition);
        const read = await readBody(request, rules);
        context.bodyBytes = read.length;
        // Here, because the body is not kept, and may move to another thread.
        if (idempotencyKey !== null) keyed = keyedRequest(context, idempotencyKey, read);
        const { parser } = deps;
        const parsed = parseBody(body, read, { parser, sender: accountId, share: rules.share });
        const value = parsed instanceof Promise ? await parsed : parsed;
        if (precheck !== undefined) await precheck(value, context);
        input = body.check(value);
      } else if (idempotencyKey !== null) keyed = keyedRequest(context, idempotencyKey, "");
      if (definition.isBilled) {
        const id = endUserIn(request.headers) ?? definition.endUser?.(input);
        if (id) call.endUser = new EndUser(id, { accountId, secrets: deps.keyPeppers });
      }
      prepared = definition.prepare(input, context);
      checkPauses(deps, definition);
    } catch (error) {
      if (call.ahead === "refused") throw error;
      arrival.isBodyLate = error instanceof LateBody;
      return await refuseCall(context, definition, error);
    }
    // The connection may be idle until the answer begins: a call has its own time limits.
    const quiet = new QuietConnection(deps.calls.clock, raw);
    try {
      if (keyed !== null) {
        const replay = await replayOf(context, definition, keyed);
        if (replay !== null) return respond(context, definition, replay);
      }
      const result = await definition.run(context, prepared);
      const answer = definition.answer(context, prepared, result);
      if (keyed !== null) keepAnswer(deps, keyed, answer);
      return respond(context, definition, answer);
    } finally {
      quiet.end();
    }
  } catch (error) {
    return await answerError(deps, arrival, error, call?.rate ?? null);
  }
}

/** Counts and logs, at the account, a call that is refused for its input. Throws the refusal. */
function refuseCall<Deps extends FrameDeps>(
  { deps, call, model }: EndpointContext<Deps>,
  definition: Pick<Endpoint<never>, "service" | "access">,
  error: unknown,
): Promise<never> {
  if (!(error instanceof ApiError)) throw error;
  return refuse(deps.calls, call, { ...serviceTerms(definition), model, refusal: error });
}

function checkMethod(
  { method }: Request,
  definition: Pick<Endpoint<never>, "method" | "isBilled">,
) {
  const allowed = methodsOf(definition);
  if (allowed.includes(method)) return;
  const allow = allowed.join(", ");
  throw new ApiError("method_not_allowed", `Use ${allow}`, { allow });
}

function respond<Deps extends FrameDeps>(
  context: EndpointContext<Deps>,
  { mediaType }: Pick<EndpointInfo, "mediaType">,
  answer: Answer,
): Response {
  measureOwn(context);
  const { requestId, rate } = context.call;
  if ("response" in answer) {
    answer.response.headers.set("x-request-id", requestId);
    return guarded(answer.response);
  }
  if (rate === null) throw new Error("A call is answered before it was admitted");
  if ("events" in answer) {
    // Nothing is charged yet, which the header shows; the last frame has the real cost.
    return eventStream(answer.events, { requestId, rate });
  }
  const { costUsd, status, isRepeat } = answer;
  const meta = { requestId, rate, costUsd, status, isRepeat };
  if ("json" in answer) return jsonResponse(answer.json, meta);
  return bytesResponse(answer.bytes, mediaType ?? BYTES, meta);
}

function measureOwn<Deps extends FrameDeps>({ deps, call }: EndpointContext<Deps>): void {
  const { meter, clock } = deps.calls;
  meter?.own((clock.monotonicMs() - call.arrivedMs - call.upstreamMs) / 1_000);
}

async function answerOpen(
  deps: FrameDeps,
  raw: RawRequest,
  { info, run }: { readonly info: EndpointInfo; readonly run: (models: ModelPatterns) => string },
): Promise<Response> {
  const arrival = arrive(deps, raw, errorFormOf(info, raw.request));
  let rate: RateLimits | null = null;
  try {
    checkHost(raw.request);
    const answerTo = (models: ModelPatterns) => jsonOrRefusal(() => run(models));
    let made = answerTo(null);
    const refusal = made instanceof ApiError ? made : null;
    const { service } = serviceTerms({ service: info.service, access: "key" });
    const request = { endpoint: loggedName(info), service, refusal, answerTo };
    const byKey = await countByKey(deps, arrival, request);
    if (byKey === null) {
      const { allowed, ...counted } = await countOnce(deps, arrival);
      rate = counted;
      if (!allowed) throw tooManyRequests(counted);
    } else {
      rate = byKey.rate;
      if (byKey.tooMany !== null) throw byKey.tooMany;
      made = byKey.own ?? made;
    }
    if (made instanceof ApiError) throw made;
    return jsonResponse(made, { requestId: arrival.requestId, rate });
  } catch (error) {
    return await answerError(deps, arrival, error, rate);
  }
}

function jsonOrRefusal(run: () => string): string | ApiError {
  try {
    return run();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}
