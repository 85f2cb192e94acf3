// Tests which model `auto` chooses, as a table: one line a case, the models best first or the
// refusal.

import { describe, expect, test } from "bun:test";
import { ApiError } from "../../../../../src/core/errors.ts";
import { usd } from "../../../../../src/core/money/money.ts";
import { readImage, readPdf } from "../../../../../src/services/chat/media/read-media.ts";
import {
  type AutoRequest,
  affordableModels,
  chooseModels,
  explainChoice,
} from "../../../../../src/services/chat/models/auto-router.ts";
import {
  AUTO_TERMS,
  type AutoTerms,
  type BandPrices,
  bandPrices,
  type ModelEntry,
} from "../../../../../src/services/chat/models/catalogue.ts";
import { RESPONSES_FIELDS } from "../../../../../src/services/chat/refused-fields.ts";
import { type Catalogue, catalogueOf } from "../../../../../src/settings/catalogue.ts";
import { pdfUrl, pngUrl } from "../../../../support/api/images.ts";

/** USD per million tokens, quality, context: the terms that the rules read. */
const MODELS = {
  tiny: model("tiny", { input: "0.05", output: "0.10" }, 8_000),
  swift: model("swift", { input: "0.15", output: "0.60" }, 128_000),
  solid: model("solid", { input: "1", output: "4" }, 200_000),
  deep: model("deep", { input: "3", output: "15" }, 128_000),
};
const TERMS: Record<string, Partial<AutoTerms>> = {
  tiny: { quality: 20, tools: false },
  swift: { quality: 60 },
  solid: { quality: 75 },
  deep: { quality: 90 },
};

function model(id: string, band: BandPrices, contextTokens: number): ModelEntry {
  const prices = bandPrices(band);
  const routes = [{ provider: "one", model: id }];
  const labels = { label: id, family: id, ownedBy: "tests" };
  return { id, ...labels, prices, contextTokens, freeCreditEligible: id !== "deep", routes };
}

type Policy = Catalogue["auto"]["policy"];

function catalogue(policy: Policy, terms = TERMS, models = Object.values(MODELS)): Catalogue {
  const said = Object.entries(terms).map(([id, one]) => [id, { ...AUTO_TERMS, ...one }] as const);
  return catalogueOf(models, [], { auto: { policy, models: new Map(said) } });
}

const PLAIN: AutoRequest = {
  promptBytes: 300,
  maxTokens: 1_000,
  needsTools: false,
  needsImages: false,
  isPaused: () => false,
  isHealthy: () => true,
};
const tools = { needsTools: true };
const bytes = (promptBytes: number) => ({ promptBytes });
const paused = (...ids: string[]) => ({ isPaused: ({ id }: ModelEntry) => ids.includes(id) });
const away = (...ids: string[]) => ({ isHealthy: ({ id }: ModelEntry) => !ids.includes(id) });

function chosen(from: Catalogue, asked: Partial<AutoRequest>): string {
  try {
    const { models } = chooseModels(from, { ...PLAIN, ...asked });
    return models.map(({ id }) => id).join(" ");
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return `${error.code}: ${error.message}`;
  }
}

const PAUSED = "model_unavailable: The models that can serve this request are paused";
const TOO_LONG =
  "invalid_parameter: messages of about 300000 tokens and max_tokens of 1000 fit no model";

