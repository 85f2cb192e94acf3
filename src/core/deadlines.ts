// Time limits of requests. Every call begins several, and hardly any is reached: a timer of the
// platform for each would cost more than what it limits, so those of one length share one.

/** Is told that its time is over. */
export interface Expiring {
  expire(): void;
}

/** A time that runs, until it is over or ended. */
export interface Deadline {
  /** Nobody is told any more. May be called again. */
  end(): void;
}

interface DeadlineClock {
  /** Milliseconds that never go back. */
  readonly monotonicMs: () => number;
  readonly strikeAfter: (delayMs: number, strike: () => void) => void;
}

/** Deadlines by their lengths, of which there must be few. */
export class Deadlines {
  readonly #clock: DeadlineClock;
  readonly #lines = new Map<number, Line>();

  constructor(clock: DeadlineClock) {
    this.#clock = clock;
  }

  /** Tells `owner` when so much time is over. */
  begin(limitMs: number, owner: Expiring): Deadline {
    let line = this.#lines.get(limitMs);
    if (line === undefined) {
      line = new Line(this.#clock, limitMs);
      this.#lines.set(limitMs, line);
    }
    return line.begin(owner);
  }
}

/** Those of one length. They are due in the order in which they began. */
class Line {
  readonly #clock: DeadlineClock;
  readonly #limitMs: number;
  #first: Place | null = null;
  #last: Place | null = null;
  /** It stays when the first one ends: it then finds nothing due, and waits for the next. */
  #hasTimer = false;

  constructor(clock: DeadlineClock, limitMs: number) {
    this.#clock = clock;
    this.#limitMs = limitMs;
  }

  begin(owner: Expiring): Deadline {
    const last = this.#last;
    const place = new Place(this, owner, this.#clock.monotonicMs() + this.#limitMs, last);
    this.#last = place;
    if (last === null) this.#first = place;
    else last.next = place;
    if (!this.#hasTimer) this.#wait(this.#limitMs);
    return place;
  }

  remove(place: Place): void {
    const { previous, next } = place;
    if (previous === null) this.#first = next;
    else previous.next = next;
    if (next === null) this.#last = previous;
    else next.previous = previous;
    // Who keeps a place that has ended, as a long call does, must not keep all that came after it.
    place.previous = null;
    place.next = null;
  }

  #wait(delayMs: number): void {
    this.#hasTimer = true;
    this.#clock.strikeAfter(delayMs, () => this.#strike());
  }

  /** Also if an owner throws, the others are told. */
  #strike(): void {
    const nowMs = this.#clock.monotonicMs();
    try {
      while (this.#first !== null && this.#first.dueMs <= nowMs) this.#first.expire();
    } finally {
      this.#hasTimer = false;
      if (this.#first !== null) this.#wait(Math.max(0, this.#first.dueMs - nowMs));
    }
  }
}

/** A deadline in its line. */
class Place implements Deadline {
  next: Place | null = null;
  #isOver = false;

  constructor(
    readonly line: Line,
    readonly owner: Expiring,
    readonly dueMs: number,
    public previous: Place | null,
  ) {}

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.line.remove(this);
  }

  expire(): void {
    this.end();
    this.owner.expire();
  }
}

/** Those of this process, by the time that its timers have too. */
export const deadlines = new Deadlines({
  monotonicMs: () => performance.now(),
  // What waits for a reply keeps the process, so the timer need not.
  strikeAfter: (delayMs, strike) => void setTimeout(strike, delayMs).unref(),
});
