// Bounds the keys of a parsed body that its schema does not know (D-561). Unknown keys have no
// effect, so no caller needs many of them, and each step of handling a body takes time for each
// key.

import type { TSchema } from "../schema.ts";
import { invalid } from "./checks.ts";
import { meantBy } from "./unknown-fields.ts";

/** The most unknown keys in one object. A body with no more keys in total is not examined. */
export const OBJECT_KEYS_MAX = 256;
/** The most unknown keys in all objects of a body together. */
export const BODY_KEYS_MAX = 500;

const NAME_LENGTH_MAX = 100;

/** The parts of a schema that are read. A copy of the schema as JSON has them too. */
type Outline = TSchema | null;

/**
 * Throws an `invalid_parameter` that names the field that makes the unknown keys too many. Keys
 * inside a field of any form, such as a JSON schema, are known.
 */
export function refuseUnknownKeys(schema: TSchema, value: unknown): void {
  new UnknownKeys().visit(schema, value, "");
}

class UnknownKeys {
  #count = 0;

  /** Without an outline the value is itself unknown, with everything in it. */
  visit(outline: Outline, value: unknown, path: string): void {
    if (typeof value !== "object" || value === null) return;
    if (outline !== null && outline.anyOf !== undefined) {
      const branches: readonly TSchema[] = outline.anyOf;
      const branch = branches.find((one) => isFor(one, value) && meantBy(one)(value));
      if (branch !== undefined) this.visit(branch, value, path);
      return;
    }
    if (Array.isArray(value)) {
      const items: Outline = outline === null ? null : (outline.items ?? ANY);
      if (items !== ANY) for (const item of value) this.visit(items, item, `${path}[]`);
      return;
    }
    this.#visitObject(outline, value as Readonly<Record<string, unknown>>, path);
  }

  #visitObject(outline: Outline, value: Readonly<Record<string, unknown>>, path: string): void {
    const known = (outline?.properties ?? {}) as Readonly<Record<string, TSchema>>;
    // A schema that names no field allows any field.
    if (outline !== null && Object.keys(known).length === 0) return;
    let unknown = 0;
    for (const key in value) {
      const name = path === "" ? key : `${path}.${key}`;
      const field = Object.hasOwn(known, key) ? (known[key] ?? null) : null;
      if (field === null) {
        unknown += 1;
        this.#count += 1;
        if (unknown > OBJECT_KEYS_MAX || this.#count > BODY_KEYS_MAX) throw tooMany(name);
      }
      this.visit(field, value[key], name);
    }
  }
}

const ANY: TSchema = {} as TSchema;

function isFor({ anyOf, type }: TSchema, value: object): boolean {
  return anyOf !== undefined || type === (Array.isArray(value) ? "array" : "object");
}

function tooMany(name: string) {
  return invalid(
    name.slice(0, NAME_LENGTH_MAX),
    `is one too many: a body may have ${BODY_KEYS_MAX} fields that are not known, ` +
      `and ${OBJECT_KEYS_MAX} in one object`,
  );
}
