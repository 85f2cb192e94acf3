// Writes our schemas in the form of OpenAPI 3.1: plain JSON Schema, with named schemas as
// components.

import type { TSchema } from "@sinclair/typebox";
import type { Json } from "../../core/text/json.ts";

/** Keywords that only our refusals use, or that are written in another way. */
const OWN_KEYWORDS: ReadonlySet<string> = new Set([
  "$id",
  "must",
  "code",
  "anyOf",
  "patternProperties",
]);

export class SchemaWriter {
  readonly #components = new Map<string, Json>();
  readonly #sources = new Map<string, string>();

  /** The named schemas written so far. */
  get components(): Json {
    const names = [...this.#components.keys()].sort();
    return Object.fromEntries(names.map((name) => [name, this.#components.get(name)]));
  }

  /** A schema, or a reference to it if it has a name. */
  write(schema: TSchema): Json {
    const name = schema.$id;
    if (name === undefined) return this.#inline(schema);
    const source = JSON.stringify(schema);
    const known = this.#sources.get(name);
    if (known !== undefined && known !== source) throw new Error(`Two schemas are named '${name}'`);
    if (known === undefined) {
      this.#sources.set(name, source);
      this.#components.set(name, this.#inline(schema));
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  #inline(schema: TSchema): Json {
    const written: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(schema)) {
      if (!OWN_KEYWORDS.has(key)) written[key] = this.#keyword(key, value);
    }
    if (schema.patternProperties !== undefined) {
      const [values] = Object.values(schema.patternProperties as Record<string, TSchema>);
      if (values !== undefined) written.additionalProperties = this.write(values);
    }
    return schema.anyOf === undefined ? written : this.#union(schema, written);
  }

  #keyword(key: string, value: unknown): unknown {
    if (key === "items") return this.write(value as TSchema);
    if (key !== "properties") return value;
    const properties = Object.entries(value as Record<string, TSchema>);
    return Object.fromEntries(properties.map(([name, property]) => [name, this.write(property)]));
  }

  /** A union with null becomes a type of two names, if that is enough. */
  #union(schema: TSchema, outer: Record<string, unknown>): Json {
    const branches: readonly TSchema[] = schema.anyOf;
    const written = branches.map((branch) => this.write(branch));
    const others = written.filter(({ type }) => type !== "null");
    const [only] = others;
    const isNullable = others.length < written.length;
    if (only === undefined || others.length > 1 || !isNullable) {
      return { ...outer, anyOf: written };
    }
    if (typeof only.type === "string" && only.enum === undefined && only.const === undefined) {
      return { ...only, ...outer, type: [only.type, "null"] };
    }
    if (Array.isArray(only.anyOf)) {
      return { ...outer, anyOf: [...only.anyOf, { type: "null" }] };
    }
    // A description or default that both schemas have is written once.
    const { description: _description, default: _default, ...branch } = only;
    return { ...outer, anyOf: [branch, { type: "null" }] };
  }
}
