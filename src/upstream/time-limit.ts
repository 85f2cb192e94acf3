// Ends requests to a server after a time, or earlier if the caller leaves: one signal for both.

import { Cancellation, type CancelSignal } from "../core/cancellation.ts";
import { type Deadline, deadlines, type Expiring } from "../core/deadlines.ts";
import { RouteFailure } from "./route-failure.ts";

/** The signal is for the requests; its reason is a RouteFailure, or the caller's own reason. */
export class TimeLimit extends Cancellation implements Expiring {
  readonly #caller: CancelSignal | null;
  readonly #deadline: Deadline;
  #isOver = false;

  /** The time begins now. `caller` is aborted when the replies are not needed any more. */
  constructor(limitMs: number, caller: CancelSignal | null = null) {
    super();
    this.#caller = caller;
    this.#deadline = deadlines.begin(limitMs, this);
    caller?.addEventListener("abort", this);
    if (caller?.aborted === true) this.handleEvent();
  }

  expire(): void {
    this.abort(new RouteFailure("The server did not answer in time"));
  }

  /** The caller has left. */
  handleEvent(): void {
    if (!this.#isOver) this.abort(this.#caller?.reason);
  }

  /** Call this when the requests are over. */
  end(): void {
    this.#deadline.end();
    // The listener stays: the caller's signal ends with the call, and removing the listener costs
    // more.
    this.#isOver = true;
  }
}
