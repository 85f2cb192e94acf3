// Sends one request to an upstream of maps, and reads its reply. Addresses contain coordinates,
// queries and keys, so errors never contain any part of them, or of the upstream's answer.

import { OK } from "../../../../core/errors.ts";
import { jsonOrNull } from "../../../../core/text/json.ts";
import { reportsFailure } from "../../../../upstream/reported-failure.ts";
import { RouteFailure, UnableFailure } from "../../../../upstream/route-failure.ts";
import { TimeLimit } from "../../../../upstream/time-limit.ts";
import {
  exchange,
  type Fetch,
  parseJson,
  readBytes,
  readRefusal,
  readText,
  statusFailure,
  unreadFailure,
} from "../../../../upstream/upstream-http.ts";
import type { UpstreamResponse } from "../../../../upstream/upstream-response.ts";
import type { MapsAction, ParametersOf } from "../../actions.ts";
import type { MapsServer } from "../../servers.ts";
import {
  type AskOptions,
  type MapsAnswer,
  refusalFor,
  type Service,
  type Unable,
} from "../provider.ts";

export interface Upstream {
  readonly server: MapsServer;
  readonly fetch: Fetch;
  /** The parameter with the key; without one the key is sent as a bearer token. */
  readonly keyParameter?: string;
}

/** Null values are omitted. */
export type Query = Readonly<Record<string, string | number | boolean | null>>;

export interface UpstreamRequest {
  /** The path after the base URL, with a slash at its beginning; its parts are encoded. */
  readonly path: string;
  readonly query?: Query;
  /** Sent by POST. */
  readonly body?: { readonly type: string; readonly text: string };
}

/** The pure parts of a service: from an action to a request, and from the reply to an answer. */
export interface Mapper<A extends MapsAction> {
  readonly unable?: (parameters: ParametersOf<A>) => ReturnType<NonNullable<Service<A>["unable"]>>;
  readonly request: (parameters: ParametersOf<A>) => UpstreamRequest;
  /** For a reply with status 200 without a failure; throws a RouteFailure if it makes no sense. */
  readonly answer: (reply: unknown, parameters: ParametersOf<A>) => MapsAnswer<A>;
  /**
   * The answer, if a refusal means that nothing was found; otherwise null. A refusal may come with
   * status 200.
   */
  readonly nothing?: (
    refusal: unknown,
    status: number,
    parameters: ParametersOf<A>,
  ) => MapsAnswer<A> | null;
  /** The parameter that the server cannot serve, if a refusal says so; otherwise null. */
  readonly unableBy?: (refusal: unknown, parameters: ParametersOf<A>) => Unable | null;
}

const REPLY_BYTES_MAX = 8 * 1024 * 1024;
const REFUSAL_BYTES_MAX = 64 * 1024;
/** Some servers refuse single requests by it. */
const FORBIDDEN = 403;
/** Statuses with which upstreams may say that they found nothing. */
const REFUSALS: ReadonlySet<number> = new Set([400, 404, 422]);
/** The usage policies of the public servers require programs to identify themselves. */
const USER_AGENT = "Farebox";

/** Builds the service of an action with JSON replies. */
export function jsonService<A extends MapsAction>(
  upstream: Upstream,
  mapper: Mapper<A>,
): Service<A> {
  const { unable } = mapper;
  return {
    ...(unable === undefined ? {} : { unable }),
    async ask(parameters, options) {
      const asked = { ...upstream, ...options, ...mapper.request(parameters) };
      const { text, ...response } = await send(asked, readReply);
      const isOk = response.status === OK;
      const refusal = isOk ? parseJson(text) : jsonOrNull(text);
      if (isOk && !reportsFailure(refusal)) return mapper.answer(refusal, parameters);
      if (refusal === null) throw statusFailure(response);
      const nothing = mapper.nothing?.(refusal, response.status, parameters);
      if (nothing) return nothing;
      const unableBy = mapper.unableBy?.(refusal, parameters);
      if (unableBy) throw unableFailure(unableBy);
      throw isOk ? new RouteFailure("The reply tells a failure") : statusFailure(response);
    },
  };
}

/** The failure of a server that cannot serve a parameter. */
export function unableFailure(unable: Unable): UnableFailure {
  return new UnableFailure(refusalFor(unable));
}

/** The bytes of a reply, for example of a picture. */
export async function requestBytes(
  upstream: Upstream,
  request: UpstreamRequest,
  options: AskOptions,
): Promise<Uint8Array> {
  return await send({ ...upstream, ...options, ...request }, async (response) => {
    if (response.status === OK) return await readBytes(response, REPLY_BYTES_MAX);
    throw await failureOf(response);
  });
}

/** A reply with status 200, or a refusal that may mean that nothing was found. */
async function readReply(response: UpstreamResponse) {
  const { status, headers } = response;
  if (status === OK) return { status, headers, text: await readText(response, REPLY_BYTES_MAX) };
  if (!REFUSALS.has(status)) throw await failureOf(response);
  // The status counts, also with a body that is too large or breaks off.
  const text = await readRefusal(response, REFUSAL_BYTES_MAX);
  return { status, headers, text };
}

async function failureOf(response: UpstreamResponse): Promise<RouteFailure> {
  return await unreadFailure(response, { isHealthy: response.status === FORBIDDEN });
}

function send<T>(
  asked: Upstream & AskOptions & UpstreamRequest,
  read: (response: UpstreamResponse) => Promise<T>,
): Promise<T> {
  const { server, keyParameter, fetch, account, signal, path, query = {}, body } = asked;
  const headers: Record<string, string> = { "user-agent": USER_AGENT };
  if (body !== undefined) headers["content-type"] = body.type;
  if (server.apiKey !== null && keyParameter === undefined) {
    headers.authorization = `Bearer ${server.apiKey}`;
  }
  const key = keyParameter === undefined ? {} : { [keyParameter]: server.apiKey };
  const url = `${server.baseUrl}${path}${search({ ...query, ...key })}`;
  const limit = new TimeLimit(server.timeoutMs, signal);
  const method = body === undefined ? "GET" : "POST";
  return exchange({ account, fetch, url, method, headers, body: body?.text, limit }, read);
}

function search(query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === null ? [] : [[name, String(value)] as [string, string]],
  );
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}

/** Degrees in a form that every server reads: without an exponent, precise to a centimetre. */
export function degrees(value: number): string {
  return value
    .toFixed(7)
    .replace(/\.?0+$/, "")
    .replace(/^-0$/, "0");
}
