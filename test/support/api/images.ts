// Images that are only as long as their headers, and PDFs, as data URLs.

export interface Size {
  readonly width: number;
  readonly height: number;
}

const big = (value: number, bytes: number) => {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntBE(value, 0, bytes);
  return buffer;
};
const little = (value: number, bytes: number) => Buffer.from(big(value, bytes)).reverse();
const ascii = (text: string) => Buffer.from(text, "latin1");

/** The bytes of a PNG up to the end of its first chunk. */
export function png({ width, height }: Size): Buffer {
  const signature = ascii("\x89PNG\r\n\x1a\n");
  const sizes = [big(width, 4), big(height, 4)];
  return Buffer.concat([signature, big(13, 4), ascii("IHDR"), ...sizes, Buffer.alloc(9)]);
}

/** A segment of a JPEG. */
export function segment(marker: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.of(0xff, marker), big(content.length + 2, 2), content]);
}

/** The segment of a JPEG that begins a frame. */
export function frame({ width, height }: Size, marker = 0xc0): Buffer {
  return segment(marker, Buffer.concat([Buffer.of(8), big(height, 2), big(width, 2)]));
}

/** A JPEG with these segments before its first scan. */
export function jpeg(...segments: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.of(0xff, 0xd8), ...segments, segment(0xda, Buffer.alloc(10))]);
}

/** A GIF with a logical screen and a first frame. */
export function gif(screen: Size, first = screen, left = 0): Buffer {
  const sizes = ({ width, height }: Size) => [little(width, 2), little(height, 2)];
  const comment = Buffer.of(0x21, 0xfe, 2, 65, 66, 0);
  const head = [ascii("GIF89a"), ...sizes(screen), Buffer.of(0x80, 0, 0), Buffer.alloc(6), comment];
  return Buffer.concat([...head, Buffer.of(0x2c), little(left, 2), little(0, 2), ...sizes(first)]);
}

const WEBP_CHUNKS = {
  "VP8 ": ({ width, height }: Size) => [
    Buffer.of(0, 0, 0, 0x9d, 0x01, 0x2a),
    little(width, 2),
    little(height, 2),
  ],
  VP8L: ({ width, height }: Size) => [
    Buffer.of(0x2f),
    little(width - 1 + (height - 1) * 0x4000, 4),
  ],
  VP8X: ({ width, height }: Size) => [Buffer.alloc(4), little(width - 1, 3), little(height - 1, 3)],
} as const;

/** A WebP of each of the three kinds. */
export function webp(kind: keyof typeof WEBP_CHUNKS, size: Size): Buffer {
  const head = [ascii("RIFF"), big(0, 4), ascii(`WEBP${kind}`), big(0, 4)];
  return Buffer.concat([...head, ...WEBP_CHUNKS[kind](size)]);
}

/** A data URL. */
export function dataUrl(type: string, bytes: Uint8Array): string {
  return `data:${type};base64,${Buffer.from(bytes).toString("base64")}`;
}

/** The URL of a PNG of this size, with more bytes behind its header. */
export function pngUrl(width: number, height: number, bytesMore = 0): string {
  return dataUrl("image/png", Buffer.concat([png({ width, height }), Buffer.alloc(bytesMore, 7)]));
}

/** The URL of a PDF of this many bytes. */
export function pdfUrl(bytes = 64): string {
  return dataUrl("application/pdf", Buffer.from("%PDF-1.7\n".padEnd(bytes, "x")));
}
