import { describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import type { ApiError } from "../../../../src/core/errors.ts";
import { explain } from "../../../../src/http/body/explain.ts";
import { refuseHalfPairs, refuseNul } from "../../../../src/http/body/texts.ts";
import {
  named,
  notOffered,
  oneOf,
  optional,
  refused,
  shortText,
  Type,
  text,
  whole,
} from "../../../../src/http/schema.ts";

const Shape = Type.Union([
  Type.Object({ kind: Type.Literal("circle"), radius: Type.Number() }),
  Type.Object({ kind: oneOf(["square", "cube"]), side: whole(1, 9) }),
]);
const Form = named("Form", {
  name: shortText(3),
  shapes: optional(Type.Array(Shape, { maxItems: 2 })),
  stop: optional(Type.Union([text(), Type.Array(text())])),
  old: notOffered({}),
  from: refused({ must: "cannot be set", code: "unsupported_field" }),
});

const Closed = Type.Object(
  { name: text(), age: optional(whole(1, 9)) },
  { additionalProperties: false },
);

const Session = named("Session", {
  model: text(),
  items: Type.Union([text(), Type.Array(Shape, { minItems: 1, maxItems: 10_000 })]),
  limit: optional(whole(1, 9)),
});
const SOUND = { kind: "circle", radius: 1 };
const session = (last: object, more: object = {}) => ({
  model: "m",
  items: [...Array.from({ length: 9_998 }, () => SOUND), last, SOUND],
  ...more,
});

describe("among thousands of items the refusal names the first faulty one by its place", () => {
  const cases: readonly (readonly [value: object, message: string])[] = [
    [session({ kind: "line" }), "items[9998].kind must be one of: circle, square, cube"],
    [session({ kind: "cube", side: 10 }), "items[9998].side must be an integer from 1 to 9"],
    [session({ kind: "cube" }, { limit: 0 }), "items[9998].side must be an integer from 1 to 9"],
    [session(SOUND, { limit: 0 }), "limit must be an integer from 1 to 9"],
    [session(SOUND, { model: 1 }), "model must be a string"],
    [
      { ...session(SOUND), items: Array(10_001).fill(SOUND) },
      "items must have at most 10000 items",
    ],
  ];

  test.each(cases.map(([value, message]) => [message, value] as const))("%s", (message, value) => {
    const error = explain(Session, value, "The session");
    expect([error.code, error.message]).toEqual(["invalid_parameter", message]);
  });
});

function told(value: object): ApiError {
  return explain(Form, value, "The form");
}

describe("the refusal of a value names its field and the rule", () => {
  const cases: readonly (readonly [value: object, message: string])[] = [
    [{}, "name must be a string of 1 to 3 characters"],
    [{ name: 1 }, "name must be a string of 1 to 3 characters"],
    [{ name: "abcd" }, "name must be a string of 1 to 3 characters"],
    [{ name: "a", shapes: {} }, "shapes must be an array"],
    [{ name: "a", shapes: [1] }, "shapes[0] must be an object"],
    [{ name: "a", shapes: [{}] }, "shapes[0].kind must be one of: circle, square, cube"],
    [
      { name: "a", shapes: [{ kind: "line" }] },
      "shapes[0].kind must be one of: circle, square, cube",
    ],
    [{ name: "a", shapes: [{ kind: "circle" }] }, "shapes[0].radius must be a number"],
    [
      { name: "a", shapes: [{ kind: "cube", side: 10 }] },
      "shapes[0].side must be an integer from 1 to 9",
    ],
    [{ name: "a", shapes: [{}, {}, {}] }, "shapes must have at most 2 items"],
    [{ name: "a", stop: 1 }, "stop must be a string, or an array"],
    [{ name: "a", stop: ["b", 1] }, "stop[1] must be a string"],
    [{ name: "a", old: "x" }, "old is not offered here"],
    [{ name: "a", from: null }, "from cannot be set"],
    [{ from: null }, "from cannot be set"],
  ];
  for (const [value, message] of cases) {
    test(`${JSON.stringify(value)}: ${message}`, () => {
      expect(told(value).message).toBe(message);
    });
  }

  test("the refusal of an unknown field names the known fields", () => {
    const { message, param } = explain(Closed, { name: "a", agee: 1 }, "The form");
    expect([message, param]).toEqual(["agee is not known: the fields are name, age", "agee"]);
    const empty = Type.Object({}, { additionalProperties: false });
    expect(explain(empty, { a: 1 }, "The query").message).toBe(
      "a is not known: there are no fields",
    );
  });

  test("the refusal has the code of the field, and its path separately", () => {
    expect(told({ name: "a", from: 1 })).toMatchObject({
      code: "unsupported_field",
      param: "from",
    });
    expect(told({ name: "a", stop: ["b", 1] })).toMatchObject({
      code: "invalid_parameter",
      param: "stop[1]",
    });
  });

  test("a hostile body is refused without examining every fault", () => {
    let looks = 0;
    const shapes = new Proxy(
      Array.from({ length: 100_000 }, () => 1),
      {
        get(target, key) {
          looks += 1;
          return Reflect.get(target, key);
        },
      },
    );
    const Many = Type.Object({ shapes: Type.Array(Type.String()), name: text() });
    expect(explain(Many, { shapes }, "The form").message).toBe("name must be a string");
    expect(looks).toBeLessThan(1_000);
  });
});

test("the characters of a text that is far too long are not counted", () => {
  // Counting them each time would take minutes, beyond the time of a test.
  const name = "Ā".repeat(2_000_000);
  const refused = Array.from({ length: 4_000 }, () => Value.Check(shortText(64), name));
  expect(refused).not.toContain(true);
});

test("a field with an empty name is shown as two quotes", () => {
  const schema = Type.Object({ a: Type.String() }, { additionalProperties: false });
  const refuse = (work: () => unknown) => {
    try {
      work();
    } catch (error) {
      return String(error instanceof Error ? error.message : error);
    }
    return "nothing";
  };
  expect(explain(schema, { a: "x", "": 1 }, "The body").message).toBe(
    '"" is not known: the fields are a',
  );
  expect(refuse(() => refuseNul({ "": "\0" }))).toBe('"" must not contain the character U+0000');
  expect(refuse(() => refuseHalfPairs({ a: { "": "\ud800" } }))).toBe(
    'a."" has half of a surrogate pair',
  );
  expect(refuse(() => refuseHalfPairs([1, { b: ["x", [null, "\ud800"]] }]))).toBe(
    "[1].b[1][1] has half of a surrogate pair",
  );
});
