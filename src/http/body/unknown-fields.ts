// Finds fields of a checked body that its schema does not know. Unknown fields are ignored, and the
// caller learns their names: otherwise a misspelt field, or a field of another product, would be
// dropped silently.

import { isObject } from "../../core/text/json.ts";
import type { TSchema } from "../schema.ts";

/** At most this many names are reported; a body can have millions. */
const NAMES_MAX = 32;
const NAME_LENGTH_MAX = 100;
/** The unknown fields of most bodies. */
const NO_NAMES: readonly string[] = Object.freeze([]);
/** Replaces the names beyond the limit. */
const MORE = "…";

/**
 * Adds the names of the unknown fields in a value. The function runs for every call, so it is
 * compiled.
 */
type Walk = (value: unknown, names: Set<string>) => void;

/**
 * Compiles a function that returns a body's unknown fields, each once: `seeds`,
 * `messages[].cache_control`. A null or empty field requests nothing and is omitted. `alsoNamed`:
 * fields of the schema that are not always used.
 */
export function unknownFieldsOf(
  schema: TSchema,
  alsoNamed: readonly string[] = [],
): (value: unknown) => readonly string[] {
  const walk = walkOf(schema, "", new Set(alsoNamed));
  return (value) => {
    const names = new Set<string>();
    walk?.(value, names);
    if (names.size === 0) return NO_NAMES;
    return names.size > NAMES_MAX ? [...names].slice(0, NAMES_MAX).concat(MORE) : [...names];
  };
}

/** Null for a schema that allows any field. */
function walkOf(schema: TSchema, path: string, alsoNamed: ReadonlySet<string>): Walk | null {
  if (schema.anyOf !== undefined) return walkOfUnion(schema.anyOf, path, alsoNamed);
  if (schema.type === "array") return walkOfArray(schema.items, path, alsoNamed);
  const properties = Object.entries((schema.properties ?? {}) as Readonly<Record<string, TSchema>>);
  // A schema that names no field allows any field.
  if (properties.length === 0) return null;
  const start = path === "" ? "" : `${path}.`;
  const used = properties.filter(([key]) => !alsoNamed.has(start + key));
  const known = new Map(used.map(([key, field]) => [key, walkOf(field, start + key, alsoNamed)]));
  return (value, names) => {
    if (!isObject(value)) return;
    // A parsed JSON object has only its own keys, and this is the fastest way to visit them.
    for (const key in value) {
      const walk = known.get(key);
      if (walk === undefined) addUnless(isEmpty(value[key]), names, start + key);
      else if (walk !== null) walk(value[key], names);
    }
  };
}

function walkOfArray(items: TSchema, path: string, alsoNamed: ReadonlySet<string>): Walk | null {
  const walk = walkOf(items, `${path}[]`, alsoNamed);
  if (walk === null) return null;
  return (value, names) => {
    if (!Array.isArray(value)) return;
    for (const item of value) {
      if (names.size > NAMES_MAX) return;
      walk(item, names);
    }
  };
}

/**
 * Walks the first branch that the value seems meant for, by the fields that distinguish the
 * branches.
 */
function walkOfUnion(
  branches: readonly TSchema[],
  path: string,
  alsoNamed: ReadonlySet<string>,
): Walk | null {
  const walks = branches.flatMap((branch) => {
    const walk = walkOf(branch, path, alsoNamed);
    return walk === null ? [] : [{ isMeant: meantBy(branch), walk }];
  });
  if (walks.length === 0) return null;
  return (value, names) => {
    if (typeof value !== "object" || value === null) return;
    for (const { isMeant, walk } of walks) {
      if (isMeant(value)) return walk(value, names);
    }
  };
}

/** Returns a function that is true for a value that seems meant for this branch of a union. */
export function meantBy(branch: TSchema): (value: object) => boolean {
  if (branch.anyOf !== undefined) return () => true;
  if (branch.type === "array") return Array.isArray;
  const fields = Object.entries((branch.properties ?? {}) as Readonly<Record<string, TSchema>>);
  const choices = fields.flatMap(([key, { const: only, enum: values }]) => {
    if (only !== undefined) return [[key, [only]] as const];
    return values === undefined ? [] : [[key, values as readonly unknown[]] as const];
  });
  return (value) => {
    if (!isObject(value)) return false;
    for (const [key, allowed] of choices) if (!allowed.includes(value[key])) return false;
    return true;
  };
}

function addUnless(isLeftOut: boolean, names: Set<string>, name: string): void {
  if (!isLeftOut && names.size <= NAMES_MAX) names.add(name.slice(0, NAME_LENGTH_MAX));
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return value === null || value === undefined;
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0;
}
