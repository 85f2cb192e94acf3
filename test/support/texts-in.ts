// Reads the catalogues of texts.

/** The texts of a catalogue with their places in it; texts with values are left out. */
export function* textsIn(value: unknown, path = "t"): Generator<readonly [string, string]> {
  if (typeof value === "string") yield [path, value];
  if (typeof value !== "object" || value === null) return;
  for (const [name, one] of Object.entries(value)) yield* textsIn(one, `${path}.${name}`);
}

/** The texts with values, their places, and `<0>`, `<1>` in place of the values. */
export function* filledTextsIn(value: unknown, path = "t"): Generator<readonly [string, string]> {
  if (typeof value === "function") {
    const marks = Array.from({ length: value.length }, (_, index) => `<${index}>`);
    yield [path, String(value(...marks))];
  }
  if (typeof value !== "object" || value === null) return;
  for (const [name, one] of Object.entries(value)) yield* filledTextsIn(one, `${path}.${name}`);
}
