// The frame of every request: who asks, and what an answer or an error looks like. What differs
// between the surfaces is looked up by the name of the surface.

import type { KeyIdentity, RateLimits } from "../../actors/account.ts";
import type { Call, CallDeps } from "../calls/call.ts";
import type { Pauses } from "../calls/pauses.ts";
import { ApiError, toApiError } from "../core/errors.ts";
import { newTimedId, type RandomBytes } from "../core/ids.ts";
import { keyDigest, type Surface } from "../core/keys.ts";
import { ANONYMOUS_REQUESTS_PER_MINUTE } from "../core/limits.ts";
import type { ClientInfo } from "./client-info.ts";
import { type ClientIp, networkOf } from "./client-ip.ts";
import { invalidKey, readKey } from "./read-key.ts";
import { errorResponse, type ResponseMeta } from "./respond.ts";
import type { BunServer } from "./server.ts";

/**
 * Finds what a key leads to, by its digest. Throws when it cannot know. `hasTurn` says whether the
 * caller may have a look-up of their own; it is asked only about a key that is not known yet.
 */
export interface KeyDirectory {
  find(digest: string, hasTurn: () => Promise<boolean>): Promise<KeyIdentity | null>;
}

/** Counts the requests of callers without a valid key. */
export interface AnonymousWindow {
  count(caller: string): Promise<RateLimits & { readonly allowed: boolean }>;
}

/** What the frame is given. */
export interface EndpointDeps {
  /** Whose keys are taken, and how errors are shaped. */
  readonly surface: Surface;
  readonly calls: CallDeps;
  readonly pauses: Pauses;
  readonly keys: KeyDirectory;
  readonly anonymous: AnonymousWindow;
  readonly random: RandomBytes;
  readonly keyPepper: string;
  readonly clientIp: ClientIp;
  readonly clientInfo: (ip: string) => ClientInfo;
}

/** What Elysia hands a route. */
export interface RawRequest {
  readonly request: Request;
  readonly server: BunServer | null;
}

/** A request before anything of it was looked at. */
export interface RequestContext extends RawRequest {
  readonly requestId: string;
  readonly arrivedMs: number;
  readonly clientIp: string;
  /** True while the body is being read: what is left of it then makes the connection useless. */
  isReadingBody: boolean;
  /** The one count of this request in the window of its address, once it was asked for. */
  counted: Promise<AnonymousCount> | null;
}

interface AnonymousCount extends RateLimits {
  readonly allowed: boolean;
  /** False when Redis did not answer: nobody knows how many there were. */
  readonly known: boolean;
}

const HOST = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

/** Answers a request that needs a key (SPEC 5.2). */
export async function authenticated(
  deps: EndpointDeps,
  raw: RawRequest,
  endpoint: string,
  answer: (call: Call, arrival: RequestContext) => Promise<Response>,
): Promise<Response> {
  const arrival = arrive(deps, raw);
  let call: Call | null = null;
  try {
    checkHost(raw.request);
    call = await identify(deps, arrival, endpoint);
    return await answer(call, arrival);
  } catch (error) {
    return await answerError(deps, arrival, error, call?.rate ?? null);
  }
}

/** Answers a request that needs none; callers are counted by their address. */
export async function anonymous(
  deps: EndpointDeps,
  raw: RawRequest,
  answer: (facts: ResponseMeta) => Response,
): Promise<Response> {
  const arrival = arrive(deps, raw);
  try {
    checkHost(raw.request);
    const { allowed, ...rate } = await countOnce(deps, arrival);
    const facts = { requestId: arrival.requestId, rate };
    return allowed ? answer(facts) : errorResponse(tooMany(rate), facts, deps.surface);
  } catch (error) {
    return await answerError(deps, arrival, error, null);
  }
}

/** What the headers of an admitted call's answer say, but for its cost. */
export function responseMeta(call: Call): ResponseMeta {
  if (call.rate === null) throw new Error("A call is answered before it was admitted");
  return { requestId: call.requestId, rate: call.rate };
}

/** Answers a request that no route takes; nothing of it was looked at before. */
export async function unrouted(
  deps: EndpointDeps,
  raw: RawRequest,
  error: unknown,
): Promise<Response> {
  return await answerError(deps, arrive(deps, raw), error, null);
}

