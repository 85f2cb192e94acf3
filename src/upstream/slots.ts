// The requests that one server has under way at once, shared by accounts: whoever is slow or many
// must leave room for others.

import type { Clock } from "../core/clock.ts";

interface Waiting {
  readonly account: string;
  /** Answers whether it got a slot. */
  readonly end: (hasSlot: boolean) => void;
}

export interface WaitOptions {
  readonly clock: Pick<Clock, "after">;
  readonly forMs: number;
  /** Whoever waited for is gone. */
  readonly signal: AbortSignal;
}

/** So many requests may wait for each slot that there is. */
const WAITING_A_SLOT = 4;

/**
 * An account may have a third of the slots, and more only while more than another third is free. So
 * one account alone has two thirds, and there is room for whoever comes next.
 */
export class Slots {
  #max: number;
  #taken = 0;
  readonly #takenBy = new Map<string, number>();
  /** In the order of their arrival. */
  #waiting: Waiting[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  /** Changes how many there are; requests under way are not affected. */
  resize(max: number): void {
    this.#max = max;
    this.#giveOut();
  }

  /** Whether `take` would succeed now. */
  isFreeFor(account: string): boolean {
    return this.#mayTake(account) && !this.#waiting.some((one) => this.#comesFirst(one, account));
  }

  /** Takes a slot, unless there is none for this account. Each must be given back. */
  take(account: string): boolean {
    if (!this.isFreeFor(account)) return false;
    this.#count(account, 1);
    return true;
  }

  /** Takes a slot as soon as there is one; false when that took too long, or so many wait. */
  wait(account: string, { clock, forMs, signal }: WaitOptions): Promise<boolean> {
    if (this.take(account)) return Promise.resolve(true);
    if (signal.aborted || this.#waiting.length >= this.#max * WAITING_A_SLOT) {
      return Promise.resolve(false);
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const giveUp = () => waiting.end(false);
    const callOff = clock.after(forMs, giveUp);
    const waiting: Waiting = {
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

  /** Gives a slot back; it goes to the account that waits and has the fewest. */
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

  #next(): Waiting | null {
    let first: Waiting | null = null;
    for (const one of this.#waiting) {
      if (!this.#mayTake(one.account)) continue;
      if (first === null || this.#has(one.account) < this.#has(first.account)) first = one;
    }
    return first;
  }

  #mayTake(account: string): boolean {
    const free = this.#max - this.#taken;
    if (free <= 0) return false;
    return this.#has(account) < Math.ceil(this.#max / 3) || free > Math.floor(this.#max / 3);
  }

  #comesFirst({ account }: Waiting, other: string): boolean {
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
