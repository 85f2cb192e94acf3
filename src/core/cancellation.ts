// Cancels work whose result is no longer needed. The platform's AbortController is made of native
// objects: a call would need three of them, each as expensive as a request's JSON.

export type CancelListener = (() => void) | { handleEvent(): void };

/** Shows if work must end, and the reason. An AbortSignal is also a CancelSignal. */
export interface CancelSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  /** Calls the listener once, when the work must end; never if the work is already cancelled. */
  addEventListener(type: "abort", listener: CancelListener): void;
  removeEventListener(type: "abort", listener: CancelListener): void;
}

/** Cancels work, and is the signal that the work watches: one object for both. */
export class Cancellation implements CancelSignal {
  /** The first listener. Most signals have only one listener, which needs no list. */
  #listener: CancelListener | null = null;
  /** The listeners after the first. */
  #others: CancelListener[] | null = null;
  #isAborted = false;
  #reason: unknown;

  /**
   * The signal for work that must stop when this Cancellation is aborted, but must not abort it.
   */
  get signal(): CancelSignal {
    return this;
  }

  get aborted(): boolean {
    return this.#isAborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  /** Only the first call has an effect. */
  abort(reason: unknown = new DOMException("The work was cancelled", "AbortError")): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#reason = reason;
    this.#callListeners();
  }

  /**
   * Calls one listener after the other, because a listener may remove later ones; calls all of them
   * even if one throws.
   */
  #callListeners(): void {
    const listener = this.#listener;
    if (listener === null) return;
    this.#listener = this.#others?.shift() ?? null;
    try {
      if (typeof listener === "function") listener();
      else listener.handleEvent();
    } finally {
      this.#callListeners();
    }
  }

  addEventListener(_: "abort", listener: CancelListener): void {
    if (this.#isAborted) return;
    if (this.#listener === null) {
      this.#listener = listener;
    } else {
      this.#others ??= [];
      this.#others.push(listener);
    }
  }

  removeEventListener(_: "abort", listener: CancelListener): void {
    if (this.#listener === listener) {
      this.#listener = this.#others?.shift() ?? null;
      return;
    }
    const at = this.#others?.indexOf(listener) ?? -1;
    if (at >= 0) this.#others?.splice(at, 1);
  }
}

/** Throws the reason if the work must end. */
export function throwIfCancelled({ aborted, reason }: CancelSignal): void {
  if (aborted) throw reason;
}

/** The same signal for an interface of the platform. */
export function abortSignalOf(signal: CancelSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  return controller.signal;
}
