// Divides repeated work into turns by the clock, so that not all of it is done at one moment.

export interface TurnsTerms {
  /** The time in which each part of the work is due once. */
  readonly everyMs: number;
  readonly count: number;
  readonly now: () => number;
}

export class Turns {
  readonly #terms: TurnsTerms;
  /** The number of the turn up to which all parts were due. */
  #last: number;

  constructor(terms: TurnsTerms) {
    this.#terms = terms;
    this.#last = this.#current();
  }

  #current(): number {
    const { everyMs, count, now } = this.#terms;
    return Math.floor(now() / (everyMs / count));
  }

  /**
   * The parts of the work, by number, whose turns came since the last call. A timer that fires late
   * gets all turns that it missed; after a clock that was put back, all parts are due.
   */
  due(): (part: number) => boolean {
    const { count } = this.#terms;
    const current = this.#current();
    const passed = current < this.#last ? count : current - this.#last;
    this.#last = current;
    return (part) => {
      // The number of turns since the last turn of this part.
      const age = (((current - part) % count) + count) % count;
      return age < passed;
    };
  }
}
