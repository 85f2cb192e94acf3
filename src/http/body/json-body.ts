// Reads a JSON body and checks it against a schema. The result has the schema's type; the endpoint
// checks everything else.

import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { Checked, TSchema } from "../schema.ts";
import { explain } from "./explain.ts";
import { checkJsonShape, KEYS_MAX, type ShapeBounds, VALUES_MAX } from "./json-shape.ts";
import { type BodyKind, parseText } from "./parse-body.ts";

export interface JsonBody<Input> extends BodyKind {
  readonly bytesMax: number;
  /** Parses text. Throws `invalid_json`, or `invalid_parameter` if there are too many keys. */
  readonly parse: (text: string) => unknown;
  /** Throws a refusal that names the field and the rule. */
  readonly check: (value: unknown) => Input;
}

/** The most keys of all its objects together are 10,000 by default, and the most values 100,000. */
interface BodyOptions extends Partial<ShapeBounds> {
  readonly bytesMax: number;
  /** The name of the body itself in refusals. */
  readonly label?: string;
}

/** A body that must match this schema, an object or an array. */
export function jsonBody<S extends TSchema>(
  schema: S,
  { bytesMax, keysMax = KEYS_MAX, valuesMax = VALUES_MAX, label = "The body" }: BodyOptions,
): JsonBody<Checked<S>> {
  const compiled = TypeCompiler.Compile(schema);
  const isArray = schema.type === "array";
  let outline: string | null = null;
  return {
    schema,
    isArray,
    bytesMax,
    keysMax,
    valuesMax,
    get outline() {
      outline ??= JSON.stringify(schema);
      return outline;
    },
    parse: (text) =>
      parseText({ schema, isArray }, text, checkJsonShape(text, { keysMax, valuesMax })),
    check(value) {
      if (compiled.Check(value)) return value as Checked<S>;
      throw explain(schema, value, label);
    },
  };
}
