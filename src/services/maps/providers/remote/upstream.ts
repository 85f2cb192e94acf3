// Sends one request to an upstream of maps, and reads its reply. Addresses contain coordinates,
// queries and keys, so errors never contain any part of them, or of what the upstream says.

import { RouteFailure } from "../../../../upstream/route-failure.ts";
import { type Fetch, parseJson, readText, tooLarge } from "../../../../upstream/upstream-http.ts";
import type { MapsAction, ParametersOf } from "../../actions.ts";
import type { MapsServer } from "../../servers.ts";
import type { MapsAnswer, Service } from "../provider.ts";

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
  /** For a reply with status 200. Throws a RouteFailure if it makes no sense. */
  readonly answer: (reply: unknown, parameters: ParametersOf<A>) => MapsAnswer<A>;
  /** The answer, if a refusal means that nothing was found; otherwise null. */
  readonly nothing?: (refusal: unknown, status: number) => MapsAnswer<A> | null;
}

const REPLY_BYTES_MAX = 8 * 1024 * 1024;
const REFUSAL_BYTES_MAX = 64 * 1024;
/** Statuses that blame the request or concern one moment: the server is healthy. */
const HEALTHY_SERVERS: ReadonlySet<number> = new Set([400, 403, 404, 413, 414, 422, 429]);
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
    async ask(parameters, { signal }) {
      const { status, body } = await exchange(
        upstream,
        mapper.request(parameters),
        signal,
        readJsonReply,
      );
      if (status === 200) return mapper.answer(body, parameters);
      const nothing = mapper.nothing?.(body, status) ?? null;
      if (nothing === null) throw statusFailure(status);
      return nothing;
    },
  };
}

/** The bytes of a reply, for example of a picture. */
export function requestBytes(
  upstream: Upstream,
  request: UpstreamRequest,
  signal: AbortSignal,
): Promise<Uint8Array> {
  return exchange(upstream, request, signal, async (response) => {
    if (response.status === 200) return await readBytes(response, REPLY_BYTES_MAX);
    throw statusFailure(await hangUp(response));
  });
}

async function readJsonReply(response: Response): Promise<{ status: number; body: unknown }> {
  const { status } = response;
  if (status === 200) return { status, body: parseJson(await readText(response, REPLY_BYTES_MAX)) };
  if (!REFUSALS.has(status)) throw statusFailure(await hangUp(response));
  try {
    return { status, body: parseJson(await readText(response, REFUSAL_BYTES_MAX)) };
  } catch {
    throw statusFailure(status);
  }
}

async function hangUp(response: Response): Promise<number> {
  await response.body?.cancel();
  return response.status;
}

function statusFailure(status: number): RouteFailure {
  const blames = HEALTHY_SERVERS.has(status) ? "nobody" : "server";
  return new RouteFailure(`The server answered ${status}`, blames);
}

async function exchange<T>(
  upstream: Upstream,
  { path, query = {}, body }: UpstreamRequest,
  signal: AbortSignal,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const { server, keyParameter } = upstream;
  const timeout = AbortSignal.timeout(server.timeoutMs);
  const headers: Record<string, string> = { "user-agent": USER_AGENT };
  if (body !== undefined) headers["content-type"] = body.type;
  if (server.apiKey !== null && keyParameter === undefined) {
    headers.authorization = `Bearer ${server.apiKey}`;
  }
  const key = keyParameter === undefined ? {} : { [keyParameter]: server.apiKey };
  try {
    const response = await upstream.fetch(
      `${server.baseUrl}${path}${search({ ...query, ...key })}`,
      {
        method: body === undefined ? "GET" : "POST",
        headers,
        ...(body === undefined ? {} : { body: body.text }),
        signal: AbortSignal.any([signal, timeout]),
        // A redirect could lead to an address that no operator configured.
        redirect: "manual",
      },
    );
    return await read(response);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof RouteFailure) throw error;
    // The platform's own errors contain the address.
    const problem = timeout.aborted ? "in time" : codeOf(error);
    const blames = timeout.aborted ? "server" : "connection";
    throw new RouteFailure(`The server did not answer ${problem}`.trim(), blames);
  }
}

function search(query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === null ? [] : [[name, String(value)] as [string, string]],
  );
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : null;
  return typeof code === "string" && /^[A-Za-z_]{1,40}$/.test(code) ? `(${code})` : "";
}

async function readBytes(response: Response, bytesMax: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const bytes of response.body ?? []) {
    length += bytes.byteLength;
    if (length > bytesMax) throw tooLarge();
    parts.push(bytes);
  }
  return Buffer.concat(parts);
}

/** Degrees in a form that every server reads: without an exponent, precise to a centimetre. */
export function degrees(value: number): string {
  return value
    .toFixed(7)
    .replace(/\.?0+$/, "")
    .replace(/^-0$/, "0");
}
