import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  bucketOf,
  fromUuid,
  type IdKind,
  isId,
  newId,
  newTimedId,
  sameId,
  toUuid,
} from "../../../src/core/ids.ts";

const FORMS: readonly (readonly [kind: IdKind, start: string])[] = [
  ["account", "acct_"],
  ["key", "key_"],
  ["payment", "pay_"],
  ["request", "req_"],
  ["completion", "chatcmpl-"],
  ["search", "search_"],
  ["message", "msg_"],
];

/** 128 bits as hex, and as 22 digits of base 62. */
const ENCODED: readonly (readonly [hex: string, digits: string])[] = [
  ["00000000000000000000000000000000", "0000000000000000000000"],
  ["00000000000000000000000000000001", "0000000000000000000001"],
  ["000102030405060708090a0b0c0d0e0f", "000SYW7RiJxkEgOGusQGwp"],
  ["01a0c4506c0000000000000000000001", "034Shhzc8p3KwBO3VkhtVx"],
  ["ffffffffffffffffffffffffffffffff", "7n42DGM5Tflk9n8mt7Fhc7"],
];

const uuidOf = (hex: string) => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
const fixed = (hex: string) => () => Uint8Array.fromHex(hex);
const sixteen = fc.uint8Array({ minLength: 16, maxLength: 16 });

describe("newId()", () => {
  test("joins the prefix of the kind and 128 bits in 22 digits of base 62", () => {
    for (const [kind, start] of FORMS) {
      for (const [hex, digits] of ENCODED) expect(newId(kind, fixed(hex))).toBe(start + digits);
    }
  });

  test("asks for sixteen bytes", () => {
    const counts: number[] = [];
    newId("key", (count) => {
      counts.push(count);
      return new Uint8Array(count);
    });
    expect(counts).toEqual([16]);
  });
});

describe("newTimedId()", () => {
  test("begins with the milliseconds in 48 bits and keeps the other 80 random", () => {
    const id = newTimedId("request", fixed("ffffffffffffffffffffffffffffffff"), 0x0102_0304_0506);
    expect(toUuid(id)).toBe("01020304-0506-ffff-ffff-ffffffffffff");
  });

  test("sorts by time, as text and as UUID", () => {
    const times = fc.tuple(fc.nat({ max: 2 ** 31 }), fc.integer({ min: 1, max: 2 ** 31 }));
    fc.assert(
      fc.property(times, sixteen, sixteen, ([early, later], a, b) => {
        const first = newTimedId("request", () => a, early);
        const second = newTimedId("request", () => b, early + later);
        expect([first < second, toUuid(first) < toUuid(second)]).toEqual([true, true]);
      }),
    );
  });
});

describe("toUuid() and fromUuid()", () => {
  test("turn an id into its sixteen bytes and back", () => {
    for (const [hex, digits] of ENCODED) {
      expect(toUuid(`key_${digits}`)).toBe(uuidOf(hex));
      expect(fromUuid("key", uuidOf(hex))).toBe(`key_${digits}`);
    }
    fc.assert(
      fc.property(sixteen, (bytes) => {
        const id = newId("message", () => bytes);
        expect(toUuid(id)).toBe(uuidOf(bytes.toHex()));
        expect(fromUuid("message", toUuid(id))).toBe(id);
      }),
    );
  });

  test("refuse a text that is not an id", () => {
    const bodies = ["7n42DGM5Tflk9n8mt7Fhc8", "zzzzzzzzzzzzzzzzzzzzzz", "00000000000000000000-1"];
    for (const body of bodies) expect(() => toUuid(`key_${body}`)).toThrow(RangeError);
  });
});

test("sameId() gives the same digits the prefix of another kind", () => {
  const digits = "034Shhzc8p3KwBO3VkhtVx";
  expect(sameId(`req_${digits}`, "completion")).toBe(`chatcmpl-${digits}`);
  expect(sameId(`chatcmpl-${digits}`, "request")).toBe(`req_${digits}`);
});

describe("isId()", () => {
  const digits = "034Shhzc8p3KwBO3VkhtVx";

  test("knows only the ids of its kind", () => {
    for (const [kind] of FORMS) {
      const known = FORMS.filter(([, start]) => isId(kind, start + digits));
      expect(known.map(([other]) => other)).toEqual([kind]);
    }
  });

  test("refuses a text that only resembles an id", () => {
    const wrong = [
      "",
      "key_",
      digits,
      `key_${digits}0`,
      `key_${digits.slice(1)}`,
      `KEY_${digits}`,
      `key_${digits}\n`,
      ` key_${digits}`,
      `key-${digits}`,
      `key_${digits.slice(1)}_`,
    ];
    expect(wrong.filter((text) => isId("key", text))).toEqual([]);
    expect(isId("completion", `chatcmpl_${digits}`)).toBe(false);
  });
});

test("bucketOf() is CRC-32 modulo 64, which must never change in an installation", () => {
  expect(bucketOf("acct_0000000000000000000000")).toBe(16);
  expect(bucketOf("acct_7n42DGM5Tflk9n8mt7Fhc7")).toBe(33);
  expect(bucketOf("acct_1234567890abcdefghijAB")).toBe(44);
});
