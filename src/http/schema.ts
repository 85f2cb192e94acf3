// Builds request and reply schemas: JSON Schema by TypeBox, with the text of a refusal where the
// schema alone does not explain it well.

import {
  Kind,
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  type TUnsafe,
  Type,
  TypeRegistry,
} from "@sinclair/typebox";
import type { ErrorCode } from "../core/errors.ts";
import { CONTROL_CHARACTERS, lineRule } from "../core/text/field-rules.ts";

export { type Static, type TObject, type TProperties, type TSchema, type TUnsafe, Type };

declare module "@sinclair/typebox" {
  interface SchemaOptions {
    /**
     * The text of a refusal after the name of the field: "must be a domain such as example.com".
     */
    must?: string;
    /** The error code of that refusal; by default `invalid_parameter`. */
    code?: ErrorCode;
  }
}

/** A checked value, deeply read-only. */
export type Checked<S extends TSchema> = DeepReadonly<Static<S>>;

export type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

interface Words {
  readonly description?: string;
  readonly must?: string;
  readonly code?: ErrorCode;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
}

interface TextRules extends Words {
  /** Both in Unicode code points, like JSON Schema; TypeBox itself counts UTF-16 units. */
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
}

const TEXT = "Text";
const CHOICE = "Choice";

const patterns = new Map<string, RegExp>();

TypeRegistry.Set<TextRules>(TEXT, ({ minLength = 0, maxLength, pattern }, value) => {
  if (typeof value !== "string") return false;
  // A code point takes at most two UTF-16 units, so counting is rarely needed.
  if (value.length < minLength) return false;
  if (minLength > 1 && value.length < 2 * minLength && [...value].length < minLength) return false;
  if (maxLength !== undefined && isLonger(value, maxLength)) return false;
  return pattern === undefined || patternOf(pattern).test(value);
});
TypeRegistry.Set<{ readonly enum: readonly unknown[] }>(CHOICE, (schema, value) =>
  schema.enum.includes(value),
);

/** True if a text has more code points than this. */
export function isLonger(text: string, charactersMax: number): boolean {
  if (text.length <= charactersMax) return false;
  return text.length > 2 * charactersMax || [...text].length > charactersMax;
}

/** A string. */
export function text(rules: TextRules = {}): TUnsafe<string> {
  return Type.Unsafe<string>({ [Kind]: TEXT, type: "string", ...rules });
}

/** A string of at least one character and at most `charactersMax`. */
export function shortText(charactersMax: number, words: TextRules = {}): TUnsafe<string> {
  return text({ minLength: 1, maxLength: charactersMax, ...words });
}

/** A name: one line without control characters, which is not blank unless it may be empty. */
export function nameText(
  charactersMax: number,
  { minLength = 1, ...words }: Pick<TextRules, "minLength" | "description"> = {},
): TUnsafe<string> {
  const some = minLength > 0 ? "(?=.*\\S)" : "";
  return text({
    minLength,
    maxLength: charactersMax,
    pattern: `^${some}[^${CONTROL_CHARACTERS}]*$`,
    must: lineRule(minLength, charactersMax),
    ...words,
  });
}

/** One of some strings. */
export function oneOf<const T extends string>(
  choices: readonly T[],
  words: Words = {},
): TUnsafe<T> {
  return Type.Unsafe<T>({ [Kind]: CHOICE, type: "string", enum: [...choices], ...words });
}

export function whole(minimum: number, maximum: number, words: Words = {}) {
  return Type.Integer({ minimum, maximum, ...words });
}

/** A number of things, of any size. */
export function wholeCount(description: string) {
  return whole(0, Number.MAX_SAFE_INTEGER, { description });
}

export function numberFrom(minimum: number, maximum: number, words: Words = {}) {
  return Type.Number({ minimum, maximum, ...words });
}

/** A field that may be null or missing; both mean the same. */
export function optional<S extends TSchema>(schema: S) {
  return Type.Optional(nullable(schema));
}

export function nullable<S extends TSchema>(schema: S) {
  const { description, default: fallback } = schema;
  return Type.Union([schema, Type.Null()], {
    ...(description !== undefined && { description }),
    ...(fallback !== undefined && { default: fallback }),
  });
}

/** A field that must be missing or null. */
export function notOffered(words: Words) {
  return Type.Optional(Type.Null({ must: "is not offered here", ...words }));
}

/** A field that must be missing. */
export function refused(words: Words) {
  return Type.Optional(Type.Never({ ...words }));
}

/** An object of any shape, forwarded unchanged. */
export function anyObject(words: Words = {}): TUnsafe<Record<string, unknown>> {
  return Type.Unsafe<Record<string, unknown>>(
    Type.Object({}, { additionalProperties: true, ...words }),
  );
}

/** An object with a name of its own in the documentation. */
export function named<P extends TProperties>(
  name: string,
  properties: P,
  words: Words = {},
): TObject<P> {
  return Type.Object(properties, { $id: name, ...words });
}

/** Exact USD, as a plain decimal number, never in exponent form. */
export function usdAmount(description: string) {
  return Type.Number({ description });
}

function patternOf(source: string): RegExp {
  const known = patterns.get(source);
  if (known !== undefined) return known;
  const pattern = new RegExp(source);
  patterns.set(source, pattern);
  return pattern;
}
