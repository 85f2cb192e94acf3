// Runs the time limits of requests. Every call begins several, and hardly any is reached: a timer
// of the platform for each would cost more than the work it limits, so deadlines of one length
// share one timer.

/** The owner of a deadline; `expire` is called when the time of the deadline is over. */
export interface Expiring {
  expire(): void;
}

/** A time limit that runs until it is reached or ended. */
export interface Deadline {
  /** Ends the deadline: its owner is not called any more. May be called again. */
  end(): void;
}

interface DeadlineClock {
  /** Milliseconds that never go back. */
  readonly monotonicMs: () => number;
  readonly strikeAfter: (delayMs: number, strike: () => void) => void;
}

/** Deadlines by their lengths. There must be few different lengths. */
export class Deadlines {
  readonly #clock: DeadlineClock;
  readonly #queues = new Map<number, DeadlineQueue>();

  constructor(clock: DeadlineClock) {
    this.#clock = clock;
  }

  /** Calls `owner.expire()` after `limitMs`. */
  begin(limitMs: number, owner: Expiring): Deadline {
    let queue = this.#queues.get(limitMs);
    if (queue === undefined) {
      queue = new DeadlineQueue(this.#clock, limitMs);
      this.#queues.set(limitMs, queue);
    }
    return queue.begin(owner);
  }
}

/** The deadlines of one length. Such deadlines are due in the order in which they began. */
class DeadlineQueue {
  readonly #clock: DeadlineClock;
  readonly #limitMs: number;
  #first: QueuedDeadline | null = null;
  #last: QueuedDeadline | null = null;
  /**
   * The timer stays when the first deadline ends early: it then finds nothing due, and is set
   * again.
   */
  #hasTimer = false;

  constructor(clock: DeadlineClock, limitMs: number) {
    this.#clock = clock;
    this.#limitMs = limitMs;
  }

  begin(owner: Expiring): Deadline {
    const last = this.#last;
    const queued = new QueuedDeadline(this, owner, this.#clock.monotonicMs() + this.#limitMs, last);
    this.#last = queued;
    if (last === null) this.#first = queued;
    else last.next = queued;
    if (!this.#hasTimer) this.#wait(this.#limitMs);
    return queued;
  }

  remove(queued: QueuedDeadline): void {
    const { previous, next } = queued;
    if (previous === null) this.#first = next;
    else previous.next = next;
    if (next === null) this.#last = previous;
    else next.previous = previous;
    // A long call keeps its ended deadline; the links would keep every later deadline with it.
    queued.previous = null;
    queued.next = null;
  }

  #wait(delayMs: number): void {
    this.#hasTimer = true;
    this.#clock.strikeAfter(delayMs, () => this.#strike());
  }

  /** If an owner throws, the deadlines after it still expire. */
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

/** A deadline, linked to its neighbours in the queue. */
class QueuedDeadline implements Deadline {
  next: QueuedDeadline | null = null;
  #isOver = false;

  // biome-ignore lint/complexity/useMaxParams: an object for each request to a provider
  constructor(
    readonly queue: DeadlineQueue,
    readonly owner: Expiring,
    readonly dueMs: number,
    public previous: QueuedDeadline | null,
  ) {}

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.queue.remove(this);
  }

  expire(): void {
    this.end();
    this.owner.expire();
  }
}

/** The deadlines of this process, on the clock that its timers use too. */
export const deadlines = new Deadlines({
  monotonicMs: () => performance.now(),
  // The work that waits for a reply keeps the process alive, so the timer need not.
  strikeAfter: (delayMs, strike) => void setTimeout(strike, delayMs).unref(),
});
