// Makes values that fit a JSON schema: small ones, and those at its limits.

import { Kind } from "@sinclair/typebox";
import type { TSchema } from "../../../src/http/schema.ts";
import type { Random } from "../../support/random.ts";

/** Values that are known to make sense, by the name of their field. */
export type KnownValues = ReadonlyMap<string, readonly unknown[]>;

const TEXTS = [
  "a",
  "de",
  "DE",
  "auto",
  "Hello",
  "fares and tickets",
  "Grüße aus Zürich",
  "東京",
  "🙂",
  "2.50",
  "52.52,13.405",
  "13.3,52.4,13.5,52.6",
  "2026-11-21T08:00:00Z",
  "example.org",
  "https://example.org/a.png",
  "ada@example.org",
  "clear_thinking_20251015",
  "x".repeat(64),
  "word ".repeat(60),
] as const;
const KEYS = ["1", "42", "50256", "x"] as const;
/** Lists with more items than this are left to mutations. */
const ITEMS_MORE = 3;

export interface ValueOptions {
  readonly random: Random;
  readonly known: KnownValues;
  /** The probability of an optional field, from 0 to 1. */
  readonly optionalShare: number;
}

/** A value that fits the schema, as far as the schema defines one; undefined if none fits. */
export function valueFor(schema: TSchema, name: string, options: ValueOptions): unknown {
  const { random } = options;
  const known = knownFor(schema, name, options.known);
  if (known.length > 0 && random.next() < 0.6) return random.pick(known);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return random.pick(schema.enum as readonly unknown[]);
  if (schema.anyOf !== undefined) {
    return valueFor(random.pick(schema.anyOf as readonly TSchema[]), name, options);
  }
  switch (schema.type) {
    case "string":
      return stringFor(schema, random);
    case "integer":
    case "number":
      return numberOf(schema, random);
    case "boolean":
      return random.next() < 0.5;
    case "array":
      return listOf(schema, name, options);
    case "object":
      return objectFor(schema, options);
    case "null":
      return null;
    default:
      return undefined;
  }
}

/** The fields of an object schema that are chosen now, with their values. */
export function objectFor(schema: TSchema, options: ValueOptions): Record<string, unknown> {
  const { random, optionalShare } = options;
  const required: readonly string[] = schema.required ?? [];
  const value: Record<string, unknown> = {};
  for (const [key, field] of fieldsOf(schema)) {
    if (!required.includes(key) && random.next() >= optionalShare) continue;
    const chosen = valueFor(field, key, options);
    if (chosen !== undefined) value[key] = chosen;
  }
  const patterns = (schema.patternProperties ?? {}) as Readonly<Record<string, TSchema>>;
  for (const [pattern, item] of Object.entries(patterns)) {
    const fitting = KEYS.filter((key) => new RegExp(pattern).test(key));
    if (fitting.length > 0) value[random.pick(fitting)] = valueFor(item, "", options);
  }
  return value;
}

function fieldsOf(schema: TSchema): [string, TSchema][] {
  return Object.entries((schema.properties ?? {}) as Readonly<Record<string, TSchema>>);
}

function knownFor(schema: TSchema, name: string, known: KnownValues): readonly unknown[] {
  const examples: readonly unknown[] = schema.examples ?? [];
  return [...examples, ...(known.get(name) ?? [])].filter((value) => isOfType(schema, value));
}

function isOfType({ type }: TSchema, value: unknown): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "integer") return Number.isInteger(value);
  return type === typeof value && value !== null && !Array.isArray(value);
}

function stringFor({ minLength = 0, maxLength, pattern }: TSchema, random: Random): string {
  const fits = (text: string) => {
    if (text.length < minLength || text.length > (maxLength ?? text.length)) return false;
    return pattern === undefined || new RegExp(pattern).test(text);
  };
  const longest = maxLength === undefined ? [] : ["y".repeat(maxLength)];
  const fitting = [...TEXTS, ...longest].filter(fits);
  return fitting.length === 0 ? "z" : random.pick(fitting);
}

function numberOf(schema: TSchema, random: Random): number {
  const { minimum = -1_000, maximum = 1_000 } = schema;
  if (random.next() < 0.3) return random.pick([minimum, maximum]);
  const width = Math.min(maximum - minimum, 100);
  const number = minimum + random.next() * width;
  return schema.type === "integer" ? Math.floor(number) : Number(number.toFixed(3));
}

function listOf(schema: TSchema, name: string, options: ValueOptions): unknown[] {
  // A list of nothing, which only an empty one fits.
  if (schema.items[Kind] === "Never") return [];
  const { minItems = 0, maxItems = Number.MAX_SAFE_INTEGER } = schema;
  const length = options.random.between(minItems, Math.min(maxItems, minItems + ITEMS_MORE));
  const items = Array.from({ length }, () => valueFor(schema.items, name, options));
  // Without a value that fits an item, the list is empty.
  return items.filter((item) => item !== undefined);
}
