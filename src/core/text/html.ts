// Writes HTML: text is escaped, and parts that are HTML already say so by their class.

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};
const LETTERS = Object.fromEntries(Object.entries(ENTITIES).map(([one, entity]) => [entity, one]));

/** Escapes text for use between tags and in attributes. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (letter) => ENTITIES[letter] ?? letter);
}

/** The text of HTML that has no entities but those of `escapeHtml`. */
export function textOfHtml(text: string): string {
  const plain = text.replaceAll(/<[^>]*>/g, "");
  return plain.replaceAll(/&(?:amp|lt|gt|quot);/g, (entity) => LETTERS[entity] ?? entity);
}

/** A piece of a page that needs no escaping. */
export class Html {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }
}

type Part = Html | string | number | null | readonly Html[];

/** A piece of a page: each value is escaped unless it is HTML; null writes nothing. */
export function html(strings: TemplateStringsArray, ...values: readonly Part[]): Html {
  return new Html(String.raw({ raw: strings }, ...values.map(written)));
}

function written(value: Part): string {
  if (value === null) return "";
  if (value instanceof Html) return value.text;
  if (typeof value === "object") return value.map(({ text }) => text).join("\n");
  return escapeHtml(String(value));
}

/** Data inside a `<script>` of a page: valid JSON that cannot end the element. */
export function jsonHtml(value: unknown): Html {
  return new Html(JSON.stringify(value).replaceAll("<", "\\u003c"));
}
