// The expected request window. The model keeps every counted second, without sums that could be
// wrong.

/** A request counts until the second in which it arrived is this many seconds ago. */
export const WINDOW_SECONDS = 61;

/** Counts in whole seconds; a request stops counting after 61 of them. */
export class ModelWindow {
  counted: number[] = [];
  last = 0;
  /** Admitted requests by a time that never goes back, to check every span of 60 s. */
  passed: number[] = [];

  /** The requests that count at `nowMs`. After a long jump back all of them count as of now. */
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

  /** Moves the window to a time, and drops slots that no longer count. */
  moveTo(nowMs: number): void {
    const total = this.total(nowMs);
    this.last = Math.max(secondOf(nowMs), this.last);
    this.counted = this.#since(this.last);
    if (this.counted.length !== total) throw new Error("A window changed by being moved");
  }

  /** The number of requests that count at `nowMs`, without moving the window. */
  countedAt(nowMs: number): number {
    return this.#since(Math.max(secondOf(nowMs), this.last)).length;
  }

  /** The count of each second that still counts at `last`, as a record in Redis has it. */
  counts(): Map<number, number> {
    const counts = new Map<number, number>();
    for (const second of this.#since(this.last)) {
      counts.set(second, (counts.get(second) ?? 0) + 1);
    }
    return counts;
  }

  /** The most requests in any 60 s. */
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
