// Answers a request without a matching endpoint: names the right method, or the endpoint that was
// probably meant.

import { ApiError } from "../core/errors.ts";
import { type Asking, type Endpoint, errorFormOf, methodsOf } from "./endpoint-info.ts";
import {
  answerError,
  arrive,
  checkHost,
  countOnce,
  type FrameDeps,
  type RawRequest,
  tooManyRequests,
} from "./frame.ts";
import { countByKey } from "./optional-key.ts";
import type { ErrorForm } from "./respond.ts";

type Route = Pick<
  Endpoint<never>,
  "method" | "path" | "hasOpenEnd" | "isBilled" | "mistakenFor" | "errorForm" | "errorFormFor"
>;

const DOCUMENTATION = "The documentation is at /docs";
/** A longer path is not compared, and the message shows only its beginning. */
const PATH_LENGTH_MAX = 100;

/** The paths that programs call. Pages of the console call many others, which help no program. */
const API = /^(?:\/api)?\/v1\//;
/** The paths of the Application API are those of the Gateway after this prefix. */
const APPLICATION_PREFIX = "/api";
/** No endpoint that is named has more parts, and a path can have thousands. */
const PARTS_MAX = 8;

/** Stands in the log for a path that a caller made up. */
const UNKNOWN_PATH = "unknown";

interface Unrouted {
  readonly error: unknown;
  /** Null for the form of the surface. */
  readonly errorForm: ErrorForm | null;
}

/**
 * Answers a request without a matching endpoint; the request counts in the window of its key, if it
 * has one. A malformed Host comes first: it can hide the path from the router.
 */
export async function unrouted(
  deps: FrameDeps,
  raw: RawRequest,
  { error, errorForm }: Unrouted,
): Promise<Response> {
  const arrival = arrive(deps, raw, errorForm);
  try {
    checkHost(raw.request);
  } catch (malformed) {
    return await answerError(deps, arrival, malformed, null);
  }
  if (!(error instanceof ApiError)) return await answerError(deps, arrival, error, null);
  const request = { endpoint: UNKNOWN_PATH, service: "account", refusal: error } as const;
  const byKey = await countByKey(deps, arrival, request);
  return await answerError(deps, arrival, error, byKey?.rate ?? null);
}

/**
 * Counts a request of anybody in the window of its address. Returns the refusal if that address
 * sends too many, else null.
 */
export async function refusalOfAnybody(deps: FrameDeps, raw: RawRequest): Promise<Response | null> {
  const arrival = arrive(deps, raw);
  const { allowed, ...counted } = await countOnce(deps, arrival);
  return allowed ? null : await answerError(deps, arrival, tooManyRequests(counted), null);
}

/**
 * The form of the errors at a path without a matching endpoint: that of the endpoint at the path or
 * above it, whose clients ask for more than is served here. Null for the form of the surface.
 */
export function errorFormNear(
  routes: readonly Route[],
  path: string,
  request: Asking,
): ErrorForm | null {
  const near = routes.find((one) => path === one.path || path.startsWith(`${one.path}/`));
  return near === undefined ? null : errorFormOf(near, request);
}

/** A request without an endpoint. */
interface Unserved {
  readonly method: string;
  readonly path: string;
  /** The endpoints of the Gateway, for a path of the Application API. */
  readonly gateway?: readonly Route[];
}

/** A 405 if the path has endpoints, otherwise a 404. */
export function noEndpoint(
  routes: readonly Route[],
  { method, path, gateway = [] }: Unserved,
): ApiError {
  const matching = routes.filter((route) => fits(route, path));
  if (matching.length > 0) {
    const allow = matching.flatMap(methodsOf).join(", ");
    const message = `There is no ${method} ${shorten(path)}: use ${allow}. ${DOCUMENTATION}`;
    return new ApiError("method_not_allowed", message, { allow });
  }
  const slash = path.length > 1 && path.endsWith("/") ? ", which ends with a slash" : "";
  const missing = `There is no ${method} ${shorten(path)}${slash}`;
  return new ApiError(
    "not_found",
    `${missing}${adviceFor(routes, path, gateway)} ${DOCUMENTATION}`,
  );
}

/**
 * The endpoint that only the Gateway has, or that was probably meant, or else those whose
 * paths begin as this one does.
 */
function adviceFor(routes: readonly Route[], path: string, gateway: readonly Route[]): string {
  const other = routes.some(({ mistakenFor = [] }) => mistakenFor.includes(path))
    ? undefined
    : gateway.find((one) => fits(one, path.slice(APPLICATION_PREFIX.length)));
  if (other !== undefined) return `: only the Gateway has it, at ${other.path}, for its own keys.`;
  const meant = closest(routes, path);
  if (meant !== null) return `. Did you mean ${meant.method} ${meant.path}?`;
  const { below, paths } = nearby(routes, path);
  if (paths.length < 2) return paths.length === 0 ? "." : `. There is ${paths[0]}.`;
  return `. Below ${below} there are ${paths.join(", ")}.`;
}

/** The paths of endpoints of the API that share the most first parts with a path. */
function nearby(routes: readonly Route[], path: string) {
  const parts = API.test(path) ? path.split("/", PARTS_MAX) : [];
  for (let count = parts.length - 1; count > 1; count -= 1) {
    const below = parts.slice(0, count).join("/");
    const paths = routes.flatMap(({ path: one }) =>
      one === below || one.startsWith(`${below}/`) ? [one] : [],
    );
    if (paths.length > 0) return { below, paths: [...new Set(paths)] };
  }
  return { below: "", paths: [] };
}

/** True if a path matches a template; a part in braces matches any one part. */
export function fits(
  { path: template, hasOpenEnd = false }: Pick<Route, "path" | "hasOpenEnd">,
  path: string,
): boolean {
  const open = template.split("/");
  // One part more than the template's is enough; a path can have thousands of parts.
  const parts = path.split("/", open.length + 1);
  const isSame = (part: string, i: number) =>
    part.startsWith("{") ? parts[i] !== "" : part === parts[i];
  const isLong = hasOpenEnd && parts.length > open.length;
  return (isLong || open.length === parts.length) && open.every(isSame);
}

/**
 * Finds the endpoint with the most similar path. Paths that are often sent by mistake count too.
 */
function closest(routes: readonly Route[], path: string): Route | null {
  if (path.length > PATH_LENGTH_MAX) return null;
  let best: Route | null = null;
  // If more than a third of the characters differ, the caller hardly meant that path.
  let least = Math.floor(path.length / 3) + 1;
  for (const route of routes) {
    for (const name of [route.path, ...(route.mistakenFor ?? [])]) {
      // The difference in length is the least number of characters to insert or remove.
      if (Math.abs(path.length - name.length) >= least) continue;
      const distance = editDistance(path, name);
      if (distance < least) {
        best = route;
        least = distance;
      }
    }
  }
  return best;
}

/** Returns the number of characters that must be inserted, removed or changed (Levenshtein). */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let at = 1; at <= from.length; at++) {
    const next = [at];
    for (let index = 1; index <= to.length; index++) {
      const change = (row[index - 1] ?? 0) + (from[at - 1] === to[index - 1] ? 0 : 1);
      next.push(Math.min(change, (row[index] ?? 0) + 1, (next[index - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

function shorten(path: string): string {
  return path.length > PATH_LENGTH_MAX ? `${path.slice(0, PATH_LENGTH_MAX)}…` : path;
}
