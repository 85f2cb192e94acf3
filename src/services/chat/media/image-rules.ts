// The rules by which providers turn an image or a page of a PDF into tokens: an upper bound for
// each, so that a hold covers the provider's bill. Figures are those of the providers' own
// documentation of November 2026; where it says "about", the bound is the higher reading.

import type { Detail, ImageSize } from "./media-part.ts";

export interface ImageRule {
  /** Matches the names that providers give to models with this rule. */
  readonly models: RegExp;
  /** The most tokens of an image of this size. */
  readonly tokens: (size: ImageSize, detail: Detail) => number;
  /** The most tokens of an image whose size is not known. */
  readonly most: (detail: Detail) => number;
  /** The tokens of a page of a PDF, where the provider bills each page alike. */
  readonly pdfPage?: number;
}

const OPENAI_BOX = 2_048;
const OPENAI_SHORT_SIDE = 768;
const OPENAI_TILE = 512;
const OPENAI_TILES_MAX = 8;

/** OpenAI: a base, and each tile of 512 pixels of the image within 2,048, its short side 768. */
function openAiTiles(models: RegExp, base: number, tile: number): ImageRule {
  return {
    models,
    tokens: (size, detail) => {
      if (detail === "low") return base;
      const { width, height } = withinShortSide(withinBox(size, OPENAI_BOX), OPENAI_SHORT_SIDE);
      return base + tile * tiles(width, OPENAI_TILE) * tiles(height, OPENAI_TILE);
    },
    most: (detail) => (detail === "low" ? base : base + tile * OPENAI_TILES_MAX),
  };
}

const OPENAI_PATCH = 32;
const OPENAI_PATCHES_MAX = 1_536;
/** Since GPT-5.4: the budgets of patches by detail. `auto` may be `original`. */
const OPENAI_BUDGETS: Readonly<Record<Detail, number>> = {
  auto: 10_000,
  low: 2_500,
  high: 2_500,
  original: 10_000,
};

/** OpenAI: patches of 32 pixels, scaled down to a budget, by a factor of the model. */
function openAiPatches(
  models: RegExp,
  factor: number,
  budgetOf: (detail: Detail) => number = () => OPENAI_PATCHES_MAX,
): ImageRule {
  const tokensOf = (patches: number) => Math.ceil(roundedTo6(patches * factor));
  return {
    models,
    tokens: ({ width, height }, detail) => {
      const patches = tiles(width, OPENAI_PATCH) * tiles(height, OPENAI_PATCH);
      return tokensOf(Math.min(patches, budgetOf(detail)));
    },
    most: (detail) => tokensOf(budgetOf(detail)),
  };
}

const CLAUDE_PIXELS_A_TOKEN = 750;
const CLAUDE_PATCH = 28;

/**
 * Anthropic: about width times height divided by 750, up to a maximum to which larger images are
 * scaled down. For narrow images the number of patches of 28 pixels is higher, so the higher figure
 * counts.
 */
function claude(models: RegExp, tokensMax: number): ImageRule {
  return {
    models,
    tokens: ({ width, height }) => {
      const byArea = Math.ceil((width * height) / CLAUDE_PIXELS_A_TOKEN);
      const byPatch = tiles(width, CLAUDE_PATCH) * tiles(height, CLAUDE_PATCH);
      return Math.min(tokensMax, Math.max(byArea, byPatch));
    },
    most: () => tokensMax,
  };
}

const GEMINI_TILE_TOKENS = 258;
const GEMINI_SMALL = 384;
const GEMINI_UNIT_MIN = 256;
const GEMINI_UNIT_MAX = 768;
const GEMINI_UNIT_SHARE = 1.5;
/** The largest image that is taken to stand behind an address. */
const LARGEST: ImageSize = { width: 8_192, height: 8_192 };

/** Gemini 2: tiles whose unit follows from the short side, and the whole image once more. */
function geminiTiles({ width, height }: ImageSize): number {
  if (width <= GEMINI_SMALL && height <= GEMINI_SMALL) return GEMINI_TILE_TOKENS;
  const share = Math.floor(Math.min(width, height) / GEMINI_UNIT_SHARE);
  const unit = Math.min(GEMINI_UNIT_MAX, Math.max(GEMINI_UNIT_MIN, share));
  return GEMINI_TILE_TOKENS * (tiles(width, unit) * tiles(height, unit) + 1);
}

const XAI_TILE = 448;
const XAI_TILE_TOKENS = 256;
const XAI_TILES_MAX = 6;

/** Mistral: patches in rows, each row with a token at its end, of an image within a box. */
function mistral(models: RegExp, box: number, patch: number): ImageRule {
  const tokensOf = ({ width, height }: ImageSize) =>
    tiles(height, patch) * (tiles(width, patch) + 1);
  return {
    models,
    tokens: (size) => tokensOf(withinBox(size, box)),
    most: () => tokensOf({ width: box, height: box }),
  };
}

