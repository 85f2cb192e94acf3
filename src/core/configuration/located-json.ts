// Reads JSON with comments, and remembers the place of each value and the digits of each number, so
// that a fault can be named by its line, and a price is never rounded by a float.

import { type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";

const DEPTH_MAX = 32;
const DEPTH_WORDS = `at most ${DEPTH_MAX} levels`;

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
  /** The objects of the value have no prototype, so that no key has a meaning of its own. */
  readonly value: unknown;
  /** Returns the line of the value at a JSON pointer, or of its nearest existing parent. */
  lineOf(pointer: string): number;
  /** Returns the digits of the number at a JSON pointer, as they are written. */
  numberAt(pointer: string): string | undefined;
}

/** Reads JSON; throws a JsonSyntaxError, also for a duplicate key. */
export function parseLocatedJson(text: string): LocatedJson {
  const reader = new Reader(text);
  const value = reader.read();
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

/** Turns a JSON pointer into a path as a person writes it: `models[0].routes[1].provider`. */
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

const STRING = "a string in double quotes";
/** The parts of JSON that the parser missed, in words. */
const MISSED: Readonly<Record<string, string>> = {
  PropertyNameExpected: "a key in double quotes",
  ValueExpected: "a JSON value",
  ColonExpected: "a colon",
  CommaExpected: "a comma",
  CloseBraceExpected: "a comma or '}'",
  CloseBracketExpected: "a comma or ']'",
  EndOfFileExpected: "the end of the file",
  InvalidNumberFormat: "a number",
  UnexpectedEndOfComment: "the end of the comment",
  UnexpectedEndOfString: STRING,
  InvalidCharacter: STRING,
  InvalidEscapeCharacter: STRING,
  InvalidUnicode: STRING,
};

/**
 * Returns the words for the first error with a name: an error about an invalid symbol says the
 * least.
 */
function expectedText(errors: readonly ParseError[]): string {
  const words = errors.flatMap(({ error }) => MISSED[printParseErrorCode(error)] ?? []);
  return words[0] ?? "a JSON value";
}

class Reader {
  readonly offsets = new Map<string, number>([["", 0]]);
  readonly numbers = new Map<string, string>();

  constructor(readonly text: string) {}

  read(): unknown {
    const errors: ParseError[] = [];
    const root = this.#tree(errors);
    const [first] = errors;
    if (first !== undefined) return this.#fail(first.offset, expectedText(errors));
    if (root === undefined) return this.#fail(this.text.length, "a JSON value");
    this.offsets.set("", root.offset);
    return this.#value(root, "", 0);
  }

  #tree(errors: ParseError[]): Node | undefined {
    try {
      return parseTree(this.text, errors);
    } catch (error) {
      // The parser calls itself for each level, so deep nesting overflows the stack.
      if (error instanceof RangeError) return this.#fail(0, DEPTH_WORDS);
      throw error;
    }
  }

  #value(node: Node, pointer: string, depth: number): unknown {
    if (depth > DEPTH_MAX) return this.#fail(node.offset, DEPTH_WORDS);
    if (node.type === "object") return this.#object(node, pointer, depth);
    if (node.type === "array") {
      return (node.children ?? []).map((child, index) => {
        const below = pointerTo(pointer, index);
        this.offsets.set(below, child.offset);
        return this.#value(child, below, depth + 1);
      });
    }
    if (node.type === "number") {
      this.numbers.set(pointer, this.text.slice(node.offset, node.offset + node.length));
    }
    return node.value;
  }

  #object(node: Node, pointer: string, depth: number): Record<string, unknown> {
    const object: Record<string, unknown> = Object.create(null);
    for (const { children = [] } of node.children ?? []) {
      const [key, value] = children;
      if (key === undefined || value === undefined) return this.#fail(node.offset, "a JSON value");
      const name = String(key.value);
      if (Object.hasOwn(object, name)) {
        throw new JsonSyntaxError(`The key '${name}' stands twice`, lineAt(this.text, key.offset));
      }
      const below = pointerTo(pointer, name);
      this.offsets.set(below, key.offset);
      object[name] = this.#value(value, below, depth + 1);
    }
    return object;
  }

  #fail(offset: number, expected: string): never {
    const found = this.text[offset];
    const what = found === undefined ? "the end of the file" : `'${found}'`;
    const message = `Found ${what} in place of ${expected}`;
    throw new JsonSyntaxError(message, lineAt(this.text, offset));
  }
}
