// Explains why a schema refuses a value: names the field and the broken rule, in the words of the
// schema.

import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { Value, type ValueError, ValueErrorType } from "@sinclair/typebox/value";
import { ApiError } from "../../core/errors.ts";
import { isObject } from "../../core/text/json.ts";
import { oneOf, type TSchema } from "../schema.ts";

/**
 * The error message for a value, such as "stop[1] must be a string". `whole` names the value
 * itself.
 */
export function explain(schema: TSchema, value: unknown, whole: string): ApiError {
  const { shortened, places } = withoutSoundItems(schema, value);
  const found = furthest(firstOf(Value.Errors(schema, shortened)));
  const error = { ...found, path: originalPath(found.path, places) };
  // A key that breaks a rule for all keys is a fault of the object.
  const isKey = isUnknownKey(error) && error.schema.must !== undefined;
  const field = fieldOf(isKey ? parentOf(error.path) : error.path, value);
  // If an array is too long, the message says so, even if the schema has another text.
  const isTooLong = error.type === ValueErrorType.ArrayMaxItems;
  const code = (isTooLong ? undefined : error.schema.code) ?? "invalid_parameter";
  const rule = isTooLong ? ruleOfLength(error.schema) : ruleOfError(error);
  const param = field === "" ? {} : { param: field };
  return new ApiError(code, `${field === "" ? whole : field} ${rule}`, param);
}

/** Lists up to this length are examined as they are. */
const PLAIN_ITEMS_MAX = 32;
const CHECKS = new WeakMap<TSchema, TypeCheck<TSchema>>();

/**
 * The value with only the first faulty item of each long list in its fields, and the places that
 * these items had, by the name of the field: errors are searched slowly, and long lists have
 * thousands of sound items (D-561).
 */
function withoutSoundItems(schema: TSchema, value: unknown) {
  const places = new Map<string, number>();
  const { properties } = schema as { readonly properties?: Readonly<Record<string, TSchema>> };
  if (properties === undefined || typeof value !== "object" || value === null) {
    return { shortened: value, places };
  }
  const shortened: Record<string, unknown> = { ...value };
  for (const [name, list] of Object.entries(shortened)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const rule = property === undefined ? null : listIn(property);
    if (rule === null || !Array.isArray(list) || list.length <= PLAIN_ITEMS_MAX) continue;
    if (list.length > (rule.maxItems ?? list.length)) continue;
    const place = Math.max(0, firstFault(rule.items, list));
    places.set(name, place);
    shortened[name] = [list[place]];
  }
  return { shortened, places };
}

/** The schema of a list that a field may have; null if it has none that one item would fit. */
function listIn(property: TSchema): TSchema | null {
  const branches: readonly TSchema[] = property.anyOf ?? [property];
  const lists = branches.filter(({ type }) => type === "array");
  const [list] = lists;
  if (list === undefined || lists.length > 1) return null;
  const { minItems = 0, uniqueItems = false, items } = list;
  return minItems > 1 || uniqueItems || items === undefined ? null : list;
}

function firstFault(items: TSchema, list: readonly unknown[]): number {
  const check = CHECKS.get(items) ?? TypeCompiler.Compile(items);
  CHECKS.set(items, check);
  return list.findIndex((item) => !check.Check(item));
}

/** A path in the shortened value, as a path in the whole one. */
function originalPath(path: string, places: ReadonlyMap<string, number>): string {
  const [start = "", name = "", index, ...rest] = path.split("/");
  const place = places.get(name.replaceAll("~1", "/").replaceAll("~0", "~"));
  if (place === undefined || index === undefined) return path;
  return [start, name, String(place), ...rest].join("/");
}

/** A body can have millions of errors; only this many are examined. */
const ERRORS_MAX = 100;

/**
 * Returns the first error. If one field is missing and a field next to it has the wrong kind or a
 * fault with a code of its own, returns that one: it is the caller's real mistake.
 */
function firstOf(errors: Iterable<ValueError>): ValueError {
  let first: ValueError | null = null;
  let seen = 0;
  for (const error of errors) {
    first ??= error;
    const isMissing = first.type === ValueErrorType.ObjectRequiredProperty;
    if (!isMissing || first.schema.code !== undefined) return first;
    const isBeside = parentOf(error.path) === parentOf(first.path) && error.value !== undefined;
    if (isBeside && (error.schema.const ?? error.schema.code) !== undefined) return error;
    seen += 1;
    if (seen >= ERRORS_MAX) break;
  }
  if (first === null) throw new Error("A value that its schema refuses has no error");
  return first;
}

function parentOf(pointer: string): string {
  return pointer.slice(0, pointer.lastIndexOf("/"));
}

/** For a union, the error of the branch that the value seems meant for, if there is one. */
function furthest(error: ValueError): ValueError {
  if (error.type !== ValueErrorType.Union) return error;
  const branches: readonly TSchema[] = error.schema.anyOf;
  const meant = branches.flatMap((branch, index) =>
    fitsForm(branch, error.value) ? [{ branch, errors: error.errors[index] ?? [] }] : [],
  );
  const [first] = meant;
  if (first === undefined) return { ...error, schema: withoutNull(error.schema) };
  const key = discriminatorOf(meant.map(({ branch }) => branch));
  if (key === null) {
    return meant.length === 1 ? furthest(firstOf(first.errors)) : error;
  }
  const named = (error.value as Readonly<Record<string, unknown>>)[key];
  const found = meant.find(({ branch }) =>
    named === undefined ? !requires(branch, key) : Value.Check(branch.properties[key], named),
  );
  if (found !== undefined) return furthest(firstOf(found.errors));
  const choices = meant.flatMap(({ branch }) => choicesOf(branch.properties[key]));
  return { ...error, path: `${error.path}/${key}`, schema: oneOf(choices.map(String)) };
}

