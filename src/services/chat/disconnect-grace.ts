// What happens to a call without streaming when its caller leaves. A server that has accepted the
// request continues and charges us. So we wait some time for its reply and charge it to the
// account.

import { clientLeft } from "../../calls/settling.ts";
import { Cancellation, type CancelSignal } from "../../core/cancellation.ts";
import type { Clock } from "../../core/clock.ts";
import type { RequestWatch } from "../../upstream/fallback.ts";

/** How long to wait for the reply after the caller has left (D-174). */
const REPLY_MS = 60_000;

/** Delays the abort of upstream requests, which have its signal, after the caller has left. */
export class DisconnectGrace extends Cancellation implements RequestWatch {
  readonly #clock: Clock;
  readonly #caller: CancelSignal;
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
    caller.addEventListener("abort", this);
    if (caller.aborted) this.handleEvent();
  }

  /** A request to a server begins. Throws if the caller has left already. */
  begin(): void {
    if (this.#caller.aborted) throw clientLeft();
    this.#isUnderWay = true;
  }

  /** The request is over. */
  end(): void {
    this.#isUnderWay = false;
  }

  /** Call this when the call is over. */
  close(): void {
    // The listener stays: the caller's signal ends with the request, and removing costs more.
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
