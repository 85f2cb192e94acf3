// The schemas of records (core/records.ts), for replies and their documentation.

import type { Field, Fields, WireOf } from "../../core/records.ts";
import {
  nullable,
  oneOf,
  type TProperties,
  type TSchema,
  type TUnsafe,
  Type,
  text,
} from "../schema.ts";
import { time, usd } from "./fields.ts";

/** The schema of a record's JSON. */
export function schemaOf<F extends Fields>(fields: F): TUnsafe<WireOf<F>> {
  const properties = Object.entries(fields).map(([name, one]) => [name, fieldSchema(one)]);
  return Type.Unsafe<WireOf<F>>(Type.Object(Object.fromEntries(properties) as TProperties));
}

function fieldSchema(field: Field): TSchema {
  const schema = plainSchema(field);
  return field.isNullable ? nullable(schema) : schema;
}

function plainSchema({ kind, about, words, fields }: Field): TSchema {
  const description = about === null ? {} : { description: about };
  switch (kind) {
    case "text":
      return words === null ? text(description) : oneOf(words, description);
    case "usd":
      return usd(about ?? "Exact USD");
    case "time":
      return time(about ?? "When");
    case "number":
      return Type.Number(description);
    case "integer":
      return Type.Integer(description);
    case "flag":
      return Type.Boolean(description);
    case "record":
      return schemaOf(fields ?? {});
  }
}
