// Parses the text of a JSON body: here if that takes little time, otherwise in a thread (D-561).

import { ApiError, type ErrorCode } from "../../core/errors.ts";
import { isObject } from "../../core/text/json.ts";
import type { TSchema } from "../schema.ts";
import type { BodyShare } from "./body-shares.ts";
import { checkJsonShape, type JsonShape, type ShapeBounds } from "./json-shape.ts";
import { type PackedJson, unpackJson } from "./packed-json.ts";
import { parseJson } from "./read-body.ts";
import { refuseHalfPairs } from "./texts.ts";
import { OBJECT_KEYS_MAX, refuseUnknownKeys } from "./unknown-keys.ts";

/** All other callers wait while a body is parsed here: about a millisecond at these limits. */
const KEYS_MAX_HERE = 500;
const VALUES_MAX_HERE = 5_000;

/** Escapes of surrogates: a text without them cannot contain half of a pair. */
const SURROGATE = /\\u[dD][89a-fA-F]/;

/** The message to the parsing thread. */
export interface BodyToParse extends ShapeBounds, Pick<BodyKind, "isArray" | "outline"> {
  /** The bytes of a large body; the text of a body that was already decoded. */
  readonly body: Uint8Array | string;
}

/** The reply of the parsing thread. */
export type ParsedBody =
  | { readonly packed: PackedJson; readonly values: number }
  | {
      readonly refusal: {
        readonly code: ErrorCode;
        readonly message: string;
        readonly param: string | undefined;
      };
    };

/** Parses bodies outside the thread that serves requests; senders take turns. */
export interface BodyParser {
  /** Parses a body. Throws `service_unavailable` if the thread cannot. */
  parse(sender: string, body: BodyToParse): Promise<ParsedBody>;
}

/** The rules for parsing a body. */
export interface BodyKind extends ShapeBounds {
  readonly schema: TSchema;
  readonly isArray: boolean;
  /** The schema as JSON, for another thread. */
  readonly outline: string;
}

interface Source {
  readonly parser: BodyParser | undefined;
  readonly sender: string;
  readonly share: BodyShare;
}

/**
 * Returns the value of a body. Throws `invalid_json`, or `invalid_parameter` if it has too many
 * keys or values. Returns no promise if the body is parsed here.
 */
export function parseBody(kind: BodyKind, body: string | Uint8Array, source: Source): unknown {
  const { parser, share } = source;
  if (typeof body !== "string") return parseApart(kind, body, source);
  const shape = checkJsonShape(body, kind);
  const isLong = shape.keys > KEYS_MAX_HERE || shape.values > VALUES_MAX_HERE;
  if (isLong && parser !== undefined) return parseApart(kind, body, source);
  share.countValues(shape.values);
  return parseText(kind, body, shape);
}

/** Parses a text whose shape was checked. Throws as `parseBody` does. */
export function parseText(
  { schema, isArray }: { readonly schema: TSchema; readonly isArray: boolean },
  text: string,
  { keys }: JsonShape,
): unknown {
  const value = parseJson(text);
  if (isArray ? !Array.isArray(value) : !isObject(value)) {
    throw new ApiError("invalid_json", `The body must be a JSON ${isArray ? "array" : "object"}`);
  }
  if (text.includes("\\u") && SURROGATE.test(text)) refuseHalfPairs(value);
  if (keys > OBJECT_KEYS_MAX) refuseUnknownKeys(schema, value);
  return value;
}

async function parseApart(
  { isArray, outline, keysMax, valuesMax }: Omit<BodyKind, "schema">,
  body: string | Uint8Array,
  { parser, sender, share }: Source,
): Promise<unknown> {
  if (parser === undefined) throw new Error("There is no thread to parse bodies");
  const parsed = await parser
    .parse(sender, { body, isArray, outline, keysMax, valuesMax })
    .finally(() => share.end());
  if ("refusal" in parsed) {
    const { code, message, param } = parsed.refusal;
    throw new ApiError(code, message, param === undefined ? {} : { param });
  }
  share.countValues(parsed.values);
  return unpackJson(parsed.packed);
}
