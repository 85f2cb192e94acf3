// The head and the end of a PNG file (W3C PNG, sections 5.2, 11.2.1 and 11.2.5).

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const HEAD_BYTES = 33;
/** The last chunk, which is always the same. */
const END = Buffer.from("\0\0\0\0IEND\xae\x42\x60\x82", "latin1");

/**
 * The size of a picture in pixels; null if it is not a whole PNG. A body that ends with its
 * connection may be incomplete without any sign.
 */
export function pngSize(bytes: Uint8Array): { width: number; height: number } | null {
  const isPng = SIGNATURE.every((byte, index) => bytes[index] === byte);
  if (!isPng || bytes.byteLength < HEAD_BYTES) return null;
  const picture = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (picture.readUInt32BE(12) !== 0x49484452 || !picture.includes(END)) return null;
  return { width: picture.readUInt32BE(16), height: picture.readUInt32BE(20) };
}
