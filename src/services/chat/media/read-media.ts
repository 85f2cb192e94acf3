// Reads an image or a PDF of a request: checks the URL, and reads the header of an image. All doors
// read media by these functions, so that the same bounds hold for each.

import { invalid } from "../../../http/body/checks.ts";
import { readImageHeader } from "./image-header.ts";
import type { Detail, MediaPart } from "./media-part.ts";
import { publicAddress } from "./public-address.ts";

/** Media as they stand in a body. */
export interface GivenMedia {
  /** A data URL; for an image also an address. */
  readonly url: string;
  /** The field that holds the URL, for refusals. */
  readonly param: string;
  readonly detail?: Detail | null | undefined;
  readonly fileName?: string | null | undefined;
}

/** The head of a data URL: a type, parameters that nothing depends on, and base64. */
const DATA_HEAD = /^data:([a-z]+\/[a-z0-9.+-]+)(?:;[a-z0-9-]+=[a-z0-9._-]*)*;base64,/i;
/** No head is longer. A regular expression must not run through the data. */
const HEAD_LENGTH_MAX = 256;
const IMAGE_RULE = "must be a PNG, JPEG, GIF or WebP image in base64, with a whole header";
const PDF_URL_RULE = "must be a data URL of a PDF in base64: data:application/pdf;base64,…";
const PDF_RULE = "must be a PDF in base64, from its first bytes on";
/** "%PDF-" in base64, up to the last character that does not depend on the bytes after it. */
const PDF_MAGIC = "JVBERi";

/**
 * The image of a data URL or an address. The type is the one that its header shows, whatever the
 * URL says. Throws an `invalid_parameter` that names the field.
 */
export function readImage({ url, param, detail }: GivenMedia): MediaPart {
  if (!isDataUrl(url)) return imageAt({ url, param, detail }, "be a data URL, or ");
  const head = headOf(url);
  const header = head === null ? null : readImageHeader(url.slice(head.length));
  if (head === null || header === null) throw invalid(param, IMAGE_RULE);
  const { mediaType, width, height } = header;
  const own = `data:${mediaType};base64,`;
  return {
    ...imageFields({ param, detail }),
    url: head.text === own ? url : own + url.slice(head.length),
    dataAt: own.length,
    mediaType,
    size: { width, height },
  };
}

/** The image at an address, for a form with another field for data. Throws as `readImage` does. */
export function readImageAddress(given: GivenMedia): MediaPart {
  if (!isDataUrl(given.url)) return imageAt(given, "");
  throw invalid(given.param, "must be an address such as https://…, not a data URL");
}

function imageAt({ url, param, detail }: GivenMedia, instead: string): MediaPart {
  const address = publicAddress(url, instead);
  if ("rule" in address) throw invalid(param, address.rule);
  const given = imageFields({ param, detail });
  return { ...given, url: address.href, dataAt: 0, mediaType: null, size: null };
}

function imageFields({ param, detail }: Pick<GivenMedia, "param" | "detail">) {
  const kind = { type: "media", kind: "image" } as const;
  return { ...kind, param, detail: detail ?? "auto", fileName: null };
}

/** The PDF of a data URL. Throws an `invalid_parameter` that names the field. */
export function readPdf({ url, param, fileName }: GivenMedia): MediaPart {
  const head = headOf(url);
  if (head?.mediaType !== "application/pdf") throw invalid(param, PDF_URL_RULE);
  if (!url.startsWith(PDF_MAGIC, head.length)) throw invalid(param, PDF_RULE);
  return {
    type: "media",
    kind: "pdf",
    url,
    dataAt: head.length,
    mediaType: "application/pdf",
    size: null,
    detail: "auto",
    fileName: fileName ?? null,
    param,
  };
}

function isDataUrl(url: string): boolean {
  return url.slice(0, 5).toLowerCase() === "data:";
}

interface DataHead {
  readonly text: string;
  readonly length: number;
  readonly mediaType: string;
}

function headOf(url: string): DataHead | null {
  const [text, mediaType] = DATA_HEAD.exec(url.slice(0, HEAD_LENGTH_MAX)) ?? [];
  if (text === undefined || mediaType === undefined) return null;
  return { text, length: text.length, mediaType: mediaType.toLowerCase() };
}
