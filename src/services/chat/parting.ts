// A plain call whose caller leaves. What a server has accepted by then it works on, and somebody
// pays for it: the reply is waited for, a while, and charged as if the caller were still there.

import { clientLeft } from "../../calls/settling.ts";
import type { Clock } from "../../core/clock.ts";

/** How long a server may go on with a request whose caller is gone (D-174). */
const REPLY_MS = 60_000;

export class Parting {
  readonly #clock: Clock;
  readonly #caller: AbortSignal;
  readonly #upstream = new AbortController();
  #isUnderWay = false;
  #isOver = false;
  #callOff: () => void = () => {};
  /** True once a server that had accepted the request was waited for in vain. */
  wasInVain = false;

  /** `caller` is aborted when the caller leaves. */
  constructor(clock: Clock, caller: AbortSignal) {
    this.#clock = clock;
    this.#caller = caller;
    caller.addEventListener("abort", this.#onLeave);
    if (caller.aborted) this.#onLeave();
  }

  /** For the upstream requests of the call. */
  get signal(): AbortSignal {
    return this.#upstream.signal;
  }

  /** Runs a request to a server, unless the caller is gone. Throws what it throws. */
  readonly around = async <Result>(ask: () => Promise<Result>): Promise<Result> => {
    if (this.#caller.aborted) throw clientLeft();
    this.#isUnderWay = true;
    try {
      return await ask();
    } finally {
      this.#isUnderWay = false;
    }
  };

  /** The call is over; nothing is waited for any longer. */
  end(): void {
    this.#isOver = true;
    this.#caller.removeEventListener("abort", this.#onLeave);
    this.#callOff();
  }

  readonly #onLeave = (): void => {
    if (this.#isOver) return;
    if (!this.#isUnderWay) {
      this.#upstream.abort();
      return;
    }
    this.#callOff = this.#clock.after(REPLY_MS, () => {
      this.wasInVain = this.#isUnderWay;
      this.#upstream.abort();
    });
  };
}
