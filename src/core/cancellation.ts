// Ends work that nobody waits for any more. The platform's AbortController is made of native
// objects: a call would need three of them, each as expensive as a request's JSON.

export type CancelListener = (() => void) | { handleEvent(): void };

/** Says whether work must end, and why. An AbortSignal is one too. */
export interface CancelSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  /** Has the listener called once, when the work must end; not if it must already. */
  addEventListener(type: "abort", listener: CancelListener): void;
  removeEventListener(type: "abort", listener: CancelListener): void;
}

/** Both in one: what ends the work, and its signal. */
export class Cancellation implements CancelSignal {
  /** The first listener. Most have only one, which needs no list. */
  #listener: CancelListener | null = null;
  /** Those after it. */
  #others: CancelListener[] | null = null;
  #isAborted = false;
  #reason: unknown;

  /** Give this to work that must stop when this is cancelled, but must not cancel it. */
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

  /** One by one, because a listener may remove those after it; all, even if one throws. */
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
