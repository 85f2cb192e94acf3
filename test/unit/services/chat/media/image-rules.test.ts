// Each provider's rule for the tokens of an image, with the figures that its documentation gives,
// and the rule that a model has by its name.

import { describe, expect, test } from "bun:test";
import {
  IMAGE_RULE_NAMES,
  type ImageBound,
  imageRuleOf,
  imageTokensMax,
} from "../../../../../src/services/chat/media/image-rules.ts";
import { DETAILS, type Detail } from "../../../../../src/services/chat/media/media-part.ts";
import { Random } from "../../../../support/random.ts";

const tokens = (bound: ImageBound, width: number, height: number, detail: Detail = "auto") =>
  imageTokensMax(bound, { size: { width, height }, detail });

type Figure = readonly [ImageBound, width: number, height: number, detail: Detail, tokens: number];

/** The examples of the providers' own pages; of Gemini with the tile of the whole image. */
const DOCUMENTED: readonly Figure[] = [
  ["openai-tiles", 1_024, 1_024, "high", 765],
  ["openai-tiles", 2_048, 4_096, "high", 1_105],
  ["openai-tiles", 4_096, 8_192, "low", 85],
  ["openai-tiles", 2_049, 513, "high", 1_445],
  ["openai-tiles-4o-mini", 1_024, 1_024, "high", 25_501],
  ["openai-tiles-o", 1_024, 1_024, "high", 675],
  ["openai-tiles-gpt-5", 1_024, 1_024, "high", 630],
  ["openai-patches-mini", 1_024, 1_024, "high", 1_659],
  ["openai-patches-mini", 4_000, 1_474, "high", 2_489],
  ["openai-patches-nano", 1_024, 1_024, "high", 2_520],
  ["openai-patches-o4-mini", 1_024, 1_024, "high", 1_762],
  // Measured at the provider by users of its forum.
  ["openai-patches-5.2", 256, 256, "auto", 77],
  ["openai-patches-5.2", 1_280, 720, "auto", 1_104],
  ["openai-patches-5.2", 2_048, 768, "auto", 1_844],
  ["openai-patches", 8_192, 8_192, "original", 12_000],
  ["openai-patches", 8_192, 8_192, "high", 3_000],
  ["anthropic", 200, 200, "auto", 64],
  ["anthropic", 1_000, 1_000, "auto", 1_334],
  ["anthropic", 1_092, 1_092, "auto", 1_590],
  ["anthropic-large", 2_576, 1_456, "auto", 4_800],
  ["gemini-tiles", 384, 384, "auto", 258],
  ["gemini-tiles", 960, 540, "auto", 7 * 258],
  ["gemini-3", 4_000, 3_000, "auto", 1_120],
  ["xai", 448, 448, "auto", 512],
  ["xai", 4_000, 4_000, "auto", 1_792],
  ["pixtral", 1_024, 1_024, "auto", 4_160],
  ["mistral", 1_540, 1_540, "auto", 3_080],
  [777, 5_000, 5_000, "high", 777],
];

test.each(DOCUMENTED)(
  "%s: %d x %d at %s is at most %d tokens",
  (bound, width, height, detail, most) => {
    expect(tokens(bound, width, height, detail)).toBe(most);
  },
);

test("a recorded reply of Gemini bills no more than its rule: 1,806 tokens of a photograph", () => {
  expect(tokens("gemini-tiles", 960, 540)).toBe(1_806);
});

describe.each(IMAGE_RULE_NAMES)("%s", (name) => {
  test("has a whole number above zero for an image of any size", () => {
    const random = new Random(643);
    for (let round = 0; round < 2_000; round += 1) {
      const side = () => Math.ceil(2 ** (random.next() * 16));
      const count = tokens(name, side(), side(), random.pick(DETAILS));
      expect(Number.isSafeInteger(count) && count > 0).toBe(true);
    }
  });

  test.each(DETAILS)("has no image at an address that costs more than its most (%s)", (detail) => {
    const most = imageTokensMax(name, { size: null, detail });
    for (const [width, height] of [
      [8_192, 8_192],
      [8_192, 100],
      [100, 8_192],
      [2_048, 768],
    ] as const) {
      expect(tokens(name, width, height, detail)).toBeLessThanOrEqual(most);
    }
  });

  test("counts more pixels of the same shape as no fewer tokens", () => {
    for (let side = 64; side < 4_096; side += 64) {
      expect(tokens(name, side, side)).toBeLessThanOrEqual(tokens(name, 2 * side, 2 * side));
    }
  });
});

test.each([
  ["gpt-4o-mini-2024-07-18", "openai-tiles-4o-mini"],
  ["gpt-4o-2024-11-20", "openai-tiles"],
  ["gpt-4.1", "openai-tiles"],
  ["gpt-4.1-mini", "openai-patches-mini"],
  ["gpt-4.1-nano", "openai-patches-nano"],
  ["gpt-5", "openai-tiles-gpt-5"],
  ["gpt-5.1", "openai-tiles-gpt-5"],
  ["gpt-5-mini", "openai-patches-mini"],
  ["gpt-5.2", "openai-patches-5.2"],
  ["gpt-5.4-mini", "openai-patches-mini"],
  ["gpt-5.6", "openai-patches"],
  ["gpt-6.1", "openai-patches"],
  ["openai/gpt-5.6", "openai-patches"],
  ["o3", "openai-tiles-o"],
  ["o4-mini", "openai-patches-o4-mini"],
  ["claude-3-5-haiku-20241022", "anthropic"],
  ["claude-sonnet-4-20250514", "anthropic"],
  ["claude-opus-4-6", "anthropic"],
  ["claude-opus-4-8", "anthropic-large"],
  ["us.anthropic.claude-opus-5", "anthropic-large"],
  ["anthropic/claude-sonnet-4.5", "anthropic"],
  ["gemini-2.5-flash", "gemini-tiles"],
  ["google/gemini-3.1-pro", "gemini-3"],
  ["grok-4", "xai"],
  ["pixtral-large-latest", "pixtral"],
  ["mistral-medium-latest", "mistral"],
  ["o3-mini", null],
  ["my-deployment", null],
  ["llama-4-scout", null],
] as const)("the model %s has the rule %s", (model, rule) => {
  expect(imageRuleOf(model)).toBe(rule);
});
