// Lists the fields of a schema as rows of a table for readers: path, type, whether the field is
// required, and its meaning.

import type { TSchema } from "@sinclair/typebox";

export interface FieldRow {
  /** The path as a request would write it: `messages[].content`. */
  readonly path: string;
  readonly type: string;
  readonly required: boolean;
  readonly about: string;
}

/** A group of fields: those of a whole schema, or of one form that it can have. */
export interface FieldGroup {
  /** The field that identifies the form, such as `role: tool`; null for fields of every form. */
  readonly form: string | null;
  readonly rows: readonly FieldRow[];
}

/** The groups of a schema; the first one has the fields of every form. */
export function fieldGroups(schema: TSchema): readonly FieldGroup[] {
  const forms = formsOf(schema);
  if (forms !== null) return forms.flatMap((form) => withForm(form, ""));
  const groups: FieldGroup[] = [];
  const rows = rowsOf(itemOf(schema) ?? schema, itemOf(schema) === null ? "" : "[]", groups);
  return [{ form: null, rows }, ...groups];
}

function withForm(form: TSchema, path: string): FieldGroup[] {
  const inner: FieldGroup[] = [];
  const rows = rowsOf(form, path, inner);
  const kind = Object.entries((form.properties ?? {}) as Record<string, TSchema>).find(
    ([name, field]) => field.const !== undefined && name !== "object",
  );
  const label = kind === undefined ? (form.$id ?? null) : `${kind[0]}: ${kind[1].const}`;
  return [{ form: path === "" ? label : `${path}, ${label}`, rows }, ...inner];
}

/** The rows of an object's fields; a field with several forms adds groups. */
function rowsOf(schema: TSchema, path: string, groups: FieldGroup[]): FieldRow[] {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, TSchema>);
  return properties.flatMap(([name, field]) => {
    const at = path === "" ? name : `${path}.${name}`;
    const isRequired = (schema.required ?? []).includes(name);
    const own = { path: at, type: typeOf(field), required: isRequired, about: aboutOf(field) };
    const solid = withoutNull(field);
    const forms = formsOf(solid) ?? formsOf(itemOf(solid) ?? {});
    const inside = itemOf(solid) === null ? at : `${at}[]`;
    if (forms !== null) {
      groups.push(...forms.flatMap((form) => withForm(form, inside)));
      return [own];
    }
    return [own, ...rowsOf(itemOf(solid) ?? solid, inside, groups)];
  });
}

/** The objects that a schema allows, if there are several. */
function formsOf(schema: Pick<TSchema, "anyOf"> | object): readonly TSchema[] | null {
  const branches: readonly TSchema[] = ("anyOf" in schema && schema.anyOf) || [];
  const objects = branches.filter(({ properties }) => properties !== undefined);
  return objects.length > 1 ? objects : null;
}

function itemOf(schema: TSchema): TSchema | null {
  return schema.type === "array" ? withoutNull(schema.items) : null;
}

function withoutNull(schema: TSchema): TSchema {
  if (schema.anyOf === undefined) return schema;
  const branches: readonly TSchema[] = schema.anyOf;
  const solid = branches.filter(({ type }) => type !== "null");
  return solid.length === 1 ? withoutNull(solid[0] ?? schema) : schema;
}

function aboutOf(schema: TSchema): string {
  const solid = withoutNull(schema);
  const about = schema.description ?? solid.description ?? "";
  const rule = ruleOf(solid);
  const fallback = schema.default ?? solid.default;
  const end = fallback === undefined ? [] : [`default ${JSON.stringify(fallback)}`];
  return [about, rule, ...end].filter((part) => part !== "").join("; ");
}

function ruleOf({ minimum, maximum, enum: choices, maxItems, minLength, maxLength }: TSchema) {
  if (choices !== undefined) return choices.map((one: unknown) => `\`${one}\``).join(", ");
  // The largest safe number is no real bound.
  if (maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER) return `${minimum} to ${maximum}`;
  if (maxItems !== undefined) return `at most ${maxItems} items`;
  return maxLength === undefined ? "" : `${minLength ?? 0} to ${maxLength} characters`;
}

/** The type in the notation of programmers. */
export function typeOf(schema: TSchema): string {
  if (schema.anyOf !== undefined) {
    const names = (schema.anyOf as readonly TSchema[]).map(typeOf);
    return [...new Set(names)].join(" or ");
  }
  if (schema.not !== undefined) return "refused";
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === "array") {
    const item = typeOf(schema.items);
    return item === "" ? "array" : `array of ${item}`;
  }
  return schema.type ?? "any";
}
