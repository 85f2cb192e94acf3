// Packs JSON for its way between two threads. A long text is handed over without a copy; the rest
// is JSON text again, which is parsed several times as fast as a value is copied.

/** Texts from this length on go beside the JSON. */
const LONG = 1_024;

export interface PackedJson {
  /** The value with empty texts in place of the long ones. */
  readonly json: string;
  /** The place of each text, as JSON: its keys from the top. */
  readonly paths: string;
  readonly texts: readonly (string | number)[];
}

type Path = readonly (string | number)[];

/** Packs a parsed value, which must not be used afterwards. */
export function packJson(value: unknown): PackedJson {
  const paths: Path[] = [];
  const texts: (string | number)[] = [];
  const visit = (parent: Record<string | number, unknown>, key: string | number, path: Path) => {
    const child = parent[key];
    if (typeof child === "string" ? child.length >= LONG : isInfinite(child)) {
      paths.push([...path, key]);
      texts.push(child as string | number);
      parent[key] = "";
    } else if (typeof child === "object" && child !== null) {
      const below = [...path, key];
      const keys = Array.isArray(child) ? child.keys() : Object.keys(child);
      for (const one of keys) visit(child as Record<string, unknown>, one, below);
    }
  };
  const top = { value };
  visit(top, "value", []);
  return { json: JSON.stringify(top), paths: JSON.stringify(paths), texts };
}

/** Returns the value that was packed. */
export function unpackJson({ json, paths, texts }: PackedJson): unknown {
  const top = JSON.parse(json) as Record<string, unknown>;
  for (const [index, path] of (JSON.parse(paths) as Path[]).entries()) {
    let parent: Record<string | number, unknown> = top;
    for (const key of path.slice(0, -1)) parent = parent[key] as typeof parent;
    parent[path.at(-1) ?? ""] = texts[index];
  }
  return top.value;
}

/** JSON can contain a number that it cannot write again. */
function isInfinite(value: unknown): boolean {
  return typeof value === "number" && !Number.isFinite(value);
}
