import { describe, expect, test } from "bun:test";
import { unknownFieldsOf } from "../../../../src/http/body/unknown-fields.ts";
import { anyObject, oneOf, optional, Type, text } from "../../../../src/http/schema.ts";

const Part = Type.Object({ type: Type.Literal("text"), text: text() });
const Body = Type.Object({
  model: text(),
  free: optional(anyObject()),
  messages: Type.Array(
    Type.Union([
      Type.Object({
        role: oneOf(["user", "system"]),
        content: Type.Union([text(), Type.Array(Part)]),
      }),
      Type.Object({ role: Type.Literal("tool"), id: text() }),
    ]),
  ),
});

const unknownFields = unknownFieldsOf(Body);

describe("unknownFieldsOf()", () => {
  test("names each field that the schema lacks once, at any depth", () => {
    const body = {
      model: "m",
      seeds: 0,
      free: { anything: { goes: 1 } },
      messages: [
        { role: "user", content: "x", cache: {}, mark: true },
        { role: "user", content: [{ type: "text", text: "x", mark: 1 }], mark: false },
        { role: "tool", id: "1", content: "of the other form" },
      ],
    };
    expect(unknownFields(body)).toEqual([
      "seeds",
      "messages[].mark",
      "messages[].content[].mark",
      "messages[].content",
    ]);
  });

  test("leaves out null and empty fields, which request nothing", () => {
    const empty = { a: null, b: [], c: {} };
    expect(unknownFields({ model: "m", messages: [], ...empty })).toEqual([]);
    expect(unknownFields({ d: false, e: 0, f: "" })).toEqual(["d", "e", "f"]);
  });

  test("does not count the members of every object as known fields", () => {
    const body = JSON.parse('{"constructor":1,"__proto__":{"x":1},"toString":1}');
    expect(unknownFields(body)).toEqual(["constructor", "__proto__", "toString"]);
  });

  test("names a bounded number of fields, however many are unknown", () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`f${n}`, n]));
    const names = unknownFields(many);
    expect(names).toHaveLength(33);
    expect(names.at(-1)).toBe("…");
    const [long] = unknownFields({ ["x".repeat(10_000)]: 1 });
    expect(long).toHaveLength(100);
  });
});
