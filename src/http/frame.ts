// Implements the common parts of every request: identifies the caller, counts the request, and
// shapes errors. If the surfaces differ, the name of the surface selects the variant.

import type { KeyIdentity, RateLimits } from "../../actors/account.ts";
import type { Call, CallDeps } from "../calls/call.ts";
import type { Pauses } from "../calls/pauses.ts";
import { invalidKey, type KeyDigests, keyDigests } from "../core/access/keys.ts";
import { ANONYMOUS_REQUESTS_PER_MINUTE } from "../core/access/limits.ts";
import type { RunRules } from "../core/access/runs.ts";
import type { Surface } from "../core/access/services.ts";
import { ApiError } from "../core/errors.ts";
import { newTimedId, type RandomBytes } from "../core/ids.ts";
import type { SecretList } from "../core/secrets.ts";
import type { BodyShares } from "./body/body-shares.ts";
import type { BodyParser } from "./body/parse-body.ts";
import { drainForCloser, hasLargeUnread } from "./body/unread-body.ts";
import type { ClientInfo } from "./client-info.ts";
import { type ClientIp, networkOf } from "./client-ip.ts";
import { failureOf } from "./failure.ts";
import type { KeptAnswers } from "./kept-answers.ts";
import { readKey } from "./read-key.ts";
import { ERROR_FORMS, type ErrorForm, errorResponse } from "./respond.ts";
import { peerOf, type RequestServer } from "./server.ts";

/** Finds the identity of a key, by its digests. */
export interface KeyDirectory {
  /** The cached identity of a key; undefined for a key that must be looked up. */
  known(digests: KeyDigests): FoundKey | undefined;
  /**
   * Looks up a key that is not cached. Rejects when the store cannot answer. `hasTurn` resolves to
   * true if this caller may have a further look-up.
   */
  find(digests: KeyDigests, hasTurn: () => Promise<boolean>): Promise<FoundKey>;
  /** Forgets a key that was found and then refused as revoked. */
  forget(digests: KeyDigests): void;
}

type FoundKey = KeyIdentity | null;

/** Counts the requests of callers without a valid key. */
export interface AnonymousWindow {
  count(caller: string): Promise<RateLimits & { readonly allowed: boolean }>;
}

/** The parts that the frame needs for any endpoint. */
export interface FrameDeps {
  /** The surface decides which keys are accepted, and how errors are shaped. */
  readonly surface: Surface;
  readonly calls: CallDeps;
  readonly pauses: Pauses;
  readonly keys: KeyDirectory;
  readonly anonymous: AnonymousWindow;
  readonly bodies: Pick<BodyShares, "of">;
  readonly answers: Pick<KeptAnswers, "keep" | "find">;
  readonly runRules: () => RunRules;
  /** Without a parser, all bodies are parsed in the thread that serves requests. */
  readonly parser?: BodyParser | undefined;
  readonly random: RandomBytes;
  readonly keyPeppers: SecretList;
  readonly clientIp: ClientIp;
  readonly clientInfo: (ip: string) => ClientInfo;
}

/** A request as the router passes it on. */
export interface RawRequest {
  readonly request: Request;
  readonly server: RequestServer | null;
  /** The values of the open parts of the endpoint's path. */
  readonly params?: Readonly<Record<string, string>>;
}

/** A request, before its key and body are read. */
export interface RequestContext extends RawRequest {
  readonly requestId: string;
  readonly arrivedMs: number;
  readonly clientIp: string;
  /** True if the body did not come in time: nothing can follow it on this connection. */
  isBodyLate: boolean;
  /** The digests of the request's key; null until a well-formed key was read. */
  keyDigests: KeyDigests | null;
  /** The form of its endpoint's errors; null for that of the surface. */
  readonly errorForm: ErrorForm | null;
  /** The count of this request in the window of its address; made at most once. */
  counted: Promise<AnonymousCount> | null;
}

export interface AnonymousCount extends RateLimits {
  readonly allowed: boolean;
  /** False if Redis did not reply, so nothing was counted. */
  readonly known: boolean;
}

const HOST = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

/** Gives a request its id and its arrival time. */
export function arrive(
  deps: FrameDeps,
  { request, server }: RawRequest,
  errorForm: ErrorForm | null = null,
): RequestContext {
  const { clock } = deps.calls;
  const peer = peerOf(server, request);
  return {
    request,
    server,
    requestId: newTimedId("request", deps.random, clock.now()),
    arrivedMs: clock.monotonicMs(),
    clientIp: deps.clientIp(peer, request.headers),
    isBodyLate: false,
    keyDigests: null,
    errorForm,
    counted: null,
  };
}

/** True if the header Host names one host. */
export function namesHost(request: Request): boolean {
  const host = request.headers.get("host");
  return host !== null && HOST.test(host);
}

/** Refuses a malformed Host: it can hide the path from the router, and shows a broken client. */
export function checkHost(request: Request): void {
  if (!namesHost(request)) {
    throw new ApiError("invalid_parameter", "The header Host must name one host");
  }
}

