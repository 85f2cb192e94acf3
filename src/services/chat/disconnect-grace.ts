// Waits for the reply of a call without streaming whose caller has left: a server that has accepted
// the request continues and charges us, so the reply is charged to the account.

import { CallerWatch } from "../../calls/caller-watch.ts";
import type { CancelSignal } from "../../core/cancellation.ts";
import type { Clock } from "../../core/clock.ts";

/** The time to wait for the reply after the caller has left (D-175). */
export const REPLY_MS = 60_000;

/**
 * The signal of upstream requests. If a server has accepted the request, the signal aborts only
 * some time after the caller has left.
 */
export class DisconnectGrace extends CallerWatch {
  readonly #clock: Clock;
  readonly #replyMs: number;
  #isUnderWay = false;
  #callOff: (() => void) | null = null;
  /** True if a server had accepted the request but did not reply in time. */
  hasTimedOut = false;

  /** `caller` is aborted when the caller leaves; a request goes on for `replyMs` after that. */
  constructor(clock: Clock, caller: CancelSignal, replyMs = REPLY_MS) {
    super(clock, caller);
    this.#clock = clock;
    this.#replyMs = replyMs;
    if (caller.aborted) this.handleEvent();
  }

  override begin(): void {
    super.begin();
    this.#isUnderWay = true;
  }

  override end(): void {
    this.#isUnderWay = false;
  }

  override close(): void {
    super.close();
    this.#callOff?.();
  }

  protected override onLeft(): void {
    if (!this.#isUnderWay) {
      this.abort();
      return;
    }
    this.#callOff = this.#clock.after(this.#replyMs, () => {
      this.hasTimedOut = this.#isUnderWay;
      this.abort();
    });
  }
}
