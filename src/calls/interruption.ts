// Aborts the upstream request of a call, for the first reason that occurs.

import type { Hold } from "../../actors/account.ts";
import { Cancellation, type CancelSignal } from "../core/cancellation.ts";
import { ApiError, DISCONNECTED } from "../core/errors.ts";

export interface InterruptionReason {
  /** The name of the reason in the log. */
  readonly code: string;
  /** The error for the caller; null if the caller is gone. */
  readonly error: ApiError | null;
}

/** Called once, at the moment of an interruption. */
export interface InterruptionListener {
  onInterrupt(): void;
}

const CLIENT_GONE: InterruptionReason = { code: DISCONNECTED.code, error: null };

export class Interruption {
  readonly #upstream = new Cancellation();
  readonly #client: CancelSignal;
  readonly #hold: Hold;
  #reason: InterruptionReason | null = null;
  listener: InterruptionListener | null = null;

  constructor(client: CancelSignal, hold: Hold) {
    this.#client = client;
    this.#hold = hold;
    client.addEventListener("abort", this);
    hold.signal.addEventListener("abort", this);
    if (client.aborted || hold.signal.aborted) this.handleEvent();
  }

  /** The client is gone, or the hold is lost. */
  handleEvent(): void {
    this.interrupt(this.#client.aborted ? CLIENT_GONE : holdLost(this.#hold.signal));
  }

  /** The signal for the upstream request. */
  get signal(): CancelSignal {
    return this.#upstream;
  }

  get reason(): InterruptionReason | null {
    return this.#reason;
  }

  interrupt(reason: InterruptionReason): void {
    if (this.#reason !== null) return;
    this.#reason = reason;
    this.stopListening();
    this.#upstream.abort();
    this.listener?.onInterrupt();
  }

  clientGone(): void {
    this.interrupt(CLIENT_GONE);
  }

  stopListening(): void {
    this.#client.removeEventListener("abort", this);
    this.#hold.signal.removeEventListener("abort", this);
  }
}

function holdLost(signal: CancelSignal): InterruptionReason {
  const reason: unknown = signal.reason;
  const error =
    reason instanceof ApiError
      ? reason
      : new ApiError("service_unavailable", "The account may not go on with this call", {
          cause: reason,
        });
  return { code: error.code, error };
}
