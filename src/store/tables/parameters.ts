type Parameter = string | number | null;

/**
 * The parameters of a statement that several functions write. The same calls in the same order give
 * the same text, which is then prepared once.
 */
export class Parameters {
  readonly values: Parameter[] = [];

  /** Adds a value and returns its name in the statement, such as `$3`. */
  add(value: Parameter): string {
    return `$${this.values.push(value)}`;
  }
}
