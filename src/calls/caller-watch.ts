// Aborts requests to providers when the caller of a call without streaming disconnects.

import { Cancellation, type CancelSignal } from "../core/cancellation.ts";
import type { Clock } from "../core/clock.ts";
import type { Deadline, Expiring } from "../core/deadlines.ts";
import { clientLeft } from "./settling.ts";

/**
 * A call that is answered sooner does not listen to its caller, because a listener costs more than
 * a look at the signal.
 */
const LISTEN_AFTER_MS = 250;

/** Aborts the requests, which have its signal, when the caller has left (D-541). */
export class CallerWatch extends Cancellation implements Expiring {
  readonly #caller: CancelSignal;
  readonly #listenAfter: Deadline;
  #isOver = false;

  /** `caller` is aborted when the caller leaves. */
  constructor(clock: Pick<Clock, "deadline">, caller: CancelSignal) {
    super();
    this.#caller = caller;
    this.#listenAfter = clock.deadline(LISTEN_AFTER_MS, this);
  }

  /** The call takes time: from now on the caller may leave at any moment. */
  expire(): void {
    if (this.#caller.aborted) this.handleEvent();
    else this.#caller.addEventListener("abort", this);
  }

  /** A request to a server begins. Throws if the caller has left already. */
  begin(): void {
    if (!this.#caller.aborted) return;
    // The event for the caller's disconnect may still be due. The abort keeps other servers from
    // being asked.
    this.abort();
    throw clientLeft();
  }

  /** The request is over. */
  end(): void {}

  /** The caller leaves. */
  handleEvent(): void {
    if (!this.#isOver) this.onLeft();
  }

  protected onLeft(): void {
    this.abort();
  }

  /** Call this when the call is over. */
  close(): void {
    this.#listenAfter.end();
    // A listener stays: the caller's signal ends with the request, and its removal costs more.
    this.#isOver = true;
  }
}
