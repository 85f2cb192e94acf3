// Reads a JSON body and checks it against a schema. The result has the schema's type; the endpoint
// checks everything else.

import { TypeCompiler } from "@sinclair/typebox/compiler";
import { ApiError } from "../core/errors.ts";
import type { BodyShare } from "./body-shares.ts";
import { explain } from "./explain.ts";
import { parseJson } from "./read-body.ts";
import type { Checked, TSchema } from "./schema.ts";
import { refuseHalfPairs } from "./texts.ts";

export interface JsonBody<Input> {
  readonly schema: TSchema;
  readonly bytesMax: number;
  /** Parses text. Throws `invalid_json`, or `invalid_parameter` if there are too many keys. */
  readonly parse: (text: string, share?: Pick<BodyShare, "countValues">) => unknown;
  /** Throws a refusal that names the field and the rule. */
  readonly check: (value: unknown) => Input;
}

interface BodyOptions {
  readonly bytesMax: number;
  /** The name of the body itself in refusals. */
  readonly label?: string;
}

/** Escapes of surrogates: a text without them cannot contain half of a pair. */
const SURROGATE = /\\u[dD][89a-fA-F]/;

/** A body that must match this schema, an object or an array. */
export function jsonBody<S extends TSchema>(
  schema: S,
  { bytesMax, label = "The body" }: BodyOptions,
): JsonBody<Checked<S>> {
  const compiled = TypeCompiler.Compile(schema);
  const isArray = schema.type === "array";
  return {
    schema,
    bytesMax,
    parse(text, share) {
      const { value, values } = parseJson(text);
      share?.countValues(values);
      const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
      if (isArray ? !Array.isArray(value) : !isObject) {
        throw new ApiError(
          "invalid_json",
          `The body must be a JSON ${isArray ? "array" : "object"}`,
        );
      }
      if (text.includes("\\u") && SURROGATE.test(text)) refuseHalfPairs(value);
      return value;
    },
    check(value) {
      if (compiled.Check(value)) return value as Checked<S>;
      throw explain(schema, value, label);
    },
  };
}
