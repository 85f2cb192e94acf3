// Images and PDFs in the messages of a chat, whichever door they came by.

/** The kinds of media, with their names in messages. */
export const MEDIA_KINDS = { image: "an image", pdf: "a PDF" } as const;
export type MediaKind = keyof typeof MEDIA_KINDS;
export const MEDIA_KIND_NAMES = Object.keys(MEDIA_KINDS) as MediaKind[];

/** The formats of images that every provider reads. */
export const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;
export type ImageType = (typeof IMAGE_TYPES)[number];

/** The resolution at which the model sees an image, by OpenAI's words. */
export const DETAILS = ["auto", "low", "high", "original"] as const;
export type Detail = (typeof DETAILS)[number];

export interface ImageSize {
  /** In pixels; both are above zero. */
  readonly width: number;
  readonly height: number;
}

/** An image or a PDF, checked. */
export interface MediaPart {
  readonly type: "media";
  readonly kind: MediaKind;
  /** A whole `data:` URL with base64, or an address that a provider fetches. */
  readonly url: string;
  /** The place in `url` where the base64 begins; 0 for an address. */
  readonly dataAt: number;
  /** Null for an image at an address. */
  readonly mediaType: ImageType | "application/pdf" | null;
  /** The size of an image; null if it is not known. */
  readonly size: ImageSize | null;
  readonly detail: Detail;
  /** The name of a file; null if it has none. */
  readonly fileName: string | null;
  /** The field of the body, for refusals: "messages[0].content[1].image_url.url". */
  readonly param: string;
}

export interface TextPart {
  readonly type: "text";
  readonly text: string;
}

export type ContentPart = TextPart | MediaPart;

/** The content of a message: a text, or parts of which one or more are media. */
export type Content = string | readonly ContentPart[];

/** The text of a content; texts of several parts are joined. */
export function contentText(content: Content | null): string {
  if (content === null || typeof content === "string") return content ?? "";
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** All media of these messages, in order; undefined if they have none, as most have. */
export function mediaOf(
  messages: readonly { readonly content: Content | null }[],
): readonly MediaPart[] | undefined {
  let media: MediaPart[] | undefined;
  for (const { content } of messages) {
    if (content === null || typeof content === "string") continue;
    for (const part of content) {
      if (part.type !== "media") continue;
      media ??= [];
      media.push(part);
    }
  }
  return media;
}

/** True if a provider has to fetch the media from an address. */
export function isAddress({ dataAt }: MediaPart): boolean {
  return dataAt === 0;
}

/** The base64 of media that came with the request. The text shares the memory of the URL. */
export function base64Of({ url, dataAt }: MediaPart): string {
  return url.slice(dataAt);
}

/** The bytes of memory that media take. */
export function mediaBytes(media: readonly MediaPart[] | undefined): number {
  return media === undefined ? 0 : media.reduce((sum, { url }) => sum + url.length, 0);
}
