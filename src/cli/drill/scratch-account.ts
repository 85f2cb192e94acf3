// The account that a drill works on: new, with some cents, marked in its activity, and closed after
// it. No other account is touched.

import { type Balances, readAccountSummary } from "../../accounts/account-summary.ts";
import {
  type AdministrationDeps,
  changeAccount,
  createAccount,
  createKey,
  findAccount,
  revokeKey,
} from "../../accounts/administration.ts";
import { closeAccount } from "../../accounts/closing.ts";
import { adjustBalance } from "../../accounts/payments.ts";
import { MINUTE_MS } from "../../core/durations.ts";
import { add, type NanoUsd, nano, ZERO } from "../../core/money/money.ts";
import type { AccountRow } from "../../store/accounts/accounts.ts";
import { noted } from "../noted.ts";
import type { Stores } from "../stores.ts";

/** The mark in the activity of the account, and the reason of each change of its balance. */
const MARK = "farebox drill";
/**
 * The key ends by itself after this time, also if the drill was killed. The last call of a drill
 * comes long before.
 */
const KEY_MS = 15 * MINUTE_MS;
const LOOK_MS = 500;

export class ScratchAccount {
  private constructor(
    readonly stores: Stores,
    readonly row: AccountRow,
    readonly apiKey: { readonly id: string; readonly secret: string },
  ) {}

  get id(): string {
    return this.row.id;
  }

  /**
   * Makes the account, without any money, and its key. Names the account before anything else can
   * fail, and closes it if it gets no key.
   */
  static async open(stores: Stores): Promise<ScratchAccount> {
    const deps = marked(stores);
    const terms = { surface: "gateway", email: null, freeCredit: false } as const;
    const { id } = await createAccount(deps, { ...terms, name: MARK });
    stores.warn(`Scratch account ${id}: if the drill is killed, close it with`);
    stores.warn(`  farebox account close ${id}`);
    try {
      // The limits of requests and open calls are so high that the calls of the race run in
      // parallel.
      await changeAccount(deps, id, { kind: "contract", contract: "enterprise" });
      const { id: keyId, key: secret } = await createKey(deps, id, {
        name: MARK,
        scopes: ["models"],
        ipAllowlist: [],
        monthlyLimit: null,
        endsAt: new Date(deps.now() + KEY_MS),
      });
      return new ScratchAccount(stores, await findAccount(deps, id), { id: keyId, secret });
    } catch (error) {
      await changeAccount(deps, id, { kind: "close" });
      throw error;
    }
  }

  async balances(): Promise<Balances> {
    return (await readAccountSummary(this.stores.actors, this.row)).balances;
  }

  /** The balance of the account, with the amounts that calls hold. */
  async owned(): Promise<NanoUsd> {
    const { paid, heldPaid } = await this.balances();
    return add(paid, heldPaid);
  }

  /** Brings the available balance to this amount. */
  async setBalance(wanted: NanoUsd): Promise<void> {
    const { paid } = await this.balances();
    const amount = nano(wanted - paid);
    if (amount === ZERO) return;
    await adjustBalance(marked(this.stores), this.id, { amount, reason: MARK, reference: null });
  }

  /**
   * Waits until no call of the account is open. False if that takes longer than `waitMs`.
   * @throws the reason of `stop`
   */
  async isReleased(waitMs: number, stop?: AbortSignal): Promise<boolean> {
    const { now } = this.stores.administration;
    const endMs = now() + waitMs;
    for (;;) {
      stop?.throwIfAborted();
      if ((await this.balances()).heldPaid === ZERO) return true;
      if (now() >= endMs) return false;
      await Bun.sleep(LOOK_MS);
    }
  }

  /**
   * Revokes the key, takes back the rest of the money, and closes the account permanently. Each of
   * these steps is done even if another one fails. Nothing can be spent once the key is revoked.
   * @throws AdministrationError if a call is still open after `waitMs`: the account is not closed
   */
  async close(waitMs: number): Promise<void> {
    const { stores } = this;
    const deps = marked(stores);
    try {
      await revokeKey(deps, this.apiKey.id);
      await this.isReleased(waitMs);
    } finally {
      try {
        await this.setBalance(ZERO);
      } finally {
        await closeAccount({ ...deps, wallets: stores.actors }, this.id);
      }
    }
  }
}

function marked({ administration }: Stores): AdministrationDeps {
  return { ...administration, also: noted(administration, "operator_adjust", MARK) };
}
