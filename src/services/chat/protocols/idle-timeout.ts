// The timeouts of a streamed upstream request.

import { Cancellation, type CancelSignal } from "../../../core/cancellation.ts";
import { RouteFailure } from "../../../upstream/route-failure.ts";
import type { ProviderEntry } from "../models/catalogue.ts";

/** The number of timer ticks in one idle timeout. */
const TICKS = 4;

/** Aborts a request if its upstream sends nothing for too long, or if its caller is gone. */
export class IdleTimeout extends Cancellation {
  readonly #caller: CancelSignal;
  #idleMs: number;
  readonly #usageMs: number;
  #timer: Timer;
  #isStreaming = false;
  #silentTicks = 0;
  /** False while our own reader is busy, which must not count as idle time of the upstream. */
  isWaiting = true;

  constructor(caller: CancelSignal, provider: ProviderEntry) {
    super();
    const { firstByteTimeoutMs, idleTimeoutMs, usageTimeoutMs } = provider;
    this.#caller = caller;
    this.#idleMs = idleTimeoutMs;
    this.#usageMs = Math.min(usageTimeoutMs, idleTimeoutMs);
    this.#timer = setTimeout(() => this.#giveUp(firstByteTimeoutMs), firstByteTimeoutMs);
    caller.addEventListener("abort", this);
    if (caller.aborted) this.handleEvent();
  }

  /** The caller is gone. */
  handleEvent(): void {
    this.abort(this.#caller.reason);
  }

  /** Call this when data arrives. The first call replaces the first-byte timeout. */
  onData(): void {
    this.#silentTicks = 0;
    if (this.#isStreaming) return;
    this.#isStreaming = true;
    clearTimeout(this.#timer);
    this.#timer = setInterval(() => this.#tick(), this.#idleMs / TICKS);
  }

  /** Call this when the reply is complete and only its usage may follow. */
  onReplyEnd(): void {
    clearTimeout(this.#timer);
    this.#idleMs = this.#usageMs;
    this.#silentTicks = 0;
    this.#timer = setInterval(() => this.#tick(), this.#idleMs / TICKS);
  }

  /** Ends the request after this time, even if data arrives. */
  endWithin(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.end(), ms);
  }

  /** Ends the request and stops all timers. */
  end(): void {
    clearTimeout(this.#timer);
    this.#caller.removeEventListener("abort", this);
    // If the reader stops early, the request must end too.
    this.abort();
  }

  /** Counts ticks, because a new timer for each chunk would cost more than the chunk. */
  #tick(): void {
    if (!this.isWaiting) this.#silentTicks = 0;
    else if (this.#silentTicks++ >= TICKS) this.#giveUp(this.#idleMs);
  }

  #giveUp(ms: number): void {
    clearTimeout(this.#timer);
    this.abort(new RouteFailure(`The server was silent for ${ms} ms`));
  }
}
