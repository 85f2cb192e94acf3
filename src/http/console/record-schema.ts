// Makes the schemas of records (core/records.ts) for replies and their documentation.

import { type Field, type Fields, sampleOf, type WireOf } from "../../core/records.ts";
import type { Example } from "../endpoint-info.ts";
import {
  nullable,
  oneOf,
  type TProperties,
  type TSchema,
  type TUnsafe,
  Type,
  text,
} from "../schema.ts";
import { time, usdSchema } from "./fields.ts";

/** The schema of a record's JSON. */
export function schemaOf<F extends Fields>(fields: F): TUnsafe<WireOf<F>> {
  const properties = Object.entries(fields).map(([name, one]) => [name, fieldSchema(one)]);
  return Type.Unsafe<WireOf<F>>(Type.Object(Object.fromEntries(properties) as TProperties));
}

function fieldSchema(field: Field): TSchema {
  const schema = plainSchema(field);
  return field.isNullable ? nullable(schema) : schema;
}

function plainSchema({ kind, about, words, rules, fields, item }: Field): TSchema {
  const options = { ...(about !== null && { description: about }), ...rules };
  switch (kind) {
    case "text":
      return words === null ? text(options) : oneOf(words, options);
    case "usd":
      return usdSchema(about ?? "Exact USD");
    case "time":
      return time(about ?? "When");
    case "number":
      return Type.Number(options);
    case "integer":
      return Type.Integer(options);
    case "flag":
      return Type.Boolean(options);
    case "record":
      return { ...schemaOf(fields ?? {}), ...options };
    case "list":
      return Type.Array(item === null ? Type.Unknown() : fieldSchema(item), options);
  }
}

/** The parts of an endpoint that answers with a record: its schema, and examples of it. */
export function replyWith<F extends Fields>(
  fields: F,
  ...examples: readonly (Omit<Example, "reply"> & { readonly reply?: Partial<WireOf<F>> })[]
): { readonly reply: TSchema; readonly examples: readonly Example[] } {
  const sample = sampleOf(fields);
  const whole = examples.map((one) => ({ ...one, reply: { ...sample, ...one.reply } }));
  return { reply: schemaOf(fields), examples: whole };
}
