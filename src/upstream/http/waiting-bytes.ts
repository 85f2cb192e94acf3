// Holds the bytes of a body that have arrived and wait to be read. Most bodies come in one piece,
// of which no copy is made.

/** Some servers begin a text with this mark, which is not part of the text. */
const BYTE_ORDER_MARK = "\ufeff";
const NO_BYTES: Buffer = Buffer.alloc(0);

export class WaitingBytes {
  /** The waiting bytes are those of this piece, from `#from` to `#to`. */
  #piece = NO_BYTES;
  #from = 0;
  #to = 0;
  /** The pieces after `#piece`. */
  #more: Buffer[] | null = null;
  #length = 0;

  /** The number of bytes that wait. */
  get length(): number {
    return this.#length;
  }

  /** Adds the bytes from `from` to `to`, which must not change. */
  add(bytes: Buffer, from: number, to: number): void {
    if (this.#length === 0) {
      this.#piece = bytes;
      this.#from = from;
      this.#to = to;
    } else {
      this.#more ??= [];
      this.#more.push(bytes.subarray(from, to));
    }
    this.#length += to - from;
  }

  /** Takes all bytes; afterwards none wait. */
  take(): Buffer {
    const first = this.#piece.subarray(this.#from, this.#to);
    const all = this.#more === null ? first : Buffer.concat([first, ...this.#more]);
    this.clear();
    return all;
  }

  /** Takes all bytes as UTF-8. */
  takeText(): string {
    // Decoding a part costs less than making an object of the part.
    const text =
      this.#more === null
        ? this.#piece.toString("utf8", this.#from, this.#to)
        : this.take().toString("utf8");
    this.clear();
    return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
  }

  clear(): void {
    this.#piece = NO_BYTES;
    this.#from = 0;
    this.#to = 0;
    this.#more = null;
    this.#length = 0;
  }
}
