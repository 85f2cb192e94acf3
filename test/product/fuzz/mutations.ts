// Puts faults into the JSON of a body: into its values, or into its text.

import type { Random } from "../../support/random.ts";

/** JSON without an equal value in JavaScript; it is written literally. */
const RAW = [
  "1e400",
  "-1e400",
  "-0",
  "1.5",
  "9007199254740993",
  "1E2",
  "1e-400",
  "0.30000000000000004",
  "123456789012345678901234567890",
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\u0000"',
  '"\\/"',
  "NaN",
  "Infinity",
  "undefined",
  "01",
  "+1",
  ".5",
  "'a'",
  "1_000",
  '{"a":1,"a":2}',
] as const;

const TEXTS = [
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\ufeff",
  "\u202eabc\u202c",
  "\u2028",
  "e\u0301".repeat(40),
  "🙂".repeat(100),
  "👩‍👩‍👧‍👦",
  "١٢٣",
  "ﷺ",
  "%00",
  "../../etc/passwd",
  "' OR 1=1 --",
  "<script>",
  "\r\nX-Injected: 1",
  "__proto__",
  "constructor",
  "toString",
  "null",
  "NaN",
  "1e3",
  "true",
  "x".repeat(65),
  "x".repeat(401),
  "x".repeat(5_000),
  "ada@example.org\r\nBcc: b@example.org",
  "<|endoftext|>",
  "a@[127.0.0.1]",
  '"a b"@example.org',
  "ä@bücher.example",
  "-1",
  "é",
] as const;

const KEYS = [
  "__proto__",
  "constructor",
  "toString",
  "",
  "\u0000",
  "from",
  "svc",
  "a.b",
  "a[0]",
  "🙂",
  "max_new_tokens",
  "best_of",
  "hasOwnProperty",
  "length",
  "x".repeat(300),
] as const;

/** Marks JSON in a value that is written literally. */
const RAW_MARK = "\u0001raw:";
const RAW_TEXT = /"\\u0001raw:((?:[^"\\]|\\.)*)"/g;

/** The value with one of its parts exchanged, dropped, doubled or added. */
export function mutateValue(value: unknown, random: Random): unknown {
  if (typeof value !== "object" || value === null || random.next() < 0.08) return oddValue(random);
  if (Array.isArray(value)) return mutateList(value, random);
  return mutateObject({ ...value }, random);
}

/** JSON text of a value that `mutateValue` may have changed. */
export function toJsonText(value: unknown): string {
  const text = JSON.stringify(value) ?? "";
  return text.replaceAll(RAW_TEXT, (_, raw: string) => JSON.parse(`"${raw}"`) as string);
}

function mutateList(items: readonly unknown[], random: Random): unknown[] {
  const at = random.between(0, Math.max(0, items.length - 1));
  switch (random.between(0, 5)) {
    case 0:
      return items.toSpliced(at, 1);
    case 1:
      return [...items, oddValue(random)];
    case 2:
      return Array.from({ length: random.pick([2, 5, 130, 300]) }, () => items[at] ?? null);
    default:
      return items.length === 0
        ? [oddValue(random)]
        : items.with(at, mutateValue(items[at], random));
  }
}

function mutateObject(fields: Record<string, unknown>, random: Random): unknown {
  const keys = Object.keys(fields);
  const key = keys.length === 0 ? "a" : random.pick(keys);
  switch (random.between(0, 7)) {
    case 0:
      delete fields[key];
      return fields;
    case 1:
      // Not by assignment, which would set a prototype.
      Object.defineProperty(fields, random.pick(KEYS), {
        value: oddValue(random),
        enumerable: true,
      });
      return fields;
    case 2:
      return { ...fields, [key]: [fields[key]] };
    case 3:
      return { ...fields, [key]: oddValue(random) };
    default:
      return { ...fields, [key]: mutateValue(fields[key], random) };
  }
}

function oddValue(random: Random): unknown {
  const roll = random.next();
  if (roll < 0.3) return `${RAW_MARK}${random.pick(RAW)}`;
  if (roll < 0.65) return random.pick(TEXTS);
  if (roll < 0.9) {
    return random.pick([null, true, false, 0, -1, 1, 1e21, 2 ** 53, 5e-324, [], {}, [[]], [null]]);
  }
  if (roll < 0.96) return nested(random.pick([8, 60, 66, 500]), random.next() < 0.5);
  if (roll < 0.99)
    return Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`k${at}`, at]));
  return "lorem ipsum ".repeat(random.pick([2_000, 12_000]));
}

function nested(depth: number, isList: boolean): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = isList ? [value] : { a: value };
  return value;
}

/** Bytes that are nearly the text. */
export function mutateText(text: string, random: Random): Uint8Array {
  const at = random.between(0, text.length);
  const [before, after] = [text.slice(0, at), text.slice(at)];
  const bytes = (changed: string) => Buffer.from(changed);
  switch (random.between(0, 9)) {
    case 0:
      return bytes(before);
    case 1:
      return bytes(
        before + random.pick(["{", "}", "[", "]", '"', ",", ":", "\\", "\u0000"]) + after,
      );
    case 2:
      return bytes(before + after.slice(1));
    case 3:
      return bytes(`${text}${random.pick([text, "}", " ", "\n", "\u0000", ",1"])}`);
    case 4:
      return bytes(
        random.pick(["", " ", "null", "[]", "{}", "1", '"a"', "\ufeff", `\ufeff${text}`]),
      );
    case 5:
      // Not UTF-8: half a character, an overlong form, a surrogate, an invalid first byte.
      return Buffer.concat([
        bytes(before),
        Buffer.from(random.pick(["c3", "c0af", "eda080", "ff", "f5808080"]), "hex"),
        bytes(after),
      ]);
    case 6:
      // The first field once more at the end, with another value.
      return bytes(text.replace(/^\{("[^"]*"):(.*)\}$/s, "{$1:$2,$1:null}"));
    case 7:
      return bytes(text.replaceAll('"', "'"));
    case 8:
      return Buffer.from(text, "utf16le");
    default:
      return bytes("[".repeat(random.pick([10, 70, 10_000])) + text);
  }
}
