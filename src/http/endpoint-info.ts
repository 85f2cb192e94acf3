// What routing and documentation know of an endpoint.

import type { ErrorCode } from "../core/errors.ts";
import type { Surface } from "../core/keys.ts";
import type { ServiceName } from "../core/services.ts";
import type { RawRequest } from "./frame.ts";
import type { JsonBody } from "./json-body.ts";
import type { TSchema } from "./schema.ts";

export type Method = "GET" | "POST";

/** A parameter of the path, the query or the headers, as documentation shows it. */
export interface ParameterInfo {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description: string;
  readonly schema: TSchema;
}

/** A request that works as it stands, and what is answered to one like it. */
export interface Example {
  readonly summary: string;
  readonly body?: unknown;
  /** The query string, without its question mark. */
  readonly query?: string;
  /** What the request's path has in place of each open part. */
  readonly params?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** A body; of a stream, its chunks. */
  readonly reply: unknown;
}

export interface EndpointInfo {
  /** What generated clients call it; unique in its surface. */
  readonly id: string;
  /** Null for what belongs to no surface: health checks and documentation. */
  readonly surface: Surface | null;
  readonly method: Method;
  /** Open parts are in braces: `/v1/mail/messages/{id}`. */
  readonly path: string;
  /** Whether the open part at the end of the path, which is then `{id}`, may have slashes. */
  readonly hasOpenEnd?: boolean;
  /** Null for what belongs to no service. */
  readonly service: ServiceName | null;
  /** A few words, in the imperative. */
  readonly summary: string;
  /** Markdown. */
  readonly description?: string;
  readonly body?: Pick<JsonBody<unknown>, "schema" | "bytesMax">;
  readonly parameters?: readonly ParameterInfo[];
  readonly reply: TSchema;
  /** A second success: the status, and when it is given. */
  readonly accepted?: { readonly status: number; readonly description: string };
  /** Headers of a success besides those of every answer, with what each says. */
  readonly replyHeaders?: Readonly<Record<string, string>>;
  /** Of a reply that can be a stream: the schema of its chunks. */
  readonly chunk?: TSchema;
  /** Of a reply that can be bytes: their type. */
  readonly mediaType?: string;
  /** What it answers besides the errors that every endpoint of its kind can answer. */
  readonly errors: readonly ErrorCode[];
  readonly examples: readonly Example[];
  /** Paths of other products that callers try; a 404 names this endpoint. */
  readonly mistakenFor?: readonly string[];
}

/** Who may call: a key with the scope of the service, any valid key, or anybody. */
export type Access = "scope" | "key" | "anybody";

/** An endpoint, ready to be routed. */
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

/** The methods that it answers. HEAD of a billed one would be paid for and say nothing. */
export function methodsOf(one: Pick<Endpoint<never>, "method" | "isBilled">): readonly string[] {
  return one.method === "GET" && !one.isBilled ? ["GET", "HEAD"] : [one.method];
}
