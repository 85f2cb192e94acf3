// The images that a model gives in its replies: which models are asked for them, and by which doors
// (D-694).

import type { ApiError } from "../../../core/errors.ts";
import { invalid } from "../../../http/body/checks.ts";

/** The kinds of media that a model can give besides text. */
export const GIVEN_KINDS = ["image"] as const;

/** An image in a reply, in the form that OpenRouter gave chat completions. */
export interface GivenImage {
  readonly type: "image_url";
  /** A whole `data:` URL with base64. */
  readonly image_url: { readonly url: string };
}

/** A model as far as the images of its replies are concerned. */
export interface ImagesModel {
  readonly id: string;
  /** The most output tokens of an image; left out for a model that gives only text. */
  readonly imageTokens?: number;
}

type Some<Model> = readonly [Model, ...Model[]];

interface AskedImages {
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** The output limit of a request, and the field that it is in. */
interface Room {
  readonly tokens: number;
  readonly field: string;
}

/** True if the request asks for images. */
export function asksForImages({ parameters }: AskedImages): boolean {
  return parameters.modalities !== undefined;
}

/**
 * The models that can give the kinds of output that the request asks for. Throws a refusal that
 * names the field if none can, or if the output limit has no room for an image.
 */
export function modelsGiving<Model extends ImagesModel>(
  models: Some<Model>,
  request: AskedImages,
  { tokens, field }: Room,
): Some<Model> {
  if (!asksForImages(request)) return models;
  const [asked] = models;
  const [giving, ...others] = models.filter(({ imageTokens }) => imageTokens !== undefined);
  if (giving === undefined) {
    throw invalid("modalities", `must not have 'image': '${asked.id}' gives text only`);
  }
  const hasRoom = ({ imageTokens = 0 }: Model) => imageTokens <= tokens;
  const [first, ...rest] = [giving, ...others].filter(hasRoom);
  if (first !== undefined) return [first, ...rest];
  const most = `an image of '${giving.id}' has up to ${giving.imageTokens} tokens`;
  throw invalid(field, `must be at least ${giving.imageTokens}: ${most}`);
}

/**
 * The refusal of a request to `auto` when no model that can be chosen gives the wanted kinds of
 * output.
 */
export function ungivenByAll(needsImages: boolean): ApiError {
  const no = "no model that can be chosen gives";
  if (needsImages) return invalid("modalities", `must not have 'image': ${no} images`);
  return invalid("modalities", `must have 'image': ${no} text alone`);
}

/** The models for a door whose replies have no place for images. Throws if there are none. */
export function modelsOfText<Model extends ImagesModel>(models: Some<Model>): Some<Model> {
  const [first, ...others] = models.filter(({ imageTokens }) => imageTokens === undefined);
  if (first !== undefined) return [first, ...others];
  const [{ id }] = models;
  const where = "/v1/chat/completions and /v1/responses";
  throw invalid("model", `must not be '${id}' here: it gives images, which only ${where} can have`);
}

/** The place of the base64 in the URL of an image; null if it is no such URL. */
export function givenImageAt(url: unknown): { readonly type: string; readonly at: number } | null {
  if (typeof url !== "string") return null;
  const [head, type] = IMAGE_HEAD.exec(url.slice(0, HEAD_LENGTH_MAX)) ?? [];
  return head === undefined || type === undefined ? null : { type, at: head.length };
}

const HEAD_LENGTH_MAX = 64;
const IMAGE_HEAD = /^data:image\/([a-z0-9.+-]+);base64,/;
