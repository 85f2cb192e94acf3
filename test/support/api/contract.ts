// Compares replies with the documentation of their endpoints: the schema of a success, field by
// field, and the codes of errors.

import type { TSchema } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import type { ErrorCode } from "../../../src/core/errors.ts";
import { type DocumentedEndpoint, errorsOf } from "../../../src/http/endpoint-errors.ts";
import { fits } from "../../../src/http/unknown-route.ts";
import { DOCUMENTED } from "../../../src/routes.ts";

const ALL = [...DOCUMENTED.gateway, ...DOCUMENTED.application, ...DOCUMENTED.program];

/** The endpoint of a request, or null if there is none. */
export function endpointOf(method: string, path: string): DocumentedEndpoint | null {
  const plain = path.replace(/[?#].*/, "");
  return ALL.find((one) => one.method === method && fits(one, plain)) ?? null;
}

/** Returns the place where a JSON reply differs from its endpoint's documentation, or null. */
export function undocumented(
  one: DocumentedEndpoint,
  { ok }: Pick<Response, "ok">,
  body: unknown,
): string | null {
  const label = `${one.method} ${one.path}`;
  if (ok) {
    const problem = misfit(one.reply, body);
    return problem === null ? null : `${label} answered ${problem}`;
  }
  if (one.surface === null) return null;
  const { error } = body as { readonly error?: { readonly code?: ErrorCode } };
  const known: readonly (ErrorCode | undefined)[] = errorsOf(one);
  return known.includes(error?.code) ? null : `${label} does not document '${error?.code}'`;
}

/** Throws if a reply may be cached or misread, or differs from its endpoint's documentation. */
export async function mustBeDocumented(
  method: string,
  path: string,
  response: Response,
): Promise<void> {
  mustBeGuarded(method, path, response);
  const endpoint = endpointOf(method, path);
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  if (endpoint === null || !isJson) return;
  const problem = undocumented(endpoint, response, await response.clone().json());
  if (problem !== null) throw new Error(problem);
}

/**
 * Throws if a browser may take a response for another type, or if caches may store a response to a
 * key. Only documents and files of the pages are public.
 */
export function mustBeGuarded(method: string, path: string, { headers }: Response): void {
  const cache = headers.get("cache-control") ?? "";
  const isPublic = cache.startsWith("public, ") && PUBLIC.test(path);
  const isKept = !isPublic && !cache.split(", ").includes("no-store");
  const isGuessed = headers.get("x-content-type-options") !== "nosniff";
  if (isKept || isGuessed) {
    throw new Error(`${method} ${path} has the headers ${JSON.stringify([...headers])}`);
  }
  if (!KEYED.test(path)) return;
  const varies = headers.get("vary")?.split(", ") ?? [];
  if (["authorization", "x-api-key"].every((name) => varies.includes(name))) return;
  throw new Error(`${method} ${path} does not say that it varies with the key`);
}

const PUBLIC = new RegExp(
  [
    /^\/(?:en|de|zh-Hans)?(?:\?|$)/,
    /^\/(?:robots\.txt|llms(?:-full)?\.txt|sitemap\.xml|openapi\.json)$/,
    /^\/(?:api\/v1|console\/api)\/openapi\.json$/,
    /^\/(?:brand|dashboard\/assets)\//,
    /^\/docs(?:\/|$)/,
  ]
    .map(({ source }) => source)
    .join("|"),
);
const KEYED = /^\/(?:api\/)?v1\/(?!openapi\.json)/;

const compiled = new WeakMap<TSchema, TypeCheck<TSchema>>();

/**
 * Returns the place where a value differs from its schema, or null. Fields that are not in the
 * schema count too.
 */
export function misfit(schema: TSchema, value: unknown): string | null {
  const check = compiled.get(schema) ?? TypeCompiler.Compile(closed(schema));
  compiled.set(schema, check);
  if (check.Check(value)) return null;
  const problems = [...check.Errors(value)].map(({ path, message }) => `${path}: ${message}`);
  return `${JSON.stringify(value).slice(0, 2_000)}, which differs at ${problems.join("; ")}`;
}

/** The schema without its name and without permission for additional fields. */
function closed<S extends TSchema>(schema: S): S {
  if (Array.isArray(schema)) return schema.map(closed) as unknown as S;
  if (typeof schema !== "object" || schema === null) return schema;
  const copy: Record<string | symbol, unknown> = {};
  for (const key of Reflect.ownKeys(schema)) {
    if (key !== "$id") copy[key] = closed(Reflect.get(schema, key) as S);
  }
  // An object schema without properties allows any fields.
  const named = Object.keys(copy.properties ?? {}).length > 0;
  if (copy.type === "object" && named) copy.additionalProperties = false;
  return copy as unknown as S;
}
