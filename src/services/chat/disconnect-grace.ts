// What happens to a call without streaming when its caller leaves. A server that has accepted the
// request continues and charges us. So we wait some time for its reply and charge it to the
// account.

import { clientLeft } from "../../calls/settling.ts";
import { Cancellation, type CancelSignal } from "../../core/cancellation.ts";
import type { Clock } from "../../core/clock.ts";
import type { Deadline, Expiring } from "../../core/deadlines.ts";
import type { RequestWatch } from "../../upstream/fallback.ts";

/** How long to wait for the reply after the caller has left (D-174). */
const REPLY_MS = 60_000;
/** A call that is answered before does not listen to its caller: that costs more than looking. */
const LISTEN_AFTER_MS = 250;

/** Delays the abort of upstream requests, which have its signal, after the caller has left. */
export class DisconnectGrace extends Cancellation implements RequestWatch, Expiring {
  readonly #clock: Clock;
  readonly #caller: CancelSignal;
  readonly #listenAfter: Deadline;
  #isUnderWay = false;
  #isOver = false;
  #callOff: (() => void) | null = null;
  /** True if a server had accepted the request but did not reply in time. */
  hasTimedOut = false;

  /** `caller` is aborted when the caller leaves. */
  constructor(clock: Clock, caller: CancelSignal) {
    super();
    this.#clock = clock;
    this.#caller = caller;
    this.#listenAfter = clock.deadline(LISTEN_AFTER_MS, this);
    if (caller.aborted) this.handleEvent();
  }

  /** The call takes time: from now on the caller may leave at any moment. */
  expire(): void {
    if (this.#caller.aborted) this.handleEvent();
    else this.#caller.addEventListener("abort", this);
  }

  /** A request to a server begins. Throws if the caller has left already. */
  begin(): void {
    if (this.#caller.aborted) {
      // Nothing may have told us yet that the caller left. The abort keeps other models from being
      // asked.
      this.abort();
      throw clientLeft();
    }
    this.#isUnderWay = true;
  }

  /** The request is over. */
  end(): void {
    this.#isUnderWay = false;
  }

  /** Call this when the call is over. */
  close(): void {
    this.#listenAfter.end();
    // A listener stays: the caller's signal ends with the request, and removing costs more.
    this.#isOver = true;
    this.#callOff?.();
  }

  /** The caller leaves. */
  handleEvent(): void {
    if (this.#isOver) return;
    if (!this.#isUnderWay) {
      this.abort();
      return;
    }
    this.#callOff = this.#clock.after(REPLY_MS, () => {
      this.hasTimedOut = this.#isUnderWay;
      this.abort();
    });
  }
}
