// The head of a PNG file (W3C PNG, sections 5.2 and 11.2.1).

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const HEAD_BYTES = 33;

/** The size of a picture in pixels; null if it is not a PNG. */
export function pngSize(bytes: Uint8Array): { width: number; height: number } | null {
  const isPng = SIGNATURE.every((byte, index) => bytes[index] === byte);
  if (!isPng || bytes.byteLength < HEAD_BYTES) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(12) !== 0x49484452) return null;
  return { width: view.getUint32(16), height: view.getUint32(20) };
}
