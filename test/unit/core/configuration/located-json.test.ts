import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  JsonSyntaxError,
  parseLocatedJson,
  pointerTo,
  readablePath,
} from "../../../../src/core/configuration/located-json.ts";

function faultOf(text: string): JsonSyntaxError {
  try {
    parseLocatedJson(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error;
    throw error;
  }
  throw new Error(`It was read: ${text}`);
}

const TEXT = `{
  "models": [
    {
      "id": "a",
      "price":
        0.10
    },
    { "id": "b", "price": 1e-7 }
  ],
  "a/b~c": { "": -0 }
}`;

describe("parseLocatedJson()", () => {
  test("reads every JSON text as JSON.parse() does", () => {
    const texts = fc.oneof(
      fc.json(),
      fc.jsonValue().map((value) => JSON.stringify(value, null, 2)),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const read = parseLocatedJson(text).value;
        expect(JSON.stringify(read)).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  test("refuses every text that JSON.parse() refuses", () => {
    const damaged = fc
      .tuple(
        fc.json(),
        fc.nat(),
        fc.nat({ max: 1 }),
        fc.constantFrom(...'{}[]",:0-e.\\\n tx\u00a0'),
      )
      .map(([text, at, cut, letter]) => {
        const place = at % (text.length + 1);
        return text.slice(0, place) + letter + text.slice(place + cut);
      });
    fc.assert(
      fc.property(damaged, (text) => {
        if (isJson(text)) return;
        expect(faultOf(text)).toBeInstanceOf(JsonSyntaxError);
      }),
      { numRuns: 1_000 },
    );
  });

  test("reads escapes, and no key has a meaning of its own", () => {
    expect(parseLocatedJson('"\\u00e9\\n\\"\\\\"').value).toBe('é\n"\\');
    const value = parseLocatedJson('{"__proto__": {"admin": true}, "toString": 1}').value;
    expect(Object.getPrototypeOf(value)).toBeNull();
    expect(Object.keys(value as object)).toEqual(["__proto__", "toString"]);
  });

  test("refuses a duplicate key, at the line of the second", () => {
    expect(faultOf('{\n"a": 1,\n"b": {"a": 1},\n"a": 2}')).toMatchObject({
      message: "The key 'a' stands twice",
      line: 4,
    });
    expect(faultOf('{"__proto__": 1, "__proto__": 2}').message).toContain("stands twice");
    expect(faultOf('{"\\u0061": 1, "a": 2}').message).toContain("stands twice");
  });

  test("refuses nesting of more than 32 levels instead of overflowing", () => {
    const nested = (levels: number) => `${"[".repeat(levels)}1${"]".repeat(levels)}`;
    expect(parseLocatedJson(nested(32)).value).toBeArray();
    expect(faultOf(nested(33)).message).toContain("at most 32 levels");
    expect(faultOf("[".repeat(1_000_000)).message).toContain("at most 32 levels");
  });

  test("accepts comments, and knows the lines after them", () => {
    const text = '{ // prices\n  /* of\n     two models */ "a": 1,\n  "b": 2\n}';
    const read = parseLocatedJson(text);
    expect(read.value).toEqual({ a: 1, b: 2 });
    expect(read.lineOf("/b")).toBe(4);
    expect(faultOf('{"a": 1 /* no end').message).toContain("the end of the comment");
  });

  test("names the found text, the expected one, and the line", () => {
    const faults: readonly (readonly [text: string, message: string, line: number])[] = [
      ["", "Found the end of the file in place of a JSON value", 1],
      ['{"a": 1', "Found the end of the file in place of a comma or '}'", 1],
      ["[1\n2]", "Found '2' in place of a comma", 2],
      ["[1,\r\n]", "Found ']' in place of a JSON value", 2],
      ["{\n\n a: 1}", "Found 'a' in place of a key in double quotes", 3],
      ['{"a" 1}', "Found '1' in place of a colon", 1],
      ['["a]', "Found '\"' in place of a string in double quotes", 1],
      ['["a\nb"]', "Found '\"' in place of a string in double quotes", 1],
      ["[01]", "Found '1' in place of a comma", 1],
      ["1 2", "Found '2' in place of the end of the file", 1],
      ["\u00a01", "Found '\u00a0' in place of a JSON value", 1],
    ];
    for (const [text, message, line] of faults) {
      expect(faultOf(text)).toMatchObject({ message, line });
    }
  });
});

describe("lineOf()", () => {
  const { lineOf } = parseLocatedJson(TEXT);

  test("is the line of an item, or of the key of a value", () => {
    const lines = {
      "": 1,
      "/models": 2,
      "/models/0": 3,
      "/models/0/id": 4,
      "/models/0/price": 5,
      "/models/1": 8,
      "/models/1/price": 8,
      "/a~1b~0c": 10,
      "/a~1b~0c/": 10,
    };
    for (const [pointer, line] of Object.entries(lines)) {
      expect([pointer, lineOf(pointer)]).toEqual([pointer, line]);
    }
  });

  test("is the line of the nearest existing parent of a missing value", () => {
    expect(lineOf("/models/1/name")).toBe(8);
    expect(lineOf("/models/7/name/first")).toBe(2);
    expect(lineOf("/providers/0")).toBe(1);
  });

  test("counts lines that end with CR LF as one", () => {
    expect(parseLocatedJson('{\r\n"a":\r\n1,\r\n"b": 2}').lineOf("/b")).toBe(4);
  });
});

describe("numberAt()", () => {
  const { numberAt } = parseLocatedJson(TEXT);

  test("is the number as it is written, which a float would not keep", () => {
    expect(numberAt("/models/0/price")).toBe("0.10");
    expect(numberAt("/models/1/price")).toBe("1e-7");
    expect(numberAt("/a~1b~0c/")).toBe("-0");
    const long = "123456789012345678901234567890.000000000000000000001";
    expect(parseLocatedJson(long).numberAt("")).toBe(long);
  });

  test("is undefined for a value that is not a number", () => {
    expect(numberAt("/models/0/id")).toBeUndefined();
    expect(numberAt("/models")).toBeUndefined();
    expect(numberAt("/nothing")).toBeUndefined();
  });
});

test("pointerTo() escapes characters that have a meaning in a pointer", () => {
  expect(pointerTo("", "a")).toBe("/a");
  expect(pointerTo("/models", 0)).toBe("/models/0");
  expect(pointerTo("/x", "a/b~c")).toBe("/x/a~1b~0c");
});

test("readablePath() is the pointer as a person writes it", () => {
  expect(readablePath("/models/0/routes/1/provider")).toBe("models[0].routes[1].provider");
  expect(readablePath("/x/a~1b~0c")).toBe("x.a/b~c");
  expect(readablePath("/0/a")).toBe("[0].a");
  expect(readablePath("")).toBe("");
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
