// A list of request ids that is kept for a while. A string of each id would be an object of the
// heap that outlives its call: thousands a second, and each string keeps the memory around it in
// use (D-343).

const FIRST_BYTES = 1_024;
/** UTF-8 takes at most this many bytes for one UTF-16 unit of a string. */
const BYTES_A_UNIT = 3;
const END = "\n".charCodeAt(0);
const NO_BYTES = Buffer.alloc(0);

/** Ids in the order in which they were added. */
export class RequestIds {
  /** One id after the other, with a line feed after each: no id contains a line feed. */
  #bytes = NO_BYTES;
  #used = 0;

  get isEmpty(): boolean {
    return this.#used === 0;
  }

  add(id: string): void {
    const most = this.#used + BYTES_A_UNIT * id.length + 1;
    if (most > this.#bytes.length) this.#grow(most);
    this.#used += this.#bytes.write(id, this.#used);
    this.#bytes[this.#used] = END;
    this.#used += 1;
  }

  /** All ids, as new strings. */
  toArray(): string[] {
    if (this.isEmpty) return [];
    return this.#bytes.toString("utf8", 0, this.#used - 1).split("\n");
  }

  #grow(least: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, least, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#used);
    this.#bytes = larger;
  }
}
