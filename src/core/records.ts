// Defines the fields of the records that people and programs read, each described once. The JSON of
// a row follows from them here, its schema and example in http/record-schema.ts, and its endpoints
// in readings/. Pages may import this file and the records.

import { fromUuid, type IdKind } from "./ids.ts";
import { type NanoUsd, toDecimal } from "./money/money.ts";

/** A row as a store read it: the driver's value for each column. */
export type StoredRow = Readonly<Record<string, unknown>>;

export type FieldKind = "text" | "number" | "integer" | "flag" | "time" | "usd" | "record";

/** One field of a record. `Wire` is the type of its value in JSON. */
export interface Field<Wire = unknown> {
  readonly kind: FieldKind;
  /** The value in the example of the documentation. */
  readonly sample: Wire;
  readonly about: string | null;
  /** The only values of a text; null if any text is allowed. */
  readonly words: readonly string[] | null;
  /** The fields of a record inside of this one. */
  readonly fields: Fields | null;
  readonly isNullable: boolean;
  /** Converts a stored value. */
  readonly encode: (stored: unknown) => Wire;
}

export type Fields = Readonly<Record<string, Field>>;

/** The JSON of a row with these fields. */
export type WireOf<F extends Fields> = {
  readonly [Name in keyof F]: F[Name] extends Field<infer Wire> ? Wire : never;
};

interface Words<Wire> {
  readonly sample: Wire;
  readonly about?: string;
}

/** A text, as it is stored. */
export function text(words: Words<string>): Field<string> {
  return field("text", words, String);
}

/** A text that is one of `choices`, as it is stored. */
export function word<const Word extends string>(
  choices: readonly Word[],
  words: Words<NoInfer<Word>>,
): Field<Word> {
  // The constraint of the column allows no other word.
  return { ...field("text", words, (stored) => String(stored) as Word), words: choices };
}

export function number(words: Words<number>): Field<number> {
  return field("number", words, Number);
}

/** A whole number. */
export function integer(words: Words<number>): Field<number> {
  return field("integer", words, Number);
}

export function flag(words: Words<boolean>): Field<boolean> {
  return field("flag", words, Boolean);
}

/** A time: ISO 8601 in UTC, with milliseconds. */
export function time(words: Words<string>): Field<string> {
  return field("time", words, (stored) =>
    (stored instanceof Date ? stored : new Date(String(stored))).toISOString(),
  );
}

/** A public id that is stored as the UUID in it. */
export function publicId(kind: IdKind, words: Words<string>): Field<string> {
  return field("text", words, (stored) => fromUuid(kind, String(stored)));
}

/** Nano-USD as exact USD in a text: "12.5", "-0.000000001". A sum may be outside of NanoUsd. */
export function usd(words: Words<string>): Field<string> {
  return field("usd", words, (stored) => toDecimal(BigInt(String(stored)) as NanoUsd));
}

/** A record inside of a record; the row has its JSON. */
export function nested<F extends Fields>(fields: F): Field<WireOf<F>> {
  const encode = (stored: unknown) => stored as WireOf<F>;
  return { ...field("record", { sample: sampleOf(fields) }, encode), fields };
}

/** The same field, or null where Postgres has null. A sample of null says that it mostly is. */
export function nullable<Wire>(
  inner: Field<Wire>,
  { sample = inner.sample }: { readonly sample?: Wire | null } = {},
): Field<Wire | null> {
  const encode = (stored: unknown) => (stored === null ? null : inner.encode(stored));
  return { ...inner, sample, encode, isNullable: true };
}

/** The JSON of a row. A column that the row lacks is a fault of the statement that read it. */
export function jsonOf<F extends Fields>(fields: F, row: StoredRow): WireOf<F> {
  const json: Record<string, unknown> = {};
  for (const [name, { encode }] of Object.entries(fields)) {
    const stored = row[name];
    if (stored === undefined) throw new Error(`The row has no column ${name}`);
    json[name] = encode(stored);
  }
  return json as WireOf<F>;
}

/** The example of a record. */
export function sampleOf<F extends Fields>(fields: F): WireOf<F> {
  const samples = Object.entries(fields).map(([name, { sample }]) => [name, sample]);
  return Object.fromEntries(samples) as WireOf<F>;
}

function field<Wire>(
  kind: FieldKind,
  { sample, about = null }: { readonly sample: Wire; readonly about?: string | null },
  encode: (stored: unknown) => Wire,
): Field<Wire> {
  return { kind, sample, about, words: null, fields: null, isNullable: false, encode };
}
