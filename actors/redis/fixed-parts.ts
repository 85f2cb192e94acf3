// Parts that many commands have in common, in the form in which they go to Redis.

const LINE_END = "\r\n";

export class FixedParts {
  #bytes: Buffer | null = null;

  constructor(readonly parts: readonly string[]) {}

  /** The parts as bulk strings of Redis's protocol. */
  get bytes(): Buffer {
    this.#bytes ??= Buffer.from(this.parts.map(bulkOf).join(""));
    return this.#bytes;
  }
}

function bulkOf(part: string): string {
  return `$${Buffer.byteLength(part)}${LINE_END}${part}${LINE_END}`;
}

/** All parts one by one. */
export function plainParts(parts: readonly (string | FixedParts)[]): string[] {
  return parts.flatMap((part) => (typeof part === "string" ? [part] : part.parts));
}
