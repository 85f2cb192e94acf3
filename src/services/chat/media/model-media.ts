// The media that a model takes, and the most tokens that the media of a request can be.

import type { ApiError } from "../../../core/errors.ts";
import { invalid } from "../../../http/body/checks.ts";
import { type ImageBound, imageTokensMax } from "./image-rules.ts";
import { isAddress, MEDIA_KINDS, type MediaKind, type MediaPart } from "./media-part.ts";

/** The media that a model takes besides text, by its configuration. */
export interface ModelMedia {
  readonly kinds: readonly MediaKind[];
  /** The bounds of its routes: the one with the most tokens counts. */
  readonly imageBounds: readonly ImageBound[];
  /** The most tokens of a PDF. */
  readonly pdfTokensMax: number;
  /** True if a route's provider fetches images from addresses in its own cloud. */
  readonly takesAddresses: boolean;
}

/** A model as far as its media are concerned. */
export interface MediaModel {
  readonly id: string;
  readonly contextTokens: number;
  /** Left out for a model that takes only text. */
  readonly media?: ModelMedia;
}

/**
 * Describes the media of a model: "takes an image (anthropic) and a PDF (at most 200000 tokens)".
 */
export function mediaWords({ kinds, imageBounds, pdfTokensMax }: ModelMedia): string {
  const bounds = { image: imageBounds.join(", "), pdf: `at most ${pdfTokensMax} tokens` };
  return `takes ${kinds.map((kind) => `${MEDIA_KINDS[kind]} (${bounds[kind]})`).join(" and ")}`;
}

type Media = readonly MediaPart[] | undefined;

/**
 * The most tokens that these media can be for any of the models. No prompt has more than the
 * context of its model: a usage above it is not believed.
 */
export function mediaTokensMax(models: readonly MediaModel[], media: Media): number {
  if (media === undefined) return 0;
  return Math.max(...models.map((model) => tokensOf(model, media, pdfTokensMax)));
}

/**
 * The tokens of media that a provider did not count. The size of a PDF is known in bytes only: it
 * counts one token for each 20 bytes, about as many as pages of text have (D-645).
 */
export function mediaTokens(model: MediaModel, media: Media): number {
  return media === undefined ? 0 : tokensOf(model, media, pdfTokens);
}

/** The models that take these media. Throws a refusal that names the field if none does. */
export function modelsTaking<Model extends MediaModel>(
  models: readonly [Model, ...Model[]],
  media: Media,
): readonly [Model, ...Model[]] {
  if (media === undefined) return models;
  const [first, ...others] = models.filter((model) => untakenBy(model, media) === null);
  if (first !== undefined) return [first, ...others];
  const [asked] = models;
  const part = untakenBy(asked, media);
  if (part === null) throw new Error("A model takes what it does not take");
  throw untaken(part, `'${asked.id}'`, asked);
}

/** True if a model takes all of these media. */
export function takesMedia(model: MediaModel, media: Media): boolean {
  return media === undefined || untakenBy(model, media) === null;
}

/** The refusal of media that no model takes which could be chosen. */
export function untakenByAll(media: Media): ApiError {
  const part = media?.[0];
  if (part === undefined) throw new Error("Nothing was refused");
  return untaken(part, "no model that can be chosen");
}

function untaken(part: MediaPart, who: string, model?: MediaModel): ApiError {
  if (model?.media?.kinds.includes(part.kind)) {
    return invalid(part.param, `must not be an address: ${who} takes images in base64 only`);
  }
  const kinds = model?.media?.kinds.map((kind) => MEDIA_KINDS[kind]).join(" and ");
  const takes = model === undefined ? "takes it" : `takes text${kinds ? ` and ${kinds}` : ""} only`;
  return invalid(part.param, `must not be ${MEDIA_KINDS[part.kind]}: ${who} ${takes}`);
}

function untakenBy({ media: takes }: MediaModel, media: readonly MediaPart[]): MediaPart | null {
  const isUntaken = (part: MediaPart) =>
    takes === undefined ||
    !takes.kinds.includes(part.kind) ||
    (isAddress(part) && !takes.takesAddresses);
  return media.find(isUntaken) ?? null;
}

type PdfTokens = (model: MediaModel, part: MediaPart) => number;

const PDF_BYTES_A_TOKEN = 20;

const pdfTokensMax: PdfTokens = ({ media, contextTokens }) => media?.pdfTokensMax ?? contextTokens;

const pdfTokens: PdfTokens = (model, part) => {
  const bytes = ((part.url.length - part.dataAt) * 3) / 4;
  return Math.min(Math.ceil(bytes / PDF_BYTES_A_TOKEN), pdfTokensMax(model, part));
};

function tokensOf(model: MediaModel, media: readonly MediaPart[], ofPdf: PdfTokens): number {
  let tokens = 0;
  for (const part of media)
    tokens += part.kind === "pdf" ? ofPdf(model, part) : ofImage(model, part);
  return Math.min(tokens, model.contextTokens);
}

function ofImage({ media }: MediaModel, part: MediaPart): number {
  let most = 0;
  for (const bound of media?.imageBounds ?? []) most = Math.max(most, imageTokensMax(bound, part));
  return most;
}
