// Decodes text files of people. Some editors begin a file with a byte order mark, or write UTF-16.

/** The byte order marks, and the encodings that they name (encoding.spec.whatwg.org, BOM sniff). */
const MARKS = [
  { mark: [0xef, 0xbb, 0xbf], encoding: "utf-8" },
  { mark: [0xff, 0xfe], encoding: "utf-16le" },
  { mark: [0xfe, 0xff], encoding: "utf-16be" },
] as const;
type Encoding = (typeof MARKS)[number]["encoding"];

/** Returns the encoding that a byte order mark names; null without a mark. */
export function markedEncoding(bytes: Uint8Array): Encoding | null {
  const marked = MARKS.find(({ mark }) => mark.every((byte, at) => bytes[at] === byte));
  return marked?.encoding ?? null;
}

/** The text without its byte order mark; UTF-8 unless the mark says otherwise. */
export function textOfBytes(bytes: Uint8Array): string {
  return new TextDecoder(markedEncoding(bytes) ?? "utf-8").decode(bytes);
}

/**
 * The lines of a text. Lines end with LF or CR LF; the last line may have no end. Other separators,
 * such as U+2028, are part of a line, as JSON lines require.
 */
export async function* linesOfBytes(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let decoder: TextDecoder | null = null;
  let line = "";
  for await (const chunk of chunks) {
    decoder ??= new TextDecoder(markedEncoding(chunk) ?? "utf-8");
    const [rest = "", ...others] = decoder.decode(chunk, { stream: true }).split("\n");
    line += rest;
    for (const next of others) {
      yield withoutReturn(line);
      line = next;
    }
  }
  line += decoder?.decode() ?? "";
  if (line !== "") yield withoutReturn(line);
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
