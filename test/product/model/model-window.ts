// The expected request window. The model keeps every counted second, without sums that could be
// wrong.

/** A second that was last moved to is this many seconds ago when nothing of it can count. */
export const WINDOW_SECONDS = 61;
const SPAN_MS = 60_000;
const END_OF_SECOND = 999;

interface Slot {
  readonly second: number;
  readonly count: number;
  /** The millisecond of the last request in it; the end of the second if that is not known. */
  readonly ms: number;
}

/**
 * Counts in whole seconds; the requests of a second stop counting when the last of them is 60 s
 * old. That time is forgotten of a second that is neither the oldest nor the newest one.
 */
export class ModelWindow {
  slots: readonly Slot[] = [];
  last = 0;
  /** Admitted requests by a time that never goes back, to check every span of 60 s. */
  passed: number[] = [];

  /** The requests that count at `nowMs`. After a long jump back all of them count as of now. */
  total(nowMs: number): number {
    const second = secondOf(nowMs);
    if (second < this.last - WINDOW_SECONDS) {
      const count = sumOf(this.slots);
      this.slots = count === 0 ? [] : [{ second, count, ms: END_OF_SECOND }];
      this.last = second;
      this.passed = this.passed.map(() => nowMs);
    }
    return this.countedAt(nowMs);
  }

  /** Counts a request, or the tokens of one. */
  count(nowMs: number, weight = 1): void {
    this.moveTo(nowMs);
    const second = this.last;
    const ms = secondOf(nowMs) < second ? END_OF_SECOND : nowMs % 1000;
    const same = this.slots.find((slot) => slot.second === second);
    const others = this.slots.filter((slot) => slot !== same);
    this.slots = [...others, { second, count: (same?.count ?? 0) + weight, ms }];
    this.passed.push(Math.max(nowMs, this.passed.at(-1) ?? 0));
  }

  /** Gives back a part of what was counted at a time, as far as its second is in the window. */
  giveBack(atMs: number, amount: number): void {
    const counted = this.slots.map((slot) =>
      slot.second === secondOf(atMs) ? { ...slot, count: slot.count - amount } : slot,
    );
    this.slots = counted.filter(({ count }) => count > 0);
  }

  /** Moves the window to a time, and drops slots that no longer count. */
  moveTo(nowMs: number): void {
    const total = this.total(nowMs);
    this.slots = this.#valid(nowMs);
    if (secondOf(nowMs) > this.last) {
      this.slots = this.slots.map((slot, place) =>
        place === 0 ? slot : { ...slot, ms: END_OF_SECOND },
      );
      this.last = secondOf(nowMs);
    }
    if (sumOf(this.slots) !== total) throw new Error("A window changed by being moved");
  }

  /** The number of requests that count at `nowMs`, without moving the window. */
  countedAt(nowMs: number): number {
    return sumOf(this.#valid(nowMs));
  }

  /** The count of each second that counts at `nowMs`. */
  countsAt(nowMs: number): Map<number, number> {
    return new Map(this.#valid(nowMs).map(({ second, count }) => [second, count]));
  }

  /** The most requests in any 60 s. */
  get busiest(): number {
    const end = this.passed.at(-1) ?? 0;
    return this.passed.filter((time) => time > end - SPAN_MS).length;
  }

  #valid(nowMs: number): readonly Slot[] {
    const now = Math.max(secondOf(nowMs), this.last);
    return this.slots.filter(
      ({ second, ms }) => second > now - WINDOW_SECONDS && nowMs - second * 1000 - ms < SPAN_MS,
    );
  }
}

function sumOf(slots: readonly Slot[]): number {
  return slots.reduce((sum, { count }) => sum + count, 0);
}

function secondOf(ms: number): number {
  return Math.floor(ms / 1000);
}
