// The media that models take besides text, by the configuration: rules by the model's name at its
// provider, and each mistake by its field.

import { describe, expect, test } from "bun:test";
import { configurationChanges } from "../../../src/settings/catalogue-changes.ts";
import { CatalogueError, parseCatalogue } from "../../../src/settings/catalogue-file.ts";

const ENV = { A_KEY: "secret" };

interface Routed {
  readonly fields?: object;
  readonly routes?: readonly (readonly [provider: string, model: string])[];
}

function textOf({ fields = {}, routes = [["anthropic", "claude-opus-5"]] }: Routed): string {
  const names = [...new Set(routes.map(([provider]) => provider))];
  const own = { base_url: "http://10.0.0.5/v1" };
  const providers = names.map((provider) => {
    const known = { provider, api_key_env: "A_KEY", ...(provider === "azure" && own) };
    return [provider, provider === "own" ? own : known];
  });
  return JSON.stringify({
    providers: Object.fromEntries(providers),
    models: [
      {
        id: "m",
        label: "M",
        family: "m",
        owned_by: "m",
        context_length: 200_000,
        pricing: [{ input_usd_per_m: "1", output_usd_per_m: "2" }],
        ...fields,
        routes: routes.map(([provider, model]) => ({ provider, model })),
      },
    ],
  });
}

const mediaOf = (routed: Routed) => parseCatalogue(textOf(routed), ENV).models.get("m")?.media;

function refusalOf(routed: Routed): string {
  try {
    mediaOf(routed);
  } catch (error) {
    if (error instanceof CatalogueError) return error.message;
    throw error;
  }
  throw new Error("It was taken");
}

const BOTH = { takes: ["image", "pdf"] };

describe("a model", () => {
  test("without `takes` takes text only", () => {
    expect(mediaOf({})).toBeUndefined();
    expect(parseCatalogue(textOf({}), ENV).takesMedia).toBe(false);
    expect(parseCatalogue(textOf({ fields: BOTH }), ENV).takesMedia).toBe(true);
  });

  test.each([
    [[["anthropic", "claude-opus-5"]], ["anthropic-large"], 200_000, true],
    [[["google", "gemini-2.5-flash"]], ["gemini-tiles"], 200_000, false],
    [
      [
        ["google", "gemini-3-pro"],
        ["openai", "gpt-5.6"],
      ],
      ["gemini-3", "openai-patches"],
      200_000,
      true,
    ],
    [
      [
        ["anthropic", "claude-3-haiku"],
        ["openai", "gpt-4o"],
      ],
      ["anthropic", "openai-tiles"],
      200_000,
      true,
    ],
  ] as const)("at %j has the rules %j", (routes, imageBounds, pdfTokensMax, takesAddresses) => {
    const kinds = ["image", "pdf"] as const;
    expect(mediaOf({ fields: BOTH, routes })).toEqual({
      kinds,
      imageBounds,
      pdfTokensMax,
      takesAddresses,
    });
  });

  test("has the bounds that it names, for any server", () => {
    const fields = { ...BOTH, image_tokens: 900, pdf_tokens: 7_000 };
    const routes = [["own", "vision-7b"]] as const;
    const expected = { imageBounds: [900], pdfTokensMax: 7_000, takesAddresses: false };
    expect(mediaOf({ fields, routes })).toMatchObject(expected);
    const rule = { takes: ["image"], image_tokens: "openai-tiles" };
    expect(mediaOf({ fields: rule, routes: [["azure", "my-gpt"]] })).toMatchObject({
      imageBounds: ["openai-tiles"],
      takesAddresses: true,
    });
  });

  test("with a long context holds 1,000 pages for a PDF that Gemini bills by the page", () => {
    const fields = { ...BOTH, context_length: 2_000_000 };
    expect(mediaOf({ fields, routes: [["google", "gemini-2.5-pro"]] })?.pdfTokensMax).toBe(258_000);
    expect(mediaOf({ fields, routes: [["google", "gemini-3-pro"]] })?.pdfTokensMax).toBe(560_000);
    expect(mediaOf({ fields })?.pdfTokensMax).toBe(2_000_000);
  });
});

