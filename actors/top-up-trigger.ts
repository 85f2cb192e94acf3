// Reports an account that may need an automatic top-up (SPEC 8.7.3). The report only requests a
// check: src/payments/auto-top-up.ts decides under a lock whether anything is charged.

import type { ErrorCode } from "../src/core/errors.ts";
import { add, type NanoUsd } from "../src/core/money/money.ts";

/** The reason why an account may need money. */
export interface TopUpNeed {
  readonly accountId: string;
  readonly bucket: number;
  /** The call that was refused; null after a settlement. */
  readonly refused: { readonly bound: NanoUsd; readonly spendable: NanoUsd } | null;
}

/** Receives the reports, and has each account checked. */
export interface TopUpListener {
  needed(need: TopUpNeed): Promise<void>;
  /** A need could not be sent; the reconciliation of payments finds it. */
  lost(accountId: string, error: unknown): void;
}

type AutoTopUpLimits = { readonly amount: NanoUsd; readonly threshold: NanoUsd } | null;

export class TopUpTrigger {
  #telling: Promise<void> | null = null;
  #next: TopUpNeed | null = null;

  constructor(
    readonly account: Pick<TopUpNeed, "accountId" | "bucket">,
    readonly listener: TopUpListener | undefined,
  ) {}

  /** Called after a settlement with the paid balance that is left, its held part included. */
  settled(terms: AutoTopUpLimits, ownedPaid: NanoUsd): void {
    if (terms !== null && ownedPaid < terms.threshold) this.#need(null);
  }

  /** Called after a refusal. True if a top-up would admit the call, and a check was requested. */
  refused(
    terms: AutoTopUpLimits,
    { code, spendable }: { readonly code: ErrorCode; readonly spendable: NanoUsd },
    { bound }: { readonly bound: NanoUsd },
  ): boolean {
    if (terms === null || this.listener === undefined || code !== "insufficient_credits")
      return false;
    if (add(spendable, terms.amount) < bound) return false;
    this.#need({ bound, spendable });
    return true;
  }

  /** The check for a need failed. */
  failed(error: unknown): void {
    this.listener?.lost(this.account.accountId, error);
  }

  /** One notification at a time; later needs are merged, so a burst sends at most two. */
  #need(refused: TopUpNeed["refused"]): void {
    const { listener } = this;
    if (listener === undefined) return;
    const need = { ...this.account, refused };
    if (this.#telling !== null) {
      this.#next = need;
      return;
    }
    this.#telling = listener
      .needed(need)
      .catch((error: unknown) => this.failed(error))
      .finally(() => {
        this.#telling = null;
        const next = this.#next;
        this.#next = null;
        if (next !== null) this.#need(next.refused);
      });
  }
}
