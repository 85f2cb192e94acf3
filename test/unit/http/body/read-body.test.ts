import { describe, expect, test } from "bun:test";
import { ApiError, type ErrorCode } from "../../../../src/core/errors.ts";
import { type JsonBody, jsonBody } from "../../../../src/http/body/json-body.ts";
import { VALUES_MAX } from "../../../../src/http/body/json-shape.ts";
import { readText } from "../../../../src/http/body/read-body.ts";
import { Type } from "../../../../src/http/schema.ts";
import { eventually } from "../../../support/eventually.ts";
import { FakeClock } from "../../../support/fakes/fake-clock.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const anyBody = jsonBody(Type.Object({}), { bytesMax: 64 * KIB });
const parseObject: JsonBody<unknown>["parse"] = (text) => anyBody.check(anyBody.parse(text));

async function read(
  body: string | Uint8Array | ReadableStream<Uint8Array> | null,
  headers: Record<string, string> = {},
) {
  const request = new Request("http://x/", { method: "POST", body, headers });
  return parseObject(
    await readText(request, { bytesMax: anyBody.bytesMax, clock: new FakeClock() }),
  );
}

async function codeOf(reading: Promise<unknown> | (() => unknown)): Promise<ErrorCode | "none"> {
  try {
    await (typeof reading === "function" ? reading() : reading);
    return "none";
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

function streamOf(...pieces: string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });
}

describe("a JSON body", () => {
  test("reads an object whatever the Content-Type says", async () => {
    expect(await read('{"a":1}', { "content-type": "text/plain" })).toEqual({ a: 1 });
    expect(await read(new TextEncoder().encode('{"a":1}'))).toEqual({ a: 1 });
  });

  test("reads a body without a declared length", async () => {
    expect(await read(streamOf('{"a"', ":[1,", "2]}"))).toEqual({ a: [1, 2] });
  });

  for (const body of ["", '{"a":', '{"a":1}x', "NaN", "{'a':1}", '{"a":1,}', "// x\n{}", "a=1"]) {
    test(`refuses ${JSON.stringify(body)}`, async () => {
      expect(await codeOf(read(body))).toBe("invalid_json");
    });
  }

  for (const body of ["null", "1", '"x"', "true", "[]", "[{}]"]) {
    test(`refuses ${body}, which is not an object`, async () => {
      expect(await codeOf(read(body))).toBe("invalid_json");
    });
  }

  test("refuses a missing body", async () => {
    expect(await codeOf(read(null))).toBe("invalid_json");
  });

  test("refuses invalid UTF-8 instead of replacing it", async () => {
    expect(await codeOf(read(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])))).toBe(
      "invalid_json",
    );
  });

  test("never inflates a compressed body", async () => {
    const body = Bun.gzipSync('{"a":1}');
    expect(await codeOf(read(body, { "content-encoding": "gzip" }))).toBe("invalid_json");
    expect(await codeOf(read('{"a":1}', { "content-encoding": "Identity" }))).toBe("none");
  });

  test("refuses a declared length over the limit before reading", async () => {
    const headers = { "content-length": String(64 * KIB + 1) };
    expect(await codeOf(read("{}", headers))).toBe("body_too_large");
  });

  test("stops reading an undeclared body at the limit", async () => {
    let pieces = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pieces++;
        controller.enqueue(new Uint8Array(KIB).fill(32));
      },
    });
    expect(await codeOf(read(endless))).toBe("body_too_large");
    expect(pieces).toBeLessThan(80);
  });

  for (const bytesMax of [KIB, 32 * MIB]) {
    test(`gives up a body of at most ${bytesMax} bytes that does not arrive`, async () => {
      const clock = new FakeClock();
      const body = new ReadableStream<Uint8Array>({ start: () => {} });
      const request = new Request("http://x/", { method: "POST", body });
      const reading = codeOf(readText(request, { bytesMax, clock }));
      clock.advance(10_000);
      expect(await reading).toBe("invalid_json");
      expect(clock.pending).toBe(0);
    });
  }

  test("waits for an undeclared body as long as it comes at half a megabyte a second", async () => {
    const clock = new FakeClock();
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    let taken = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        start: (given) => {
          controller = given;
        },
        pull: () => {
          taken += 1;
        },
      },
      { highWaterMark: 0 },
    );
    const request = new Request("http://x/", { method: "POST", body });
    const reading = codeOf(readText(request, { bytesMax: 32 * MIB, clock }));
    for (let sent = 1; sent <= 10; sent += 1) {
      await eventually("the last piece was taken", () => taken >= sent);
      controller?.enqueue(new Uint8Array(MIB).fill(32));
      await eventually("this piece was taken", () => taken > sent);
      clock.advance(1_500);
    }
    expect(clock.pending).toBe(1);
    clock.advance(6_000);
    expect(await reading).toBe("invalid_json");
  });

  for (const [name, decision, expected] of [
    ["that goes on", "none", "invalid_json"],
    ["that is refused", "insufficient_scope", "insufficient_scope"],
  ] as const) {
    test(`that breaks off slowly waits for the decision on its call, ${name}`, async () => {
      const clock = new FakeClock();
      const decided = Promise.withResolvers<void>();
      const broken = Promise.withResolvers<void>();
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => void broken.promise.then(() => controller.error(new Error("gone"))),
      });
      const request = new Request("http://x/", { method: "POST", body });
      const rules = { bytesMax: KIB, clock, onSlow: () => decided.promise };
      let isRefused = false;
      const reading = codeOf(readText(request, rules)).finally(() => {
        isRefused = true;
      });
      clock.advance(500);
      broken.resolve();
      await eventually("the reading has ended", () => clock.pending === 0);
      // If it were refused earlier, it would be counted while another request is being counted.
      expect(isRefused).toBe(false);
      if (decision === "none") decided.resolve();
      else decided.reject(new ApiError(decision, "known without the body"));
      expect(await reading).toBe(expected);
    });
  }
});

