// Defines and reads what an entry of `models` takes besides text.

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
  readonly routes: readonly { readonly provider: string; readonly model: string }[];
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