const CASES: readonly (readonly [
  what: string,
  policy: Policy,
  asked: Partial<AutoRequest>,
  chosen: string,
])[] = [
  ["the lowest price first", "cheapest", {}, "tiny swift solid deep"],
  ["the best first", "quality", {}, "deep solid swift tiny"],
  ["the cheapest near the best, then by quality", "balanced", {}, "solid deep swift tiny"],
  ["only models that call tools", "cheapest", tools, "swift solid deep"],
  ["a prompt that fits the shortest context", "cheapest", bytes(21_000), "tiny swift solid deep"],
  ["a third of the bytes counts as tokens", "cheapest", bytes(21_001), "swift solid deep"],
  ["max_tokens need room, too", "cheapest", { maxTokens: 7_901 }, "swift solid deep"],
  [
    "the default limit gives way where no context has room for it",
    "cheapest",
    { maxTokens: 999_999, hasDefaultLimit: true },
    "tiny swift solid deep",
  ],
  ["only the longest context", "quality", bytes(390_000), "solid"],
  ["a prompt that fits nothing", "quality", bytes(900_000), TOO_LONG],
  [
    "a response that fits nothing, by its own fields",
    "quality",
    { ...bytes(900_000), fields: RESPONSES_FIELDS },
    TOO_LONG.replace("messages", "input").replace("max_tokens", "max_output_tokens"),
  ],
  ["what is paused is not there", "balanced", paused("deep"), "swift solid tiny"],
  ["all is paused", "balanced", paused("tiny", "swift", "solid", "deep"), PAUSED],
  ["what does not answer comes last", "cheapest", away("tiny"), "swift solid deep tiny"],
  ["nor counts as the best", "balanced", away("deep"), "swift solid tiny deep"],
  ["nothing answers", "quality", away("tiny", "swift", "solid", "deep"), "deep solid swift tiny"],
  ["tools, and one is away", "quality", { ...tools, ...away("deep") }, "solid swift deep"],
];

describe("the choice of auto", () => {
  test.each(CASES)("%s (%s)", (_, policy, asked, expected) => {
    expect(chosen(catalogue(policy), asked)).toBe(expected);
    expect(chosen(catalogue(policy), asked)).toBe(expected);
  });

  test("does not depend on the order of the configuration", () => {
    const models = Object.values(MODELS).reverse();
    expect(chosen(catalogue("balanced", TERMS, models), {})).toBe("solid deep swift tiny");
  });

  test("orders equal models by their ids", () => {
    const alike = ["b", "c", "a"].map((id) => ({ ...MODELS.swift, id }));
    for (const policy of ["cheapest", "balanced", "quality"] as const) {
      expect(chosen(catalogue(policy, {}, alike), {})).toBe("a b c");
    }
  });

  test("takes the price band of the prompt", () => {
    const prices = bandPrices(
      { promptTokensMax: 1_000, input: "0.01", output: "0.01" },
      { input: "90", output: "90" },
    );
    const models = [MODELS.swift, { ...MODELS.swift, id: "stepped", prices }];
    expect(chosen(catalogue("cheapest", {}, models), bytes(3_000))).toBe("stepped swift");
    expect(chosen(catalogue("cheapest", {}, models), bytes(3_003))).toBe("swift stepped");
  });

  test("keeps to the rules of a model", () => {
    const rules = catalogue("quality", {
      ...TERMS,
      deep: { quality: 90, promptTokensMin: 1_000 },
      solid: { quality: 75, excluded: true },
      swift: { quality: 60, promptTokensMax: 2_000 },
    });
    expect(chosen(rules, bytes(300))).toBe("swift tiny");
    expect(chosen(rules, bytes(3_000))).toBe("deep swift tiny");
    expect(chosen(rules, bytes(6_003))).toBe("deep tiny");
  });

  test("refuses tools if no model calls them", () => {
    const one = catalogue("cheapest", TERMS, [MODELS.tiny]);
    expect(chosen(one, tools)).toBe("invalid_parameter: tools need a model that can call tools");
  });

  test("is not available if every model is excluded, and blames no field", () => {
    const none = catalogue("cheapest", { tiny: { excluded: true } }, [MODELS.tiny]);
    for (const asked of [{}, tools]) {
      expect(chosen(none, asked)).toBe("model_unavailable: No model is offered as 'auto'");
    }
  });

  test("names the field that keeps a request from fitting", () => {
    const fieldOf = (asked: Partial<AutoRequest>) => {
      const choose = () =>
        chooseModels(catalogue("cheapest", TERMS, [MODELS.tiny]), { ...PLAIN, ...asked });
      try {
        return choose().models;
      } catch (error) {
        return error instanceof ApiError ? error.param : error;
      }
    };
    expect(fieldOf({ maxTokens: 8_000 })).toBe("max_tokens");
    expect(fieldOf(bytes(24_000))).toBe("messages");
  });

  test("is the guide if no language model exists, and otherwise never", () => {
    expect(chosen(catalogueOf([], []), {})).toBe("farebox-guide");
    expect(chosen(catalogue("cheapest"), {})).not.toContain("farebox-guide");
  });
});

