// The size of an image is read out of its header, in each format; a broken header has none.

import { describe, expect, test } from "bun:test";
import { readImageHeader } from "../../../../../src/services/chat/media/image-header.ts";
import { frame, gif, jpeg, png, segment, webp } from "../../../../support/api/images.ts";
import { Random } from "../../../../support/random.ts";

const SIZE = { width: 1_234, height: 567 };
const read = (bytes: Uint8Array) => readImageHeader(Buffer.from(bytes).toString("base64"));
const LONG_PROFILE = segment(0xe2, Buffer.alloc(65_000, 1));

const GOOD: readonly [name: string, type: string, bytes: Buffer][] = [
  ["a PNG", "image/png", png(SIZE)],
  ["a baseline JPEG", "image/jpeg", jpeg(frame(SIZE))],
  [
    "a progressive JPEG after 260 KB of profiles",
    "image/jpeg",
    jpeg(...Array(4).fill(LONG_PROFILE), frame(SIZE, 0xc2)),
  ],
  ["a lossless JPEG", "image/jpeg", jpeg(frame(SIZE, 0xc3))],
  ["a JPEG with fill bytes", "image/jpeg", jpeg(Buffer.of(0xff, 0xff), frame(SIZE).subarray(1))],
  ["a GIF", "image/gif", gif(SIZE)],
  ["a lossy WebP", "image/webp", webp("VP8 ", SIZE)],
  ["a lossless WebP", "image/webp", webp("VP8L", SIZE)],
  ["a WebP with a canvas", "image/webp", webp("VP8X", SIZE)],
];

describe("the header of an image", () => {
  test.each(GOOD)("of %s has its type and size", (_, mediaType, bytes) => {
    expect(read(bytes)).toEqual({ mediaType, ...SIZE } as never);
  });

  test("of the largest images is read exactly", () => {
    expect(read(png({ width: 2 ** 31 - 1, height: 1 }))?.width).toBe(2 ** 31 - 1);
    expect(read(webp("VP8X", { width: 2 ** 24, height: 3 }))).toMatchObject({ width: 2 ** 24 });
    expect(read(webp("VP8L", { width: 16_384, height: 16_384 }))?.height).toBe(16_384);
  });

  test("counts the larger size where a decoder may take either", () => {
    const small = { width: 1, height: 1 };
    const twice = jpeg(frame(small), frame(SIZE), frame({ width: 2, height: 999 }));
    expect(read(twice)).toMatchObject({ width: 1_234, height: 999 });
    expect(read(gif(small, SIZE, 100))).toMatchObject({ width: 1_334, height: 567 });
  });

  test.each(GOOD)("of %s that ends early, or has no size, is none", (_, __, bytes) => {
    for (const length of [0, 1, 3, 6, 9, 12]) expect(read(bytes.subarray(0, length))).toBeNull();
    expect(read(Buffer.alloc(bytes.length))).toBeNull();
  });

  test.each([
    ["a PNG without width", png({ width: 0, height: 5 })],
    [
      "a PNG whose first chunk is another",
      Buffer.from(png(SIZE).toString("latin1").replace("IHDR", "IDAT"), "latin1"),
    ],
    ["a JPEG without a frame", jpeg(segment(0xe0, Buffer.alloc(14)))],
    ["a JPEG with a segment of no length", jpeg(Buffer.of(0xff, 0xe0, 0, 0), frame(SIZE))],
    ["a JPEG whose segments do not follow each other", jpeg(Buffer.of(1, 2, 3), frame(SIZE))],
    ["a JPEG whose height comes later", jpeg(frame({ width: 5, height: 0 }))],
    ["a GIF without a frame", gif(SIZE).subarray(0, 25)],
    [
      "a WebP of another kind",
      Buffer.from(webp("VP8X", SIZE).toString("latin1").replace("VP8X", "ALPH"), "latin1"),
    ],
    ["an SVG", Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')],
    ["a TIFF", Buffer.from("II*\0\x08\0\0\0".padEnd(200, "\0"), "latin1")],
    ["a BMP", Buffer.from("BM".padEnd(200, "\x09"), "latin1")],
    ["an AVIF", Buffer.from("\0\0\0\x1cftypavif".padEnd(200, "\0"), "latin1")],
  ])("of %s is none", (_, bytes) => {
    expect(read(bytes)).toBeNull();
  });

  test("that is anything at all is read in no time and without an error", () => {
    const random = new Random(47);
    const startedMs = performance.now();
    for (let round = 0; round < 20_000; round += 1) {
      const [, , bytes] = random.pick(GOOD);
      const broken = Buffer.from(bytes.subarray(0, 512));
      for (let change = 0; change < 3; change += 1) {
        broken[random.between(0, broken.length - 1)] = random.between(0, 255);
      }
      const header = read(broken);
      if (header === null) continue;
      expect(header.width > 0 && header.height > 0 && Number.isSafeInteger(header.width)).toBe(
        true,
      );
    }
    expect(performance.now() - startedMs).toBeLessThan(10_000);
  });

  test("of a long image costs no more than that of a short one", () => {
    const endless = Buffer.concat([Buffer.of(0xff, 0xd8), Buffer.alloc(30_000_000, 0xff)]);
    const base64 = endless.toString("base64");
    const startedMs = performance.now();
    expect(readImageHeader(base64)).toBeNull();
    expect(performance.now() - startedMs).toBeLessThan(1_000);
  });
});
