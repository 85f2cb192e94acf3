// A JSON reader that remembers where each value stands and how each number is written: so that a
// wrong configuration can be named by its line, and a price is never rounded by a float.

const DEPTH_MAX = 32;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["true", true],
  ["false", false],
  ["null", null],
]);

/** A text that is not JSON, with the line where reading stopped. */
export class JsonSyntaxError extends Error {
  override readonly name = "JsonSyntaxError";

  constructor(
    message: string,
    readonly line: number,
  ) {
    super(message);
  }
}

export interface LocatedJson {
  /** Its objects have no prototype, so that no key has a meaning of its own. */
  readonly value: unknown;
  /** The line of the value at a JSON pointer, or of its nearest parent that is there. */
  lineOf(pointer: string): number;
  /** The digits of the number at a JSON pointer, as they are written. */
  numberAt(pointer: string): string | undefined;
}

/** Reads JSON; throws a JsonSyntaxError, for a key that stands twice as well. */
export function parseLocatedJson(text: string): LocatedJson {
  const reader = new Reader(text);
  const value = reader.document();
  return {
    value,
    lineOf(pointer) {
      let known = pointer;
      while (!reader.offsets.has(known)) known = known.slice(0, known.lastIndexOf("/"));
      return lineAt(text, reader.offsets.get(known) ?? 0);
    },
    numberAt: (pointer) => reader.numbers.get(pointer),
  };
}

/** The JSON pointer of a key or an index below another pointer. */
export function pointerTo(parent: string, key: string | number): string {
  return `${parent}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** A JSON pointer the way a person writes a path: `models[0].routes[1].provider`. */
export function readablePath(pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
    .join("")
    .replace(/^\./, "");
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

class Reader {
  readonly offsets = new Map<string, number>([["", 0]]);
  readonly numbers = new Map<string, string>();
  #at = 0;

  constructor(private readonly text: string) {}

  document(): unknown {
    const value = this.#value("", 0);
    this.#space();
    if (this.#at < this.text.length) this.#fail("the end of the file");
    return value;
  }

  #value(pointer: string, depth: number): unknown {
    this.#space();
    if (depth > DEPTH_MAX) this.#fail(`at most ${DEPTH_MAX} levels`);
    if (!this.offsets.has(pointer)) this.offsets.set(pointer, this.#at);
    const first = this.text[this.#at];
    if (first === "{") return this.#object(pointer, depth);
    if (first === "[") return this.#array(pointer, depth);
    if (first === '"') return this.#string();
    return this.#number(pointer) ?? this.#word();
  }

  #object(pointer: string, depth: number): Record<string, unknown> {
    const object: Record<string, unknown> = Object.create(null);
    this.#at += 1;
    for (let more = !this.#skips("}"); more; more = this.#continues("}")) {
      this.#space();
      const start = this.#at;
      if (this.text[start] !== '"') this.#fail("a key in double quotes");
      const key = this.#string();
      if (Object.hasOwn(object, key)) this.#failAt(start, `The key '${key}' stands twice`);
      const child = pointerTo(pointer, key);
      this.offsets.set(child, start);
      if (!this.#skips(":")) this.#fail("a colon");
      object[key] = this.#value(child, depth + 1);
    }
    return object;
  }

  #array(pointer: string, depth: number): unknown[] {
    const array: unknown[] = [];
    this.#at += 1;
    for (let more = !this.#skips("]"); more; more = this.#continues("]")) {
      array.push(this.#value(pointerTo(pointer, array.length), depth + 1));
    }
    return array;
  }

  #string(): string {
    const start = this.#at;
    let end = start + 1;
    while (end < this.text.length && this.text[end] !== '"') end += this.text[end] === "\\" ? 2 : 1;
    try {
      const value: unknown = JSON.parse(this.text.slice(start, end + 1));
      this.#at = end + 1;
      return String(value);
    } catch {
      return this.#fail("a string in double quotes");
    }
  }

  #number(pointer: string): number | undefined {
    NUMBER.lastIndex = this.#at;
    const digits = NUMBER.exec(this.text)?.[0];
    if (digits === undefined) return undefined;
    this.#at += digits.length;
    this.numbers.set(pointer, digits);
    return Number(digits);
  }

  #word(): unknown {
    for (const [word, value] of WORDS) {
      if (!this.text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return value;
    }
    return this.#fail("a JSON value");
  }

  /** After an item: true when a comma promises another one, false at the closing bracket. */
  #continues(close: string): boolean {
    if (this.#skips(",")) return true;
    if (this.#skips(close)) return false;
    return this.#fail(`a comma or '${close}'`);
  }

  #skips(mark: string): boolean {
    this.#space();
    if (this.text[this.#at] !== mark) return false;
    this.#at += 1;
    return true;
  }

  #space(): void {
    while (" \t\r\n".includes(this.text[this.#at] ?? "x")) this.#at += 1;
  }

  #fail(expected: string): never {
    const found = this.text[this.#at];
    const what = found === undefined ? "the end of the file" : `'${found}'`;
    return this.#failAt(this.#at, `Found ${what} in place of ${expected}`);
  }

  #failAt(offset: number, message: string): never {
    throw new JsonSyntaxError(message, lineAt(this.text, offset));
  }
}
