// How long an upstream may say nothing.

import { RouteFailure } from "../../../upstream/route-failure.ts";
import type { ProviderEntry } from "../catalogue.ts";

/** Ticks that make up the time which a stream may be silent. */
const TICKS = 4;

/** Ends a request whose upstream is silent for too long, or whose caller is gone. */
export class Silence {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal;
  #idleMs: number;
  readonly #usageMs: number;
  readonly #onAbort = () => this.#controller.abort(this.#caller.reason);
  #timer: Timer;
  #isStreaming = false;
  #silentTicks = 0;
  /** False while our own reader takes its time, which is no silence of the upstream's. */
  isWaiting = true;

  constructor(caller: AbortSignal, provider: ProviderEntry) {
    const { firstByteTimeoutMs, idleTimeoutMs, usageTimeoutMs } = provider;
    this.#caller = caller;
    this.#idleMs = idleTimeoutMs;
    this.#usageMs = Math.min(usageTimeoutMs, idleTimeoutMs);
    this.#timer = setTimeout(() => this.#giveUp(firstByteTimeoutMs), firstByteTimeoutMs);
    caller.addEventListener("abort", this.#onAbort);
    if (caller.aborted) this.#onAbort();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Something came. From the first time on the time between two of them counts. */
  heard(): void {
    this.#silentTicks = 0;
    if (this.#isStreaming) return;
    this.#isStreaming = true;
    clearTimeout(this.#timer);
    this.#timer = setInterval(() => this.#tick(), this.#idleMs / TICKS);
  }

  /** The reply has come; only its usage may follow. */
  heardEnd(): void {
    clearTimeout(this.#timer);
    this.#idleMs = this.#usageMs;
    this.#silentTicks = 0;
    this.#timer = setInterval(() => this.#tick(), this.#idleMs / TICKS);
  }

  /** A last limit, whatever is heard. */
  endWithin(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.end(), ms);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#caller.removeEventListener("abort", this.#onAbort);
    // Leaving early, for whatever reason, must end the request as well.
    this.#controller.abort();
  }

  /** A new timer for each chunk would cost more than the chunk: this one counts its own ticks. */
  #tick(): void {
    if (!this.isWaiting) this.#silentTicks = 0;
    else if (this.#silentTicks++ >= TICKS) this.#giveUp(this.#idleMs);
  }

  #giveUp(ms: number): void {
    clearTimeout(this.#timer);
    this.#controller.abort(new RouteFailure(`The server was silent for ${ms} ms`));
  }
}
