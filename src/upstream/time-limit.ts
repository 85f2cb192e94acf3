// The time limit of requests to a server, and the caller who may leave before it: one signal for
// both. It costs a third of `AbortSignal.any` with `AbortSignal.timeout`, which would be made for
// every call, and no timer is left when the requests are over.

import { RouteFailure } from "./route-failure.ts";

export class TimeLimit {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | null;
  readonly #timer: Timer;
  readonly #onLeave = () => this.#controller.abort(this.#caller?.reason);

  /** The time begins now. `caller` is aborted when nobody waits for the replies any more. */
  constructor(limitMs: number, caller: AbortSignal | null = null) {
    this.#caller = caller;
    this.#timer = setTimeout(() => {
      this.#controller.abort(new RouteFailure("The server did not answer in time"));
    }, limitMs);
    caller?.addEventListener("abort", this.#onLeave);
    if (caller?.aborted === true) this.#onLeave();
  }

  /** The signal for the requests; its reason is a RouteFailure, or the caller's own. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Call this when the requests are over. */
  end(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener("abort", this.#onLeave);
  }
}
