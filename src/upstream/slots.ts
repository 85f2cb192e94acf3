// Shares the simultaneous requests to one server between accounts: an account with slow or many
// requests must leave room for others.

import type { CancelSignal } from "../core/cancellation.ts";
import type { Clock } from "../core/clock.ts";

interface WaitingRequest {
  readonly account: string;
  /** Called at the end of the wait: `hasSlot` is true if the request got a slot. */
  readonly end: (hasSlot: boolean) => void;
}

export interface WaitOptions {
  readonly clock: Pick<Clock, "after">;
  readonly forMs: number;
  /** Aborted when the waiting caller is gone. */
  readonly signal: CancelSignal;
}

/** At most this many requests may wait per slot; the account with most of them gives way. */
export const WAITING_A_SLOT = 4;

/** An account may have this many slots for each free slot. */
const SLOTS_A_FREE_ONE = 2;

/**
 * An account may have twice as many slots as are free. So a single account gets two thirds, and
 * each further account gets two thirds of the rest. However long accounts keep their slots, there
 * is a slot for the next account (D-545).
 */
export class Slots {
  #max: number;
  #taken = 0;
  readonly #takenBy = new Map<string, number>();
  /** The waiting requests, in order of arrival. */
  #waiting: WaitingRequest[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  /** Changes the number of slots; requests in progress are not affected. */
  resize(max: number): void {
    if (max === this.#max) return;
    this.#max = max;
    this.#giveOut();
  }

  /** True if `take` would succeed now. */
  isFreeFor(account: string): boolean {
    return this.#mayTake(account) && !this.#waiting.some((one) => this.#comesFirst(one, account));
  }

  /** Takes a slot; false if this account can have none now. Each slot must be given back. */
  take(account: string): boolean {
    if (!this.isFreeFor(account)) return false;
    this.#count(account, 1);
    return true;
  }

  /**
   * Waits for a slot. False if the wait took too long, if too many requests wait already, or if the
   * place was given to another account.
   */
  wait(account: string, { clock, forMs, signal }: WaitOptions): Promise<boolean> {
    if (this.take(account)) return Promise.resolve(true);
    if (signal.aborted || !this.#hasPlaceFor(account)) return Promise.resolve(false);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const giveUp = () => waiting.end(false);
    const callOff = clock.after(forMs, giveUp);
    const waiting: WaitingRequest = {
      account,
      end: (hasSlot) => {
        callOff();
        signal.removeEventListener("abort", giveUp);
        this.#waiting = this.#waiting.filter((one) => one !== waiting);
        resolve(hasSlot);
      },
    };
    signal.addEventListener("abort", giveUp);
    this.#waiting.push(waiting);
    return promise;
  }

  /** Gives a slot back; the waiting account with the fewest slots gets it. */
  giveBack(account: string): void {
    this.#count(account, -1);
    this.#giveOut();
  }

  #giveOut(): void {
    for (let next = this.#next(); next !== null; next = this.#next()) {
      this.#count(next.account, 1);
      next.end(true);
    }
  }

  #next(): WaitingRequest | null {
    let first: WaitingRequest | null = null;
    for (const one of this.#waiting) {
      if (!this.#mayTake(one.account)) continue;
      if (first === null || this.#has(one.account) < this.#has(first.account)) first = one;
    }
    return first;
  }

  /**
   * True if one more request may wait. If too many wait, the last request of the account with most
   * of them must go, so that one account alone cannot keep others from waiting.
   */
  #hasPlaceFor(account: string): boolean {
    if (this.#waiting.length < this.#max * WAITING_A_SLOT) return true;
    const counts = new Map<string, number>();
    let most = account;
    for (const one of this.#waiting) {
      const count = (counts.get(one.account) ?? 0) + 1;
      counts.set(one.account, count);
      if (count > (counts.get(most) ?? 0)) most = one.account;
    }
    // With one request more than the newcomer's account, the largest account has a fair share.
    if ((counts.get(most) ?? 0) <= (counts.get(account) ?? 0) + 1) return false;
    this.#waiting.findLast((one) => one.account === most)?.end(false);
    return true;
  }

  #mayTake(account: string): boolean {
    return this.#has(account) < SLOTS_A_FREE_ONE * (this.#max - this.#taken);
  }

  #comesFirst({ account }: WaitingRequest, other: string): boolean {
    return this.#mayTake(account) && this.#has(account) <= this.#has(other);
  }

  #has(account: string): number {
    return this.#takenBy.get(account) ?? 0;
  }

  #count(account: string, change: 1 | -1): void {
    this.#taken += change;
    const has = this.#has(account) + change;
    if (has === 0) this.#takenBy.delete(account);
    else this.#takenBy.set(account, has);
  }
}
