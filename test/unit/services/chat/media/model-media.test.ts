// A hold for images and PDFs covers each usage that a provider may report for them, and each that
// we count ourselves; a model gets only media that it takes.

import { describe, expect, test } from "bun:test";
import {
  exactCost,
  PLAIN_REACH,
  pricesOf,
  upperBound,
} from "../../../../../src/core/money/call-cost.ts";
import { price } from "../../../../../src/core/money/money.ts";
import { usageOf } from "../../../../../src/core/money/usage.ts";
import {
  IMAGE_RULE_NAMES,
  imageTokensMax,
} from "../../../../../src/services/chat/media/image-rules.ts";
import { DETAILS, type MediaPart } from "../../../../../src/services/chat/media/media-part.ts";
import {
  type MediaModel,
  mediaTokens,
  mediaTokensMax,
  modelsTaking,
} from "../../../../../src/services/chat/media/model-media.ts";
import { readImage, readPdf } from "../../../../../src/services/chat/media/read-media.ts";
import { pdfUrl, pngUrl } from "../../../../support/api/images.ts";
import { Random } from "../../../../support/random.ts";

const SEEDS = Array.from({ length: 20 }, (_, index) => 4_700 + index);
const ROUNDS = 100;

function partBy(random: Random): MediaPart {
  const side = () => Math.ceil(2 ** (random.next() * 14));
  const detail = random.pick(DETAILS);
  const kinds = [
    () => readImage({ url: pngUrl(side(), side()), detail, param: "p" }),
    () => readImage({ url: "https://example.com/a.png", detail, param: "p" }),
    () => readPdf({ url: pdfUrl(side()), param: "p" }),
  ] as const;
  return random.pick(kinds)();
}

function modelBy(random: Random): MediaModel {
  return {
    id: "m",
    contextTokens: random.between(256, 400_000),
    media: {
      kinds: ["image", "pdf"],
      imageBounds: [random.pick(IMAGE_RULE_NAMES), random.pick([...IMAGE_RULE_NAMES, 500])],
      pdfTokensMax: random.between(1, 300_000),
      takesAddresses: true,
    },
  };
}

const REACH = { ...PLAIN_REACH, hasMedia: true };
const usd = (random: Random) => price(String(random.between(0, 5_000)), 1_000_000);
function pricesBy(random: Random) {
  const row = { input: usd(random), output: usd(random), cachedInput: usd(random) };
  const others = { imageIn: usd(random), cacheWrite5m: usd(random) };
  return pricesOf([row, { ...row, others, when: { abovePromptTokens: random.between(1, 9_000) } }]);
}

describe("a hold", () => {
  test.each(SEEDS)("covers what a provider counts by its rule, in any part (seed %d)", (seed) => {
    const random = new Random(seed);
    for (let round = 0; round < ROUNDS; round += 1) {
      const model = modelBy(random);
      const prices = pricesBy(random);
      const media = Array.from({ length: random.between(1, 8) }, () => partBy(random));
      const text = random.between(0, 5_000);
      const bound = text + mediaTokensMax([model], media);
      const { imageBounds = [], pdfTokensMax = 0 } = model.media ?? {};
      const rule = random.pick(imageBounds);
      const billed = media.map((part) =>
        part.kind === "pdf" ? random.between(0, pdfTokensMax) : imageTokensMax(rule, part),
      );
      // A usage above the context of the model is not believed.
      const most = billed.reduce((sum, tokens) => sum + tokens, 0);
      const ofMedia = Math.min(most, model.contextTokens);
      const parts = { uncached: 0, cacheRead: 0, cacheWrite5m: 0, imageIn: 0 };
      parts[random.pick(Object.keys(parts) as (keyof typeof parts)[])] += ofMedia;
      parts[random.pick(["uncached", "cacheRead"] as const)] += text;
      const output = random.between(0, 100);
      const hold = upperBound(prices, { promptTokens: bound, outputTokens: output }, REACH);
      const charge = exactCost(prices, usageOf({ ...parts, text: output }));
      expect(charge <= hold).toBe(true);
      expect(mediaTokens(model, media)).toBeLessThanOrEqual(mediaTokensMax([model], media));
    }
  });

  test("of several models covers the one that counts the most", () => {
    const media = [readImage({ url: pngUrl(2_048, 2_048), param: "p" })];
    const of = (imageBounds: readonly number[], contextTokens = 9_000): MediaModel => ({
      id: "m",
      contextTokens,
      media: { kinds: ["image"], imageBounds, pdfTokensMax: 1, takesAddresses: false },
    });
    expect(mediaTokensMax([of([100]), of([700]), of([300])], media)).toBe(700);
    expect(mediaTokensMax([of([100, 700, 300])], media)).toBe(700);
    expect(mediaTokensMax([of([100_000])], media)).toBe(9_000);
    expect(mediaTokensMax([of([100])], undefined)).toBe(0);
  });

  test("of an image of 8192 x 8192 is the count of its rule, and of 100 the context", () => {
    const model: MediaModel = {
      id: "m",
      contextTokens: 200_000,
      media: {
        kinds: ["image"],
        imageBounds: ["gemini-tiles"],
        pdfTokensMax: 1,
        takesAddresses: false,
      },
    };
    const image = readImage({ url: pngUrl(8_192, 8_192), param: "p" });
    expect(mediaTokensMax([model], [image])).toBe(258 * (11 * 11 + 1));
    expect(mediaTokensMax([model], Array(100).fill(image))).toBe(200_000);
  });
});

describe("a model", () => {
  const image = readImage({ url: pngUrl(1, 1), param: "a.image" });
  const address = readImage({ url: "https://example.com/a.png", param: "a.address" });
  const pdf = readPdf({ url: pdfUrl(), param: "a.pdf" });
  const of = (
    id: string,
    kinds: readonly ("image" | "pdf")[],
    takesAddresses = false,
  ): MediaModel => ({
    id,
    contextTokens: 1_000,
    ...(kinds.length > 0 && {
      media: { kinds, imageBounds: [10], pdfTokensMax: 10, takesAddresses },
    }),
  });
  const TEXT = of("text", []);
  const IMAGES = of("images", ["image"]);
  const ALL = of("all", ["image", "pdf"], true);

  test.each([
    [TEXT, [image], "a.image must not be an image: 'text' takes text only"],
    [IMAGES, [image, pdf], "a.pdf must not be a PDF: 'images' takes text and an image only"],
    [IMAGES, [address], "a.address must not be an address: 'images' takes images in base64 only"],
  ] as const)("%# refuses what it does not take, by name", (model, media, message) => {
    expect(() => modelsTaking([model], media)).toThrow(message);
  });

  test("that takes all is chosen; a text needs none", () => {
    expect(modelsTaking([TEXT, IMAGES, ALL], [image, pdf, address])).toEqual([ALL]);
    expect(modelsTaking([TEXT, IMAGES, ALL], [image])).toEqual([IMAGES, ALL]);
    expect(modelsTaking([TEXT, IMAGES], undefined)).toEqual([TEXT, IMAGES]);
  });
});