describe("the choice of auto for images", () => {
  const image = readImage({ url: pngUrl(1_000, 1_000), param: "messages[0].image" });
  const pdf = readPdf({ url: pdfUrl(60_000), param: "messages[0].file" });
  const seeing = (of: ModelEntry, imageBounds: readonly number[]): ModelEntry => ({
    ...of,
    media: { kinds: ["image"], imageBounds, pdfTokensMax: 1, takesAddresses: false },
  });
  const { tiny, solid, deep } = MODELS;
  const models = [tiny, seeing(solid, [1_100]), seeing(deep, [1_000])];

  test.each([
    ["only models that take them", [image], "solid deep"],
    ["of these, those whose context they fit", Array(130).fill(image), "solid"],
    [
      "no model takes them",
      [pdf],
      "invalid_parameter: messages[0].file must not be a PDF: no model that can be chosen takes it",
    ],
  ])("%s", (_, media, expected) => {
    const cheap = catalogue("cheapest", TERMS, models);
    expect(chosen(cheap, { media, maxTokens: 10 })).toBe(expected);
  });

  test("each model counts them by its own rule", () => {
    const costly = [tiny, seeing(solid, [9_000]), seeing(deep, [1_000])];
    const cheap = catalogue("cheapest", TERMS, costly);
    expect(chosen(cheap, { media: [image], maxTokens: 10 })).toBe("deep solid");
  });

  test("a PDF counts by its bytes, though its hold may be the whole context", () => {
    const taking = {
      ...solid,
      media: { kinds: ["pdf"], imageBounds: [], pdfTokensMax: 200_000, takesAddresses: false },
    } as const;
    expect(chosen(catalogue("cheapest", TERMS, [tiny, taking]), { media: [pdf] })).toBe("solid");
  });
});

describe("models within the balance", () => {
  const ranked = [MODELS.deep, MODELS.solid, MODELS.swift, MODELS.tiny] as const;
  const means = { promptTokens: 1_000, outputTokens: () => 1_000 };
  /** Upper bounds: deep $0.018, solid $0.005, swift $0.00075, tiny $0.00015. */
  const affordable = (all: string, paid = all) =>
    affordableModels(ranked, {
      ...means,
      spendable: ({ freeCreditEligible }) => usd(freeCreditEligible ? all : paid),
    })
      .map(({ id }) => id)
      .join(" ");

  test.each([
    ["enough for all", "0.018", "0.018", "deep solid swift tiny"],
    ["not enough for the best", "0.017999999", "0.017999999", "solid swift tiny"],
    ["free credit does not pay the best", "1", "0.001", "solid swift tiny"],
    ["what pays the first pays for who takes over", "0.02", "0.02", "deep solid swift tiny"],
    ["enough for the cheapest", "0.00015", "0", "tiny"],
    ["enough for none: the cheapest is refused", "0.000149999", "0", "tiny"],
  ])("%s", (_, all, paid, expected) => {
    expect(affordable(all, paid)).toBe(expected);
  });

  test("a model that free credit cannot pay for does not replace one that it can", () => {
    const first = [MODELS.solid, MODELS.deep] as const;
    const spendable = ({ freeCreditEligible }: ModelEntry) =>
      usd(freeCreditEligible ? "0.006" : "0.02");
    expect(affordableModels(first, { ...means, spendable })).toEqual([MODELS.solid]);
  });
});

test("the choice explains itself in a few words", () => {
  const { tiny, swift, solid, deep } = MODELS;
  const all = (policy: Policy) => chooseModels(catalogue(policy), PLAIN);
  const one = chooseModels(catalogue("quality", TERMS, [swift]), PLAIN);
  expect([
    explainChoice(all("cheapest"), [tiny]),
    explainChoice(all("balanced"), [solid]),
    explainChoice(all("quality"), [solid]),
    explainChoice(all("quality"), [deep, solid]),
    explainChoice(one, [swift]),
  ]).toEqual([
    "cheapest: the cheapest of 4 models that can serve this",
    "balanced: the cheapest within 20 quality points of the best of 4 models that can serve this",
    "quality: the highest quality of 4 models that can serve this, within the balance",
    "quality: the highest quality of 4 models that can serve this, after deep did not answer",
    "quality: the only model that can serve this",
  ]);
});
