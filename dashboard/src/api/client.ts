// Requests to this server: JSON in, JSON out, and every refusal as one kind of error.

import { isObject } from "../../../src/core/text/json.ts";
import { IS_OPERATORS } from "../addresses.ts";
import { t } from "../texts.ts";

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;
  readonly retryAfterSeconds?: number | null;
}

/** A request that was refused or did not arrive. `message` is written for people. */
export class RequestError extends Error {
  override readonly name = "RequestError";

  /** 0 where there was no answer at all. */
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;

  constructor(message: string, { status, code, requestId, retryAfterSeconds = null }: Refusal) {
    super(message);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * True if the failure comes from the browser or a proxy, and not from our server, which may have
 * done the work.
 */
export function isAnswerLost(error: unknown): boolean {
  return error instanceof RequestError && /^(unreachable|unreadable|http_5)/.test(error.code);
}

/** A clock that is less wrong than this is taken for right: answers take a while. */
const CLOCK_ERROR_MS = 60_000;
let aheadMs = 0;

/** A time of this clock, which may be wrong by hours, by the clock of the server's answers. */
export function serverTime(ms = Date.now()): number {
  return ms + aheadMs;
}

function readClock({ headers }: Response): void {
  const ahead = Date.parse(headers.get("date") ?? "") - Date.now();
  if (Number.isFinite(ahead)) aheadMs = Math.abs(ahead) < CLOCK_ERROR_MS ? 0 : ahead;
}

async function send(path: string, options: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...options });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new RequestError(t.states.unreachable, {
      status: 0,
      code: "unreachable",
      requestId: null,
    });
  }
  readClock(response);
  if (response.ok) return response;
  throw await refusalOf(response);
}

/** Our own errors are `{ error: { code, message } }`; those of sign-in `{ code, message }`. */
async function refusalOf(response: Response): Promise<RequestError> {
  const retry = response.headers.get("retry-after") ?? response.headers.get("x-retry-after");
  const requestId = response.headers.get("x-request-id");
  const body: unknown = await response.json().catch(() => null);
  const outer = isObject(body) ? body : {};
  const error = isObject(outer.error) ? outer.error : outer;
  const code = typeof error.code === "string" ? error.code : `http_${response.status}`;
  const message =
    typeof error.message === "string"
      ? t.refusals.message(code, error.message, IS_OPERATORS)
      : t.states.unreadable;
  const seconds = retry === null ? null : Number(retry);
  const { status } = response;
  return new RequestError(message, { status, code, requestId, retryAfterSeconds: seconds });
}

async function json<T>(response: Response): Promise<T> {
  try {
    return (await response.json()) as T;
  } catch {
    const { status, headers } = response;
    const requestId = headers.get("x-request-id");
    throw new RequestError(t.states.unreadable, { status, code: "unreadable", requestId });
  }
}

/** Fields of a query; those without a value are left out. */
export type Query = Readonly<Record<string, string | undefined>>;

export function withQuery(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") search.set(name, value);
  }
  const text = search.toString();
  return text === "" ? path : `${path}?${text}`;
}

export async function get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  return await json<T>(await send(withQuery(path, query), { ...(signal && { signal }) }));
}

export async function post<T>(path: string, body: unknown = {}): Promise<T> {
  return await json<T>(await postRaw(path, body));
}

/** A request whose answer the caller reads, such as a stream. */
export async function postRaw(
  path: string,
  body: unknown,
  signal?: AbortSignal,
): Promise<Response> {
  return await send(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
}
