// What a request window must be: every counted second is kept, so nothing can be summed up wrongly.

/** A request counts until the second in which it came is so many seconds ago. */
export const WINDOW_SECONDS = 61;

/** Counts whole seconds; what is counted leaves after 61 of them. */
export class ModelWindow {
  counted: number[] = [];
  last = 0;
  /** Passed requests in a time that never goes back, for the check of any 60 s. */
  passed: number[] = [];

  /** The requests that count at `nowMs`; a far jump back makes all of them count as of now. */
  total(nowMs: number): number {
    if (secondOf(nowMs) < this.last - WINDOW_SECONDS) {
      this.counted = this.#since(this.last).map(() => secondOf(nowMs));
      this.last = secondOf(nowMs);
      this.passed = this.passed.map(() => nowMs);
    }
    return this.#since(Math.max(secondOf(nowMs), this.last)).length;
  }

  count(nowMs: number): void {
    const second = Math.max(secondOf(nowMs), this.last);
    this.counted = [...this.#since(second), second];
    this.last = second;
    this.passed.push(Math.max(nowMs, this.passed.at(-1) ?? 0));
  }

  /** Moves the window on: what no longer counts leaves it for good. */
  moveTo(nowMs: number): void {
    const total = this.total(nowMs);
    this.last = Math.max(secondOf(nowMs), this.last);
    this.counted = this.#since(this.last);
    if (this.counted.length !== total) throw new Error("A window changed by being moved");
  }

  /** The same, without anybody looking at it. */
  countedAt(nowMs: number): number {
    return this.#since(Math.max(secondOf(nowMs), this.last)).length;
  }

  /** What each second counts of those that still count at `last`, as a record would have it. */
  counts(): Map<number, number> {
    const counts = new Map<number, number>();
    for (const second of this.#since(this.last)) {
      counts.set(second, (counts.get(second) ?? 0) + 1);
    }
    return counts;
  }

  /** The most that the last 60 s hold. */
  get busiest(): number {
    const end = this.passed.at(-1) ?? 0;
    return this.passed.filter((time) => time > end - 60_000).length;
  }

  #since(second: number): number[] {
    return this.counted.filter((counted) => counted > second - WINDOW_SECONDS);
  }
}

function secondOf(ms: number): number {
  return Math.floor(ms / 1000);
}
