// The account that a drill works on: new, with some cents, marked in its activity, and closed after
// it. No other account is touched.

import { type Balances, readAccountSummary } from "../../accounts/account-summary.ts";
import {
  type AdministrationDeps,
  changeAccount,
  createAccount,
  createKey,
  findAccount,
} from "../../accounts/administration.ts";
import { closeAccount } from "../../accounts/closing.ts";
import { adjustBalance } from "../../accounts/payments.ts";
import { add, type NanoUsd, nano, ZERO } from "../../core/money/money.ts";
import type { AccountRow } from "../../store/accounts/accounts.ts";
import { noted } from "../noted.ts";
import type { Stores } from "../stores.ts";

/** The mark in the activity of the account, and the reason of each change of its balance. */
const MARK = "farebox drill";

export class ScratchAccount {
  private constructor(
    readonly stores: Stores,
    readonly row: AccountRow,
    readonly apiKey: { readonly id: string; readonly secret: string },
  ) {}

  get id(): string {
    return this.row.id;
  }

  /** Makes the account, without any money, and its key. */
  static async open(stores: Stores): Promise<ScratchAccount> {
    const deps = marked(stores);
    const terms = { surface: "gateway", email: null, freeCredit: false } as const;
    const { id } = await createAccount(deps, { ...terms, name: MARK });
    // Its limits of requests and open calls let the race be one.
    await changeAccount(deps, id, { kind: "contract", contract: "enterprise" });
    const { id: keyId, key: secret } = await createKey(deps, id, {
      name: MARK,
      scopes: ["models"],
      ipAllowlist: [],
      monthlyLimit: null,
    });
    return new ScratchAccount(stores, await findAccount(deps, id), { id: keyId, secret });
  }

  async balances(): Promise<Balances> {
    return (await readAccountSummary(this.stores.actors, this.row)).balances;
  }

  /** What it has, with what calls hold. */
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

  /** Takes back what is left, revokes the key and closes the account for ever. */
  async close(): Promise<void> {
    const { stores } = this;
    await this.setBalance(ZERO);
    await closeAccount({ ...marked(stores), wallets: stores.actors }, this.id);
  }
}

function marked({ administration }: Stores): AdministrationDeps {
  return { ...administration, also: noted(administration, "operator_adjust", MARK) };
}