describe("a mistake is named by its field", () => {
  test.each([
    [{ takes: [] }, undefined, "models[0].takes must be a list of image, pdf, each once"],
    [
      { takes: ["image", "image"] },
      undefined,
      "models[0].takes must be a list of image, pdf, each once",
    ],
    [{ takes: ["video"] }, undefined, "models[0].takes[0] must be one of image, pdf"],
    [{ image_tokens: 5 }, undefined, "models[0].image_tokens needs 'image' in takes"],
    [{ takes: ["image"], pdf_tokens: 5 }, undefined, "models[0].pdf_tokens needs 'pdf' in takes"],
    [
      { takes: ["image"], image_tokens: 0 },
      undefined,
      "models[0].image_tokens must be a number of tokens or one of openai-tiles-4o-mini",
    ],
    [
      { takes: ["image"], image_tokens: "gpt" },
      undefined,
      "models[0].image_tokens must be a number of tokens or one of openai-tiles-4o-mini",
    ],
    [
      { takes: ["image"] },
      [["deepseek", "deepseek-chat"]],
      "models[0].takes[0] 'image' is not taken by the provider 'deepseek'",
    ],
    [
      BOTH,
      [["openrouter", "openai/gpt-5.6"]],
      "models[0].takes[1] 'pdf' is not taken by the provider 'openrouter'",
    ],
    [
      BOTH,
      [
        ["openai", "gpt-5.6"],
        ["xai", "grok-4"],
      ],
      "models[0].takes[1] 'pdf' is not taken by the provider 'xai'",
    ],
    [
      { takes: ["image"] },
      [["own", "gpt-4o"]],
      "models[0].image_tokens is missing: no rule is known for images of 'gpt-4o' at 'own'",
    ],
    [
      { takes: ["image"] },
      [
        ["openai", "gpt-9-vision"],
        ["openai", "gpt-x"],
      ],
      "models[0].image_tokens is missing: no rule is known for images of 'gpt-x' at 'openai'",
    ],
  ] as const)("%j", (fields, routes, message) => {
    expect(refusalOf({ fields, ...(routes !== undefined && { routes }) })).toContain(message);
  });
});

const imagesOf = (routed: Routed) =>
  parseCatalogue(textOf(routed), ENV).models.get("m")?.imageTokens;

describe("a model that gives images", () => {
  test("has the tokens of an image, at providers that can give them", () => {
    const fields = { gives: ["image"], image_output_tokens: 1_290 };
    for (const provider of ["google", "openrouter", "own"]) {
      expect(imagesOf({ fields, routes: [[provider, "m"]] })).toBe(1_290);
    }
    expect(imagesOf({})).toBeUndefined();
  });

  test.each([
    [{ gives: ["sound"] }, "google", "models[0].gives[0] must be image"],
    [{ gives: ["image"] }, "google", "models[0].image_output_tokens is missing"],
    [{ image_output_tokens: 9 }, "google", "models[0].image_output_tokens needs 'image' in gives"],
    [
      { gives: ["image"], image_output_tokens: 9 },
      "anthropic",
      "models[0].gives[0] 'image' is not given by the provider 'anthropic'",
    ],
    [
      { gives: ["image"], image_output_tokens: 9, max_output_tokens: 8 },
      "google",
      "models[0].image_output_tokens must not be above max_output_tokens",
    ],
    [
      { gives: ["image"], image_output_tokens: 9, serves: "embedding" },
      "own",
      "models[0].gives is for models that chat",
    ],
  ])("%j at %s is refused by its field", (fields, provider, message) => {
    expect(() => imagesOf({ fields, routes: [[provider, "m"]] })).toThrow(message);
  });

  test("is named where a configuration changes", () => {
    const change = configurationChanges("new", ENV);
    const google = [["google", "m"]] as const;
    const before = textOf({ routes: google });
    const fields = { gives: ["image"], image_output_tokens: 1_290 };
    expect(change({ version: 1, text: before }, textOf({ fields, routes: google }))).toEqual([
      "model m: gives text -> gives images (at most 1290 tokens each)",
    ]);
  });
});

test("a change of the media of a model is a line in words", () => {
  const changes = (from: object, to: object) =>
    configurationChanges("new", ENV)(
      { version: 1, text: textOf({ fields: from }) },
      textOf({ fields: to }),
    );
  expect(changes({}, BOTH)).toEqual([
    "model m: takes text -> takes an image (anthropic-large) and a PDF (at most 200000 tokens)",
  ]);
  expect(changes(BOTH, { takes: ["image"], image_tokens: 700 })).toEqual([
    "model m: takes an image (anthropic-large) and a PDF (at most 200000 tokens)" +
      " -> takes an image (700)",
  ]);
  expect(changes(BOTH, BOTH)).toEqual([]);
});
