// Defines and reads the kinds of media that an entry of `models` takes besides text.

import { type Static, type TObject, Type } from "@sinclair/typebox";
import { whole } from "../../../core/configuration/fields.ts";
import type { SectionContext } from "../../../core/configuration/section.ts";
import {
  IMAGE_RULE_NAMES,
  type ImageBound,
  imageRuleOf,
  pdfPageTokens,
} from "../media/image-rules.ts";
import { MEDIA_KIND_NAMES, type MediaKind } from "../media/media-part.ts";
import { GIVEN_KINDS } from "../media/model-images.ts";
import type { ModelMedia } from "../media/model-media.ts";
import type { ProviderEntry } from "../models/catalogue.ts";

/** No provider reads more pages of a PDF. */
const PDF_PAGES_MAX = 1_000;
const TOKENS_MAX = 100_000_000;

export const MEDIA_FIELDS = {
  takes: Type.Optional(
    Type.Array(
      Type.Union(
        MEDIA_KIND_NAMES.map((kind) => Type.Literal(kind)),
        { errorMessage: `must be one of ${MEDIA_KIND_NAMES.join(", ")}` },
      ),
      {
        minItems: 1,
        uniqueItems: true,
        description: "What it takes besides text: image, pdf; left out: only text",
        errorMessage: `must be a list of ${MEDIA_KIND_NAMES.join(", ")}, each once`,
      },
    ),
  ),
  image_tokens: Type.Optional(
    Type.Union(
      [
        ...IMAGE_RULE_NAMES.map((rule) => Type.Literal(rule)),
        whole(1, TOKENS_MAX, "The most tokens of any image"),
      ],
      {
        description:
          "How its provider counts an image: a rule, or the most tokens of any image; left out: " +
          "by the name of the model at its provider",
        errorMessage: `must be a number of tokens or one of ${IMAGE_RULE_NAMES.join(", ")}`,
      },
    ),
  ),
  gives: Type.Optional(
    Type.Array(
      Type.Union(
        GIVEN_KINDS.map((kind) => Type.Literal(kind)),
        { errorMessage: `must be ${GIVEN_KINDS.join(", ")}` },
      ),
      {
        minItems: 1,
        uniqueItems: true,
        description: "What its replies can have besides text: image; left out: only text",
        errorMessage: `must be a list with ${GIVEN_KINDS.join(", ")}`,
      },
    ),
  ),
  image_output_tokens: Type.Optional(
    whole(1, TOKENS_MAX, "The most output tokens of an image; needed where it gives images"),
  ),
  pdf_tokens: Type.Optional(
    whole(1, TOKENS_MAX, "The most tokens of a PDF; left out: its provider's limit or the context"),
  ),
};

type MediaFile = Static<TObject<typeof MEDIA_FIELDS>>;

interface MediaContext extends Pick<SectionContext, "refuse"> {
  readonly pointer: string;
  readonly known: ReadonlyMap<string, ProviderEntry>;
}

interface RoutedFile extends MediaFile {
  readonly context_length: number;
  readonly max_output_tokens?: number;
  readonly serves?: string;
  readonly routes: readonly { readonly provider: string; readonly model: string }[];
}

/**
 * The most tokens of an image that an entry's model gives; undefined for a model that gives text
 * only.
 */
export function toImageTokens(file: RoutedFile, context: MediaContext): number | undefined {
  const { gives, image_output_tokens: tokens, max_output_tokens: most, serves = "chat" } = file;
  const { pointer, known, refuse } = context;
  if (gives === undefined) {
    if (tokens !== undefined) refuse(`${pointer}/image_output_tokens`, "needs 'image' in gives");
    return undefined;
  }
  if (serves !== "chat") refuse(`${pointer}/gives`, "is for models that chat");
  for (const { provider: name } of file.routes) {
    const provider = known.get(name);
    if (provider === undefined || provider.media?.givesImages === true) continue;
    refuse(`${pointer}/gives/0`, `'image' is not given by the provider '${name}'`);
  }
  if (tokens === undefined) {
    return refuse(`${pointer}/image_output_tokens`, "is missing: gives has 'image'");
  }
  if (most !== undefined && tokens > most) {
    refuse(`${pointer}/image_output_tokens`, "must not be above max_output_tokens");
  }
  return tokens;
}

/** The media that an entry's model takes; undefined for a model that takes only text. */
export function toMedia(file: RoutedFile, context: MediaContext): ModelMedia | undefined {
  const { takes = [], image_tokens: bound, pdf_tokens: pdfTokensMax } = file;
  const { pointer, known, refuse } = context;
  const needs = (kind: MediaKind, field: "image_tokens" | "pdf_tokens") => {
    if (file[field] !== undefined && !takes.includes(kind)) {
      refuse(`${pointer}/${field}`, `needs '${kind}' in takes`);
    }
  };
  needs("image", "image_tokens");
  needs("pdf", "pdf_tokens");
  if (takes.length === 0) return undefined;
  const providers = file.routes.map(({ provider }) => known.get(provider));
  for (const [index, kind] of takes.entries()) {
    const other = providers.find((provider) => provider?.media?.kinds.includes(kind) !== true);
    if (other === undefined) continue;
    refuse(`${pointer}/takes/${index}`, `'${kind}' is not taken by the provider '${other.name}'`);
  }
  const imageBounds = takes.includes("image") ? boundsOf(file, bound, context) : [];
  return {
    kinds: takes,
    imageBounds,
    pdfTokensMax: pdfTokensMax ?? pdfBound(file, imageBounds),
    takesAddresses: providers.some((provider) => provider?.media?.fetchesAddresses === true),
  };
}

/** The bound that the entry names, or those of its routes. */
function boundsOf(
  { routes }: RoutedFile,
  bound: ImageBound | undefined,
  { pointer, known, refuse }: MediaContext,
): readonly ImageBound[] {
  if (bound !== undefined) return [bound];
  const bounds = routes.map(({ provider, model }) => {
    const rule = known.get(provider)?.media?.hasKnownRules === true ? imageRuleOf(model) : null;
    const problem = `is missing: no rule is known for images of '${model}' at '${provider}'`;
    return rule ?? refuse(`${pointer}/image_tokens`, problem);
  });
  return [...new Set(bounds)];
}

/**
 * The cost of the most pages if each page costs the same; else a PDF may fill the context (D-645).
 */
function pdfBound(
  { context_length: context }: RoutedFile,
  imageBounds: readonly ImageBound[],
): number {
  const pages = imageBounds.map(pdfPageTokens);
  const perPage =
    pages.length === 0 || pages.includes(null) ? null : Math.max(...pages.map(Number));
  return perPage === null ? context : Math.min(context, perPage * PDF_PAGES_MAX);
}
