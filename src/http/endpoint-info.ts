// Describes an endpoint for routing and documentation.

import type { ServiceName, Surface } from "../core/access/services.ts";
import type { ErrorCode } from "../core/errors.ts";
import type { JsonBody } from "./body/json-body.ts";
import type { RawRequest } from "./frame.ts";
import type { ErrorForm } from "./respond.ts";
import type { TSchema } from "./schema.ts";

export type Method = "GET" | "POST";

/** A parameter of the path, the query or the headers, for documentation. */
export interface ParameterInfo {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description: string;
  readonly schema: TSchema;
}

/** A request that works as written, and a typical reply to it. */
export interface Example {
  readonly summary: string;
  readonly body?: unknown;
  /** The query string, without its question mark. */
  readonly query?: string;
  /** The values for the open parts of the path. */
  readonly params?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** A body; for a stream, its chunks. */
  readonly reply: unknown;
}

export interface EndpointInfo {
  /** The name in generated clients; unique in its surface. */
  readonly id: string;
  /** Null if the endpoint belongs to no surface: health checks and documentation. */
  readonly surface: Surface | null;
  readonly method: Method;
  /** Open parts are in braces: `/v1/mail/messages/{id}`. */
  readonly path: string;
  /** True if the path ends with `{id}` and that part may contain slashes. */
  readonly hasOpenEnd?: boolean;
  /** Null if the endpoint belongs to no service. */
  readonly service: ServiceName | null;
  /** A few words, in the imperative. */
  readonly summary: string;
  /** Markdown. */
  readonly description?: string;
  readonly body?: Pick<JsonBody<unknown>, "schema" | "bytesMax">;
  readonly parameters?: readonly ParameterInfo[];
  readonly reply: TSchema;
  /** A second success status, and the case in which it is returned. */
  readonly accepted?: { readonly status: number; readonly description: string };
  /** Headers of a success besides the common ones, with their meaning. */
  readonly replyHeaders?: Readonly<Record<string, string>>;
  /** The schema of the chunks, if the reply can be a stream. */
  readonly chunk?: TSchema;
  /** The media type, if the reply can be bytes. */
  readonly mediaType?: string;
  /** Error codes besides those of every endpoint of its kind. */
  readonly errors: readonly ErrorCode[];
  /** True if the service answers repeats with an Idempotency-Key itself. */
  readonly handlesRepeats?: boolean;
  /** The form of its errors; left out for that of the surface. */
  readonly errorForm?: ErrorForm;
  /** The form that a client asks for by its headers; null for the one above. */
  readonly errorFormFor?: (request: Asking) => ErrorForm | null;
  readonly examples: readonly Example[];
  /** Paths of other products that callers try by mistake; a 404 then names this endpoint. */
  readonly mistakenFor?: readonly string[];
}

/** The headers of a request, as far as they choose a form. */
export interface Asking {
  readonly headers: Pick<Headers, "has">;
}

/** The form of an endpoint's errors to a request; null for that of the surface. */
export function errorFormOf(
  { errorForm, errorFormFor }: Pick<EndpointInfo, "errorForm" | "errorFormFor">,
  request: Asking,
): ErrorForm | null {
  return errorFormFor?.(request) ?? errorForm ?? null;
}

/**
 * The callers that are allowed: a key with the scope of the service, any valid key, a person, an
 * operator, or everyone.
 */
export type Access = "scope" | "key" | "session" | "operator" | "anybody";

/** An endpoint, ready for routing. */
export interface Endpoint<Deps> extends EndpointInfo {
  readonly access: Access;
  readonly isBilled: boolean;
  readonly answer: (deps: Deps, raw: RawRequest) => Promise<Response>;
}

/** The endpoint's name in the request log. */
export function loggedName({ path }: Pick<EndpointInfo, "path">): string {
  const open = path.indexOf("/{");
  return open < 0 ? path : path.slice(0, open);
}

/**
 * Returns the methods that an endpoint accepts. A billed endpoint has no HEAD: it would cost money
 * and return nothing.
 */
export function methodsOf(one: Pick<Endpoint<never>, "method" | "isBilled">): readonly string[] {
  return one.method === "GET" && !one.isBilled ? ["GET", "HEAD"] : [one.method];
}