/** True if a value is of the branch's kind, whatever it contains. */
function fitsForm(branch: TSchema, value: unknown): boolean {
  switch (branch.type) {
    case "object":
      return isObject(value);
    case "array":
      return Array.isArray(value);
    case "integer":
      return typeof value === "number";
    case undefined:
      return branch.anyOf !== undefined;
    default:
      return typeof value === branch.type;
  }
}

/** The field that distinguishes several object types; one of them may leave it out. */
function discriminatorOf(branches: readonly TSchema[]): string | null {
  const [first, ...others] = branches;
  if (first?.type !== "object" || others.length === 0) return null;
  const isChoice = (branch: TSchema, key: string) => choicesOf(branch.properties?.[key]).length > 0;
  // One branch can stand for all other values.
  const isOther = (branch: TSchema, key: string) => branch.properties?.[key]?.pattern !== undefined;
  const distinguishes = (key: string) =>
    isChoice(first, key) &&
    branches.every((branch) => isChoice(branch, key) || isOther(branch, key)) &&
    branches.filter((branch) => !requires(branch, key)).length <= 1;
  return Object.keys(first.properties ?? {}).find(distinguishes) ?? null;
}

function requires(branch: TSchema, key: string): boolean {
  return branch.required?.includes(key) === true;
}

function choicesOf(schema: TSchema | undefined): readonly unknown[] {
  if (schema === undefined) return [];
  const branches: readonly TSchema[] = schema.anyOf ?? [];
  if (branches.length > 0) return branches.flatMap(choicesOf);
  return schema.const !== undefined ? [schema.const] : (schema.enum ?? []);
}

/** If a field may also be null, its error is that of the field without null. */
function withoutNull(schema: TSchema): TSchema {
  const branches: readonly TSchema[] = schema.anyOf;
  const others = branches.filter(({ type }) => type !== "null");
  return others.length === 1 && schema.must === undefined ? (others[0] ?? schema) : schema;
}

function isUnknownKey({ type }: ValueError): boolean {
  return type === ValueErrorType.ObjectAdditionalProperties;
}

function ruleOfError(error: ValueError): string {
  const { schema } = error;
  if (!isUnknownKey(error) || schema.must !== undefined) return ruleOf(schema);
  const names = Object.keys(schema.properties ?? {});
  const known = names.length === 0 ? "there are no fields" : `the fields are ${names.join(", ")}`;
  return `is not known: ${known}`;
}

function ruleOf(schema: TSchema): string {
  if (schema.must !== undefined) return schema.must;
  if (schema.const !== undefined) return `must be ${quoted(schema.const)}`;
  if (schema.enum !== undefined) return `must be one of: ${schema.enum.join(", ")}`;
  if (schema.anyOf !== undefined) return ruleOfUnion(schema);
  switch (schema.type) {
    case "string":
      return ruleOfText(schema);
    case "integer":
    case "number":
      return ruleOfNumber(schema);
    case "array":
      return "must be an array";
    case "object":
      return schema.maxProperties === undefined
        ? "must be an object"
        : `must be an object of at most ${schema.maxProperties} fields`;
    case "boolean":
      return "must be true or false";
    default:
      return "is not allowed";
  }
}

function ruleOfUnion(schema: TSchema): string {
  const branches: readonly TSchema[] = schema.anyOf;
  const rules = branches
    .filter(({ type }) => type !== "null")
    .map((branch) => ruleOf(branch).replace(/^must be /, ""));
  return `must be ${[...new Set(rules)].join(", or ")}`;
}

function ruleOfText({ minLength, maxLength }: TSchema): string {
  return maxLength === undefined
    ? "must be a string"
    : `must be a string of ${minLength ?? 0} to ${maxLength} characters`;
}

function ruleOfNumber({ type, minimum, maximum }: TSchema): string {
  const noun = type === "integer" ? "an integer" : "a number";
  return minimum === undefined
    ? `must be ${noun}`
    : `must be ${noun} from ${minimum} to ${maximum}`;
}

function ruleOfLength({ maxItems }: TSchema): string {
  return `must have at most ${maxItems} items`;
}

function quoted(value: unknown): string {
  return typeof value === "string" ? `'${value}'` : String(value);
}

/** The name of a field in messages. An empty name would be taken for the whole body. */
export function shownName(key: string): string {
  return key === "" ? '""' : key;
}

/** A JSON pointer in the notation of callers: "messages[3].content". */
function fieldOf(pointer: string, root: unknown): string {
  let field = "";
  let parent = root;
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(parent)) field += `[${key}]`;
    else field += field === "" ? shownName(key) : `.${shownName(key)}`;
    parent = (parent as Readonly<Record<string, unknown>> | undefined)?.[key];
  }
  return field;
}