describe("the text of a body", () => {
  const nested = (depth: number) => `{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;

  test("takes 64 levels and refuses 65", async () => {
    expect(await codeOf(() => parseObject(nested(64)))).toBe("none");
    expect(await codeOf(() => parseObject(nested(65)))).toBe("invalid_json");
  });

  test("refuses a million brackets and a hundred thousand open objects", async () => {
    expect(await codeOf(() => parseObject("[".repeat(1_000_000)))).toBe("invalid_json");
    expect(await codeOf(() => parseObject('{"a":'.repeat(100_000)))).toBe("invalid_json");
  });

  test("reads brackets, colons and escaped quotes inside strings as text", () => {
    const text = `${"[{:".repeat(20_000)}\\"\\\\`;
    const value = parseObject(JSON.stringify({ text, more: "\\" }));
    expect(value).toEqual({ text, more: "\\" });
  });

  test("refuses more than 10,000 keys", async () => {
    const keys = (count: number) =>
      `{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join()}}`;
    expect(await codeOf(() => parseObject(keys(10_000)))).toBe("none");
    expect(await codeOf(() => parseObject(keys(10_001)))).toBe("invalid_parameter");
  });

  test("takes 100,000 values and refuses more, however they are nested", async () => {
    const list = (item: string, count: number) => `[${Array(count).fill(item).join()}]`;
    const value = (array: string) => `{"a":${array}}`;
    // The object and the list are values too.
    expect(await codeOf(() => parseObject(value(list("1", 99_998))))).toBe("none");
    expect(await codeOf(() => parseObject(value(list("1", 100_001))))).toBe("invalid_parameter");
    const deep = "[".repeat(50) + "]".repeat(50);
    expect(await codeOf(() => parseObject(value(list(deep, 1_900))))).toBe("none");
    expect(await codeOf(() => parseObject(value(list(deep, 2_100))))).toBe("invalid_parameter");
    expect(await codeOf(() => parseObject(value(`"${",[".repeat(200_000)}"`)))).toBe("none");
  });

  test("is searched for half pairs to its end, however many values it has", async () => {
    const { parse } = jsonBody(Type.Object({}), { bytesMax: 4 * KIB * KIB });
    const numbers = `1${",1".repeat(VALUES_MAX - 10)}`;
    expect(parse(`{"a":[${numbers},"\\ud83d\\ude00"]}`)).toHaveProperty("a.length", VALUES_MAX - 8);
    expect(await codeOf(() => parse(`{"a":[${numbers},"\\ud83d"]}`))).toBe("invalid_parameter");
  });

  test("does not let __proto__ reach any other object", () => {
    parseObject('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});
