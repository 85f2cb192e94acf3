// Checks objects against the schemas of Stripe's OpenAPI document: required fields exist, each
// field has its type, and no field is made up.

import Ajv, { type ErrorObject, type ValidateFunction } from "ajv";

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** The part of an OpenAPI document that is used here. */
export interface StripeDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Json>> };
}

const ROOT = "stripe";

export class StripeSchemas {
  readonly #ajv = new Ajv({
    strict: false,
    allErrors: true,
    validateSchema: false,
    validateFormats: false,
    logger: false,
  });
  readonly #compiled = new Map<string, ValidateFunction>();

  constructor(readonly document: StripeDocument) {
    const { schemas } = document.components;
    this.#ajv.addSchema({ $id: ROOT, components: { schemas: strict(schemas) } }, ROOT);
  }

  /**
   * Lists the differences of an object, and of each expanded object in it, from the schema of its
   * kind, one in a line.
   */
  differences(object: { readonly object: string }): string[] {
    const own = this.#differences(object.object, object, {
      $ref: `${ROOT}#/components/schemas/${object.object}`,
    });
    return [...own, ...this.#innerDifferences(object)];
  }

  #innerDifferences(value: object): string[] {
    return Object.values(value).flatMap((inner: unknown) => {
      if (typeof inner !== "object" || inner === null) return [];
      return isOfKind(inner) && this.document.components.schemas[inner.object] !== undefined
        ? this.differences(inner)
        : this.#innerDifferences(inner);
    });
  }

  /**
   * Lists the differences of an answer from the endpoint's documented answers, for success or
   * failure.
   */
  answerDifferences(method: string, path: string, status: number, body: object): string[] {
    const endpoint = this.endpointOf(path);
    const operation = this.document.paths[endpoint]?.[method.toLowerCase()];
    const of = status === 200 ? "200" : "default";
    const schema = dig(operation, ["responses", of, "content", "application/json", "schema"]);
    const name = `${method} ${endpoint} ${of}`;
    if (schema === undefined) return [`${name}: no schema`];
    const own = this.#differences(name, body, strict(schema) as object);
    return [...own, ...this.#innerDifferences(body)];
  }

  /** Returns the document's path for a request's path. */
  endpointOf(path: string): string {
    const parts = path.split("/");
    const fits = (pattern: string) => {
      const wanted = pattern.split("/");
      return (
        wanted.length === parts.length &&
        wanted.every((part, at) => part.startsWith("{") || part === parts[at])
      );
    };
    // If a name and a placeholder both fit, the name is meant.
    const found = Object.keys(this.document.paths).filter(fits).toSorted();
    return (
      found.find((pattern) => !pattern.includes("{")) ?? found[0] ?? `${path} (not in the document)`
    );
  }

  #differences(name: string, value: object, schema: object): string[] {
    const check = this.#compiled.get(name) ?? this.#ajv.compile(schema);
    this.#compiled.set(name, check);
    if (check(value)) return [];
    const errors = check.errors ?? [];
    const choices = errors.filter(({ keyword }) => keyword === "anyOf");
    // A choice that fails reports that itself; why each of its alternatives fails does not help.
    const isOfChoice = (error: ErrorObject) =>
      choices.some((choice) => choice !== error && isWithin(error, choice));
    const told = errors.filter((error) => !isOfChoice(error)).map((error) => lineOf(name, error));
    return [...new Set(told)].toSorted();
  }
}

function isOfKind(value: object): value is { readonly object: string } {
  return "object" in value && typeof value.object === "string" && "id" in value;
}

function isWithin({ instancePath }: ErrorObject, outer: ErrorObject): boolean {
  return instancePath === outer.instancePath || instancePath.startsWith(`${outer.instancePath}/`);
}

function lineOf(name: string, { instancePath, message = "", params }: ErrorObject): string {
  const { additionalProperty } = params as { readonly additionalProperty?: string };
  const where = instancePath.replaceAll(/\/(\d+)/g, "[]").replaceAll("/", ".");
  const what = additionalProperty === undefined ? message : `made-up field ${additionalProperty}`;
  return `${name}${where}: ${what}`;
}

const EXPANDABLE = { type: ["string", "object", "null"] };

/** The same schemas in plain JSON Schema, in which objects have only the fields that they name. */
function strict(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(strict);
  if (!isObject(schema)) return schema;
  // An object in place of its id is checked by itself.
  if ("x-expansionResources" in schema) return EXPANDABLE;
  const { nullable, $ref, ...rest } = schema;
  const inner: Record<string, Json> = {};
  for (const [name, value] of Object.entries(rest)) {
    if (!name.startsWith("x-") && name !== "description") inner[name] = strict(value);
  }
  // A property can also be called "description" or "nullable"; those are schemas, not texts.
  for (const name of ["description", "nullable", "$ref"]) {
    const value = schema[name] ?? null;
    if (isObject(value)) inner[name] = strict(value);
  }
  if (typeof $ref === "string") inner.$ref = `${ROOT}${$ref}`;
  if (inner.type === "object" && "properties" in inner && !("additionalProperties" in inner)) {
    inner.additionalProperties = false;
  }
  return nullable === true ? { anyOf: [inner, { type: "null" }] } : inner;
}

function isObject(value: Json): value is { readonly [name: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function dig(value: Json | undefined, path: readonly string[]): Json | undefined {
  let at: Json | undefined = value;
  for (const name of path) {
    if (at === undefined || !isObject(at)) return undefined;
    at = at[name];
  }
  return at;
}