/** By name. A model has the first rule whose pattern its name at the provider has. */
export const IMAGE_RULES = {
  "openai-tiles-4o-mini": openAiTiles(/^gpt-4o-mini/, 2_833, 5_667),
  "openai-patches-nano": openAiPatches(/^gpt-[45][.\d]*-nano/, 2.46),
  "openai-patches-mini": openAiPatches(/^gpt-[45][.\d]*-mini/, 1.62),
  "openai-patches-o4-mini": openAiPatches(/^o4-mini/, 1.72),
  "openai-tiles": openAiTiles(/^(?:chatgpt-4o|gpt-4o|gpt-4\.1|gpt-4\.5|gpt-4-turbo)/, 85, 170),
  "openai-tiles-o": openAiTiles(/^o[13](?!-mini)/, 75, 150),
  "openai-tiles-computer-use": openAiTiles(/^computer-use/, 65, 129),
  "openai-tiles-gpt-5": openAiTiles(/^gpt-5(?:\.1)?(?![.\d])/, 70, 140),
  "openai-patches-5.2": openAiPatches(/^gpt-5\.[23](?!\d)/, 1.2),
  "openai-patches": openAiPatches(
    /^gpt-(?:5\.(?:[4-9]|\d\d)|[6-9])/,
    1.2,
    (detail) => OPENAI_BUDGETS[detail],
  ),
  anthropic: claude(/^claude-(?:3|[a-z]+-4(?![-.][7-9]))/, 1_600),
  "anthropic-large": claude(/^claude-/, 4_800),
  "gemini-tiles": {
    models: /^gemini-(?:1|2)/,
    tokens: geminiTiles,
    most: () => geminiTiles(LARGEST),
    pdfPage: GEMINI_TILE_TOKENS,
  },
  "gemini-3": {
    models: /^gemini-3/,
    tokens: () => 1_120,
    most: () => 1_120,
    pdfPage: 560,
  },
  xai: {
    models: /^grok-/,
    tokens: ({ width, height }) => {
      const count = Math.min(XAI_TILES_MAX, tiles(width, XAI_TILE) * tiles(height, XAI_TILE));
      return XAI_TILE_TOKENS * (count + 1);
    },
    most: () => XAI_TILE_TOKENS * (XAI_TILES_MAX + 1),
  },
  pixtral: mistral(/^pixtral-/, 1_024, 16),
  mistral: mistral(/^(?:mistral|ministral|magistral)-/, 1_540, 28),
} as const satisfies Readonly<Record<string, ImageRule>>;

export type ImageRuleName = keyof typeof IMAGE_RULES;
export const IMAGE_RULE_NAMES = Object.keys(IMAGE_RULES) as ImageRuleName[];

/** The name of a rule, or the most tokens of any image. */
export type ImageBound = ImageRuleName | number;

/** The most tokens of an image. */
export function imageTokensMax(
  bound: ImageBound,
  { size, detail }: { readonly size: ImageSize | null; readonly detail: Detail },
): number {
  if (typeof bound === "number") return bound;
  const { tokens, most } = ruleNamed(bound);
  return size === null ? most(detail) : tokens(size, detail);
}

/** The tokens of a page of a PDF; null if not every page costs the same. */
export function pdfPageTokens(bound: ImageBound): number | null {
  return typeof bound === "number" ? null : (ruleNamed(bound).pdfPage ?? null);
}

function ruleNamed(name: ImageRuleName): ImageRule {
  return IMAGE_RULES[name];
}

/**
 * The rule of a model by its name at a provider; null if no rule is known for it. Prefixes of
 * clouds and resellers do not count: `us.anthropic.claude-opus-5`, `google/gemini-3`.
 */
export function imageRuleOf(model: string): ImageRuleName | null {
  const names = [model, model.replace(/^.*\//, ""), model.replace(/^(?:[a-z]+\.)+/, "")];
  const isMeant = (rule: ImageRuleName) =>
    names.some((name) => IMAGE_RULES[rule].models.test(name));
  return IMAGE_RULE_NAMES.find(isMeant) ?? null;
}

function tiles(pixels: number, unit: number): number {
  return Math.ceil(pixels / unit);
}

/** The size within a square, scaled down in proportion; never a pixel too small. */
function withinBox({ width, height }: ImageSize, box: number): ImageSize {
  const long = Math.max(width, height);
  if (long <= box) return { width, height };
  return { width: Math.ceil((width * box) / long), height: Math.ceil((height * box) / long) };
}

function withinShortSide({ width, height }: ImageSize, side: number): ImageSize {
  const short = Math.min(width, height);
  if (short <= side) return { width, height };
  return { width: Math.ceil((width * side) / short), height: Math.ceil((height * side) / short) };
}

/** Without the error of a product such as 1,000 by 1.2. */
function roundedTo6(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}
