// The vectors in a server's reply, in the form that the caller asked for: numbers, or the bytes of
// 32-bit floats in base64. A server may send either, whatever it was asked for.

import { isObject, type Json } from "../../../../core/text/json.ts";
import { RouteFailure } from "../../../../upstream/route-failure.ts";

export const ENCODINGS = ["float", "base64"] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** A vector as its caller gets it. */
type Vector = readonly number[] | string;

const FLOAT_BYTES = 4;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** The vectors of a reply, and the dimensions of the first. */
export interface ReadVectors {
  readonly vectors: readonly Vector[];
  readonly dimensions: number;
}

/** Reads one vector for each of `count` inputs, in their order. Throws a RouteFailure. */
export function readVectors({ data }: Json, count: number, encoding: Encoding): ReadVectors {
  if (!Array.isArray(data) || data.length !== count) throw unreadable();
  const vectors = new Array<Vector | undefined>(count).fill(undefined);
  let dimensions = 0;
  for (const [place, item] of data.entries()) {
    if (!isObject(item)) throw unreadable();
    const { index = place, embedding } = item;
    const at = Number(index);
    if (!(at in vectors) || vectors[at] !== undefined) throw unreadable();
    const vector = toVector(embedding, encoding);
    if (at === 0) dimensions = dimensionsOf(vector);
    vectors[at] = vector;
  }
  return { vectors: vectors as readonly Vector[], dimensions };
}

function toVector(embedding: unknown, encoding: Encoding): Vector {
  if (typeof embedding === "string") {
    const bytes = BASE64.test(embedding) ? Buffer.from(embedding, "base64") : Buffer.alloc(0);
    if (bytes.length === 0 || bytes.length % FLOAT_BYTES !== 0) throw unreadable();
    return encoding === "base64" ? embedding : numbersIn(bytes);
  }
  const isVector = Array.isArray(embedding) && embedding.length > 0;
  if (!isVector || !embedding.every((one) => typeof one === "number")) throw unreadable();
  return encoding === "float" ? embedding : bytesOf(embedding).toString("base64");
}

function numbersIn(bytes: Buffer): number[] {
  const numbers: number[] = [];
  for (let at = 0; at < bytes.length; at += FLOAT_BYTES) {
    const number = bytes.readFloatLE(at);
    // JSON has no word for others.
    if (!Number.isFinite(number)) throw unreadable();
    numbers.push(number);
  }
  return numbers;
}

function bytesOf(numbers: readonly number[]): Buffer {
  const bytes = Buffer.alloc(numbers.length * FLOAT_BYTES);
  for (const [index, number] of numbers.entries()) bytes.writeFloatLE(number, index * FLOAT_BYTES);
  return bytes;
}

function dimensionsOf(vector: Vector): number {
  return typeof vector === "string"
    ? Buffer.byteLength(vector, "base64") / FLOAT_BYTES
    : vector.length;
}

function unreadable(): RouteFailure {
  return new RouteFailure("The server sent no vector for each input");
}
