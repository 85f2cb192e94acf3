// Defines the fields of the records that people and programs read, each described once. The JSON of
// a row follows from them here, its schema and example in http/record-schema.ts, and its endpoints
// in readings/. Pages may import this file and the records.

import { fromUuid, type IdKind } from "./ids.ts";
import { type NanoUsd, toDecimal } from "./money/money.ts";

/** A row as a store read it: the driver's value for each column. */
export type StoredRow = Readonly<Record<string, unknown>>;

export type FieldKind = "text" | "number" | "integer" | "flag" | "time" | "usd" | "record" | "list";

/** The rules of a schema for a value, besides its type. */
export interface Rules {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
}

/** One field of a record: the type of its value in JSON, and of the value it is made of. */
export interface Field<Wire = unknown, Stored = unknown> {
  readonly kind: FieldKind;
  /** The value in the example of the documentation. */
  readonly sample: Wire;
  readonly about: string | null;
  /** The only values of a text; null if any text is allowed. */
  readonly words: readonly string[] | null;
  readonly rules: Rules;
  /** The fields of a record inside of this one. */
  readonly fields: Fields | null;
  /** Each item of a list. */
  readonly item: Field | null;
  readonly isNullable: boolean;
  /** Converts a stored value. */
  encode(stored: Stored): Wire;
}

export type Fields = Readonly<Record<string, Field>>;

/** The JSON of a row with these fields. */
export type WireOf<F extends Fields> = {
  readonly [Name in keyof F]: F[Name] extends Field<infer Wire> ? Wire : never;
};

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;
type MemberOf<Name extends string> = Name extends `${infer Bare}_usd`
  ? CamelCase<Bare>
  : CamelCase<Name>;

/** An object with the fields' values: `last_four` in `lastFour`, `fee_usd` in `fee` (D-642). */
export type RowOf<F extends Fields> = {
  readonly [Name in keyof F & string as MemberOf<Name>]: F[Name] extends Field<
    infer _,
    infer Stored
  >
    ? Stored
    : never;
};

export interface Words<Wire> extends Rules {
  readonly sample: Wire;
  readonly about?: string;
}

/** A text, as it is stored. */
export function text(words: Words<string>): Field<string, string> {
  return field("text", words, String);
}

/** A text that is one of `choices`, as it is stored. */
export function word<const Word extends string>(
  choices: readonly Word[],
  words: Words<NoInfer<Word>>,
): Field<Word, Word> {
  // The constraint of the column allows no other word.
  return { ...field("text", words, (stored: Word) => String(stored) as Word), words: choices };
}

export function number(words: Words<number>): Field<number, number> {
  return field("number", words, Number);
}

/** A whole number. */
export function integer(words: Words<number>): Field<number, number> {
  return field("integer", words, Number);
}

export function flag(words: Words<boolean>): Field<boolean, boolean> {
  return field("flag", words, Boolean);
}

/** A time: ISO 8601 in UTC, with milliseconds. */
export function time(words: Words<string>): Field<string, Date | number> {
  return field("time", words, (stored) => new Date(stored).toISOString());
}

/** A public id that is stored as the UUID in it. */
export function publicId(kind: IdKind, words: Words<string>): Field<string, string> {
  return field("text", words, (stored) => fromUuid(kind, String(stored)));
}

/** Nano-USD as exact USD in a text: "12.5", "-0.000000001". A sum may be outside of NanoUsd. */
export function usdField(words: Words<string>): Field<string, bigint> {
  return field("usd", words, (stored) => toDecimal(BigInt(String(stored)) as NanoUsd));
}

/** A record inside of a record; the row has its JSON. */
export function nested<F extends Fields>(
  fields: F,
  words: Partial<Words<WireOf<F>>> = {},
): Field<WireOf<F>, WireOf<F>> {
  const own = { sample: sampleOf(fields), ...words };
  return { ...field("record", own, (stored: WireOf<F>) => stored), fields };
}

/** A list; its sample has one item, unless other samples are given. */
export function listOf<Wire, Stored>(
  item: Field<Wire, Stored>,
  words: Partial<Words<readonly Wire[]>> = {},
): Field<readonly Wire[], readonly Stored[]> {
  const own = { sample: [item.sample], ...words };
  return { ...field("list", own, (all: readonly Stored[]) => all.map(item.encode)), item };
}

/** Makes a field that is null where Postgres has null. A null sample is for a mostly null field. */
export function nullable<Wire, Stored>(
  inner: Field<Wire, Stored>,
  { sample = inner.sample }: { readonly sample?: Wire | null } = {},
): Field<Wire | null, Stored | null> {
  const encode = (stored: Stored | null) => (stored === null ? null : inner.encode(stored));
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

/** Makes the JSON of objects whose members have the fields' names in camel case, without units. */
export function jsonFrom<F extends Fields>(fields: F): (row: RowOf<F>) => WireOf<F> {
  const members = Object.entries(fields).map(([name, one]) => [name, memberOf(name), one] as const);
  return (row) => {
    const stored: StoredRow = row;
    const json = members.map(([name, member, one]) => [name, one.encode(stored[member])]);
    return Object.fromEntries(json) as WireOf<F>;
  };
}

function memberOf(name: string): string {
  return name
    .replace(/_usd$/, "")
    .replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The example of a record. */
export function sampleOf<F extends Fields>(fields: F): WireOf<F> {
  const samples = Object.entries(fields).map(([name, { sample }]) => [name, sample]);
  return Object.fromEntries(samples) as WireOf<F>;
}

function field<Wire, Stored>(
  kind: FieldKind,
  {
    sample,
    about = null,
    ...rules
  }: Rules & { readonly sample: Wire; readonly about?: string | null },
  encode: (stored: Stored) => Wire,
): Field<Wire, Stored> {
  const shape = { words: null, fields: null, item: null, isNullable: false };
  return { kind, sample, about, rules, ...shape, encode };
}