function arrive(deps: EndpointDeps, { request, server }: RawRequest): RequestContext {
  const { clock } = deps.calls;
  const peer = server?.requestIP(request)?.address ?? "";
  return {
    request,
    server,
    requestId: newTimedId("request", deps.random, clock.now()),
    arrivedMs: clock.monotonicMs(),
    clientIp: deps.clientIp(peer, request.headers),
    isReadingBody: false,
    counted: null,
  };
}

/** Nothing here depends on the Host, but a request that lies about it is up to no good. */
function checkHost(request: Request): void {
  const host = request.headers.get("host");
  if (host === null || !HOST.test(host)) {
    throw new ApiError("invalid_parameter", "The header Host must name one host");
  }
}

async function identify(
  deps: EndpointDeps,
  arrival: RequestContext,
  endpoint: string,
): Promise<Call> {
  const key = readKey(arrival.request.headers, deps.surface);
  const identity = await findKey(deps, arrival, key);
  if (identity === null) throw invalidKey();
  const { requestId, clientIp, arrivedMs, request } = arrival;
  const { country, ipHash } = deps.clientInfo(clientIp);
  return {
    requestId,
    identity,
    endpoint,
    clientIp,
    country,
    ipHash,
    arrivedMs,
    signal: request.signal,
    rate: null,
  };
}

/** A key that is new to this process counts as none until it is found: anybody can make one up. */
async function findKey(
  deps: EndpointDeps,
  arrival: RequestContext,
  key: string,
): Promise<KeyIdentity | null> {
  const hasTurn = async () => {
    const { allowed, known } = await countOnce(deps, arrival);
    return allowed && known;
  };
  try {
    return await deps.keys.find(keyDigest(key, deps.keyPepper), hasTurn);
  } catch (cause) {
    if (cause instanceof ApiError) throw cause;
    const message = "Keys cannot be looked up right now";
    throw new ApiError("service_unavailable", message, { retryAfterSeconds: 1, cause });
  }
}

/** `rate` is what the account's own window said, or null where no account was asked. */
async function answerError(
  deps: EndpointDeps,
  arrival: RequestContext,
  thrown: unknown,
  rate: RateLimits | null,
): Promise<Response> {
  const { requestId } = arrival;
  let error = toApiError(thrown);
  const isKeyless = error.code === "invalid_api_key" || error.code === "missing_api_key";
  // A revoked key is told just what an unknown one is told.
  if (error.code === "invalid_api_key") error = invalidKey();
  if (error.cause !== undefined) {
    deps.calls.log.error({ requestId, code: error.code, err: error.cause }, "A request failed");
  }
  let known = rate;
  if (known === null || isKeyless) {
    const { allowed, ...counted } = await countOnce(deps, arrival);
    if (isKeyless && !allowed) error = tooMany(counted);
    known = counted;
  }
  const facts = { requestId, rate: known, closes: arrival.isReadingBody };
  return errorResponse(error, facts, deps.surface);
}

function countOnce(deps: EndpointDeps, arrival: RequestContext): Promise<AnonymousCount> {
  arrival.counted ??= countAnonymous(deps, arrival);
  return arrival.counted;
}

async function countAnonymous(
  deps: EndpointDeps,
  arrival: RequestContext,
): Promise<AnonymousCount> {
  try {
    const caller = networkOf(arrival.clientIp);
    return { ...(await deps.anonymous.count(deps.clientInfo(caller).ipHash)), known: true };
  } catch (error) {
    // What needs no account is served without Redis too, as if the caller were the first.
    deps.calls.log.warn({ requestId: arrival.requestId, err: error }, "A caller was not counted");
    const limit = ANONYMOUS_REQUESTS_PER_MINUTE;
    return { allowed: true, known: false, limit, remaining: limit, resetSeconds: 60 };
  }
}

function tooMany(rate: RateLimits): ApiError {
  return new ApiError(
    "rate_limit_exceeded",
    `Without a valid key ${rate.limit} requests a minute are allowed`,
    { retryAfterSeconds: rate.resetSeconds },
  );
}
