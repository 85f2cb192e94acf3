// Aborts the upstream request of a call, for the first reason that occurs.

import type { Hold } from "../../actors/account.ts";
import { Cancellation, type CancelSignal } from "../core/cancellation.ts";
import { ApiError, DISCONNECTED } from "../core/errors.ts";

export interface InterruptionReason {
  /** How the log names the reason. */
  readonly code: string;
  /** The error for the caller; null if the caller is gone. */
  readonly error: ApiError | null;
}

const CLIENT_GONE: InterruptionReason = { code: DISCONNECTED.code, error: null };

export class Interruption {
  readonly #upstream = new Cancellation();
  readonly #client: CancelSignal;
  readonly #hold: Hold;
  readonly #onClientGone = () => this.interrupt(CLIENT_GONE);
  readonly #onHoldLost = () => this.interrupt(holdLost(this.#hold.signal));
  #reason: InterruptionReason | null = null;
  /** Called once, at the moment of the interruption. */
  onInterrupt: () => void = () => {};

  constructor(client: CancelSignal, hold: Hold) {
    this.#client = client;
    this.#hold = hold;
    client.addEventListener("abort", this.#onClientGone);
    hold.signal.addEventListener("abort", this.#onHoldLost);
    if (client.aborted) this.#onClientGone();
    else if (hold.signal.aborted) this.#onHoldLost();
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
    this.onInterrupt();
  }

  clientGone(): void {
    this.interrupt(CLIENT_GONE);
  }

  stopListening(): void {
    this.#client.removeEventListener("abort", this.#onClientGone);
    this.#hold.signal.removeEventListener("abort", this.#onHoldLost);
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
