// Which fields of a checked body its schema does not know. They are not read, and the caller is
// told so: a misspelt field, or one of another product, would else be dropped in silence.

import type { TSchema } from "./schema.ts";

/** So many are named; a body can have millions. */
const NAMES_MAX = 32;
const NAME_LENGTH_MAX = 100;
/** Stands for those that are not named. */
const MORE = "…";

/**
 * The names of a body's unknown fields, each once: `seeds`, `messages[].cache_control`. A field
 * that is null or empty asks for nothing and is left out.
 */
export function unknownFields(schema: TSchema, value: unknown): readonly string[] {
  const names = new Set<string>();
  collect(schema, value, "", names);
  return names.size > NAMES_MAX ? [...names].slice(0, NAMES_MAX).concat(MORE) : [...names];
}

function collect(schema: TSchema, value: unknown, path: string, names: Set<string>): void {
  if (typeof value !== "object" || value === null || names.size > NAMES_MAX) return;
  if (schema.anyOf !== undefined) {
    const branch = (schema.anyOf as readonly TSchema[]).find((one) => isMeant(one, value));
    if (branch !== undefined) collect(branch, value, path, names);
  } else if (Array.isArray(value)) {
    for (const item of value) collect(schema.items ?? {}, item, `${path}[]`, names);
  } else {
    collectOfObject(schema, value as Readonly<Record<string, unknown>>, path, names);
  }
}

function collectOfObject(
  { properties }: TSchema,
  value: Readonly<Record<string, unknown>>,
  path: string,
  names: Set<string>,
): void {
  const known = properties as Readonly<Record<string, TSchema>> | undefined;
  // A schema that names no field takes any.
  if (known === undefined || Object.keys(known).length === 0) return;
  for (const key of Object.keys(value)) {
    const at = path === "" ? key : `${path}.${key}`;
    const field = Object.hasOwn(known, key) ? known[key] : undefined;
    if (field !== undefined) collect(field, value[key], at, names);
    else if (!isEmpty(value[key])) names.add(at.slice(0, NAME_LENGTH_MAX));
  }
}

/** Whether an object or array is of this branch of a union, by the fields that tell them apart. */
function isMeant(branch: TSchema, value: object): boolean {
  if (branch.anyOf !== undefined) return true;
  if (Array.isArray(value) || branch.type !== "object") {
    return Array.isArray(value) && branch.type === "array";
  }
  const fields = Object.entries((branch.properties ?? {}) as Readonly<Record<string, TSchema>>);
  return fields.every(([key, { const: only, enum: choices }]) => {
    const told = (value as Readonly<Record<string, unknown>>)[key];
    if (only !== undefined) return told === only;
    return choices === undefined || choices.includes(told);
  });
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return value === null || value === undefined;
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0;
}