/**
 * Returns the call of a request with a known key; no promise for a key that this process knows.
 * Throws `missing_api_key` or `invalid_api_key`.
 */
export function identify(
  deps: FrameDeps,
  arrival: RequestContext,
  endpoint: string,
): Call | Promise<Call> {
  const key = readKey(arrival.request.headers, deps.surface);
  arrival.keyDigests = keyDigests(key, deps.keyPeppers);
  const known = deps.keys.known(arrival.keyDigests);
  if (known !== undefined) return callOf(deps, arrival, endpoint, known);
  const finding = findKey(deps, arrival, arrival.keyDigests);
  return callOfFound(deps, arrival, { endpoint, finding });
}

async function callOfFound(
  deps: FrameDeps,
  arrival: RequestContext,
  { endpoint, finding }: { readonly endpoint: string; readonly finding: Promise<FoundKey> },
): Promise<Call> {
  return callOf(deps, arrival, endpoint, await finding);
}

// biome-ignore lint/complexity/useMaxParams: every call begins with it
function callOf(
  deps: FrameDeps,
  { requestId, clientIp, arrivedMs, request }: RequestContext,
  endpoint: string,
  identity: FoundKey,
): Call {
  if (identity === null) throw invalidKey();
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
    traceparent: deps.calls.tracer?.contextOf(request.headers) ?? null,
    upstreamFromMs: null,
    upstreamMs: 0,
    rate: null,
    models: null,
    maxCost: null,
    wantsReceipt: false,
    run: null,
    endUser: null,
    markers: null,
    askedModel: undefined,
    ahead: null,
  };
}

/** Looks up a key; a key that this process does not know counts in the window of the address. */
function findKey(deps: FrameDeps, arrival: RequestContext, digests: KeyDigests): Promise<FoundKey> {
  const hasTurn = async () => {
    const { allowed, known } = await countOnce(deps, arrival);
    return allowed && known;
  };
  return deps.keys.find(digests, hasTurn).catch(lookupFailed);
}

function lookupFailed(cause: unknown): never {
  if (cause instanceof ApiError) throw cause;
  const message = "Keys cannot be looked up right now";
  throw new ApiError("service_unavailable", message, { retryAfterSeconds: 1, cause });
}

/** Forgets the key of this request, which turned out to be revoked, or was never found. */
export function forgetKey({ keys }: FrameDeps, { keyDigests }: RequestContext): void {
  if (keyDigests !== null) keys.forget(keyDigests);
}

/** `rate` is the account's own window; null if no account was involved. */
// biome-ignore lint/complexity/useMaxParams: every refusal runs it
export async function answerError(
  deps: FrameDeps,
  arrival: RequestContext,
  thrown: unknown,
  rate: RateLimits | null,
): Promise<Response> {
  const { requestId } = arrival;
  let error = failureOf(thrown);
  const isKeyless = error.code === "invalid_api_key" || error.code === "missing_api_key";
  if (error.code === "invalid_api_key") forgetKey(deps, arrival);
  if (error.cause !== undefined) {
    deps.calls.log.error({ requestId, code: error.code, err: error.cause }, "A request failed");
  }
  let known = rate;
  if (known === null || isKeyless) {
    const { allowed, ...counted } = await countOnce(deps, arrival);
    if (isKeyless && !allowed) error = tooManyRequests(counted);
    known = counted;
  }
  deps.calls.meter?.refused(error.code);
  const closes = arrival.isBodyLate || (error.isFlood && hasLargeUnread(arrival.request));
  if (!closes) await drainForCloser(arrival.request, deps.calls.clock);
  const facts = { requestId, rate: known, closes };
  return errorResponse(error, facts, arrival.errorForm ?? ERROR_FORMS[deps.surface]);
}

/** Counts the request in the window of its address; once for each request. */
export function countOnce(deps: FrameDeps, arrival: RequestContext): Promise<AnonymousCount> {
  arrival.counted ??= countAnonymous(deps, arrival);
  return arrival.counted;
}

async function countAnonymous(deps: FrameDeps, arrival: RequestContext): Promise<AnonymousCount> {
  try {
    const caller = networkOf(arrival.clientIp);
    return { ...(await deps.anonymous.count(deps.clientInfo(caller).windowHash)), known: true };
  } catch (error) {
    // If Redis is away, endpoints that need no account serve each request as if it were the first.
    deps.calls.log.warn({ requestId: arrival.requestId, err: error }, "A caller was not counted");
    const limit = ANONYMOUS_REQUESTS_PER_MINUTE;
    return { allowed: true, known: false, limit, remaining: limit, resetSeconds: 60 };
  }
}

/** The refusal for an address that sends too many requests. */
export function tooManyRequests(rate: RateLimits): ApiError {
  return new ApiError(
    "rate_limit_exceeded",
    `Without a valid key ${rate.limit} requests a minute are allowed`,
    { retryAfterSeconds: rate.resetSeconds },
  );
}
