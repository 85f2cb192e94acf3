// Reads the format and the size of an image out of its header. Only the bytes of the header are
// decoded, wherever they stand, and where a header names several sizes the largest counts (D-645).

import type { ImageSize, ImageType } from "./media-part.ts";

export interface ImageHeader extends ImageSize {
  readonly mediaType: ImageType;
}

/** Real images have some dozens of segments or blocks before their size. */
const STEPS_MAX = 4_096;

/** The header of an image in base64; null if it is none of the known formats, or is broken. */
export function readImageHeader(base64: string): ImageHeader | null {
  const bytes = new Base64Bytes(base64);
  for (const { mediaType, read } of READERS) {
    const size = read(bytes);
    if (size === null) continue;
    return size.width > 0 && size.height > 0 ? { mediaType, ...size } : null;
  }
  return null;
}

/** Bytes of base64 text. A byte beyond the end is read as 0: no header has it where it counts. */
class Base64Bytes {
  readonly length: number;
  readonly #base64: string;
  #from = 0;
  #window: Buffer = Buffer.alloc(0);

  constructor(base64: string) {
    this.#base64 = base64;
    this.length = Math.floor((base64.length * 3) / 4);
  }

  at(offset: number): number {
    const index = offset - this.#from;
    if (index >= 0 && index < this.#window.length) return this.#window[index] ?? 0;
    if (offset >= this.length) return 0;
    // Four characters are three bytes.
    const group = Math.floor(offset / 3);
    this.#from = group * 3;
    this.#window = Buffer.from(this.#base64.slice(group * 4, group * 4 + WINDOW), "base64");
    return this.#window[offset - this.#from] ?? 0;
  }

  big(offset: number, count: number): number {
    let value = 0;
    for (let at = offset; at < offset + count; at += 1) value = value * 256 + this.at(at);
    return value;
  }

  little(offset: number, count: number): number {
    let value = 0;
    for (let at = offset + count - 1; at >= offset; at -= 1) value = value * 256 + this.at(at);
    return value;
  }

  has(offset: number, text: string): boolean {
    for (let at = 0; at < text.length; at += 1) {
      if (this.at(offset + at) !== text.charCodeAt(at)) return false;
    }
    return true;
  }
}

/** The characters that are decoded at once: 48 bytes. */
const WINDOW = 64;

type SizeReader = (bytes: Base64Bytes) => ImageSize | null;

const READERS: readonly { readonly mediaType: ImageType; readonly read: SizeReader }[] = [
  { mediaType: "image/png", read: pngSize },
  { mediaType: "image/jpeg", read: jpegSize },
  { mediaType: "image/gif", read: gifSize },
  { mediaType: "image/webp", read: webpSize },
];

/** PNG, third edition, 5.2 and 11.2.2: the chunk IHDR comes first. */
function pngSize(bytes: Base64Bytes): ImageSize | null {
  const isPng = bytes.has(0, "\x89PNG\r\n\x1a\n") && bytes.big(8, 4) === 13;
  if (!isPng || !bytes.has(12, "IHDR")) return null;
  return { width: bytes.big(16, 4), height: bytes.big(20, 4) };
}

const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;
/** Markers from 0xc0 to 0xcf that begin no frame: tables, an extension, and a condition. */
const NO_FRAMES: readonly number[] = [0xc4, 0xc8, 0xcc];

/** ITU T.81, annex B: segments up to the first scan. Some decoders take the last frame header. */
function jpegSize(bytes: Base64Bytes): ImageSize | null {
  if (bytes.big(0, 2) !== 0xffd8) return null;
  const size = { width: 0, height: 0 };
  let offset = 2;
  for (let step = 0; step < STEPS_MAX && offset < bytes.length; step += 1) {
    if (bytes.at(offset) !== 0xff) return null;
    const marker = bytes.at(offset + 1);
    if (marker === START_OF_SCAN || marker === END_OF_IMAGE) return size;
    // Fill bytes, and markers without a segment.
    if (marker === 0xff) offset += 1;
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) offset += 2;
    else {
      const isFrame = marker >= 0xc0 && marker <= 0xcf && !NO_FRAMES.includes(marker);
      if (isFrame) {
        size.height = Math.max(size.height, bytes.big(offset + 5, 2));
        size.width = Math.max(size.width, bytes.big(offset + 7, 2));
      }
      const length = bytes.big(offset + 2, 2);
      if (length < 2) return null;
      offset += 2 + length;
    }
  }
  return null;
}

const IMAGE_SEPARATOR = 0x2c;
const EXTENSION = 0x21;

/** GIF89a, 18 and 20: the first frame may reach beyond the logical screen. */
function gifSize(bytes: Base64Bytes): ImageSize | null {
  if (!bytes.has(0, "GIF87a") && !bytes.has(0, "GIF89a")) return null;
  const screen = { width: bytes.little(6, 2), height: bytes.little(8, 2) };
  const flags = bytes.at(10);
  const tableBytes = (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 0x07) + 1);
  let offset = 13 + tableBytes;
  for (let step = 0; step < STEPS_MAX && offset < bytes.length; step += 1) {
    const kind = bytes.at(offset);
    if (kind === IMAGE_SEPARATOR) {
      return {
        width: Math.max(screen.width, bytes.little(offset + 1, 2) + bytes.little(offset + 5, 2)),
        height: Math.max(screen.height, bytes.little(offset + 3, 2) + bytes.little(offset + 7, 2)),
      };
    }
    if (kind !== EXTENSION) return null;
    offset += 2;
    // An extension is a chain of blocks, each with its length, up to an empty one.
    while (bytes.at(offset) !== 0 && step < STEPS_MAX) {
      offset += 1 + bytes.at(offset);
      step += 1;
    }
    offset += 1;
  }
  return null;
}

/** RFC 9649, 2.5 to 2.7: lossy, lossless, or a canvas. */
function webpSize(bytes: Base64Bytes): ImageSize | null {
  if (!bytes.has(0, "RIFF") || !bytes.has(8, "WEBP")) return null;
  if (bytes.has(12, "VP8X")) {
    return { width: 1 + bytes.little(24, 3), height: 1 + bytes.little(27, 3) };
  }
  if (bytes.has(12, "VP8 ") && bytes.big(23, 3) === 0x9d012a) {
    return { width: bytes.little(26, 2) & 0x3fff, height: bytes.little(28, 2) & 0x3fff };
  }
  if (bytes.has(12, "VP8L") && bytes.at(20) === 0x2f) {
    const packed = bytes.little(21, 4);
    return { width: 1 + (packed % 0x4000), height: 1 + (Math.floor(packed / 0x4000) % 0x4000) };
  }
  return null;
}
