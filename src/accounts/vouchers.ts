// Makes vouchers, and redeems them for operators and for the people of an account. A redemption is
// committed in Postgres, then given to Redis; repeating it gives nothing more.

import { newVoucherCode } from "../core/access/voucher-codes.ts";
import { voucherDigest } from "../core/access/voucher-digest.ts";
import { AdministrationError } from "../core/errors.ts";
import { FREE_LOTS_MAX } from "../core/money/free-lots.ts";
import {
  createVouchers,
  endBatch,
  type NewVouchers,
  type RedeemedGift,
  redeemVoucher,
  type VoucherRefusal,
} from "../store/payments/vouchers.ts";
import {
  type AdministrationDeps,
  apply,
  type Done,
  explained,
  findAccount,
} from "./administration.ts";

export type VoucherTerms = Omit<NewVouchers, "digests">;

export interface VoucherOrder extends VoucherTerms {
  readonly count: number;
}

type VoucherDeps = Pick<AdministrationDeps, "accounts">;

/** Work in the transaction of a change of vouchers, such as the line of its author. */
type Also = Parameters<typeof createVouchers>[2];

/**
 * Makes the codes of a batch. `keep` stores them for the operator before they are valid, because
 * the database has only their digests.
 * @throws AdministrationError if there is such a batch
 */
export async function issueVouchers(
  deps: VoucherDeps,
  { count, ...terms }: VoucherOrder,
  keep: (codes: readonly string[]) => Promise<void>,
): Promise<readonly string[]> {
  const { random } = deps.accounts.deps;
  const codes = Array.from({ length: count }, () => newVoucherCode(random));
  await keep(codes);
  await registerVouchers(deps, { terms, codes });
  return codes;
}

/**
 * Makes codes valid, all or none.
 * @throws AdministrationError if there is such a batch, or one of the codes
 */
export async function registerVouchers(
  { accounts }: VoucherDeps,
  {
    terms,
    codes,
    also,
  }: { readonly terms: VoucherTerms; readonly codes: readonly string[]; readonly also?: Also },
): Promise<void> {
  const digests = codes.map((code) => digestOf(code));
  if (await createVouchers(accounts.deps.database, { ...terms, digests }, also)) return;
  const message = `There is a batch '${terms.batch}', or one of its codes: none of them is valid`;
  throw new AdministrationError("wrong_state", message);
}

/** Ends the codes of a batch, and returns how many. @throws AdministrationError if none is left */
export async function endVouchers(
  { accounts }: VoucherDeps,
  change: Parameters<typeof endBatch>[1],
): Promise<number> {
  const ended = await endBatch(accounts.deps.database, change);
  if (ended > 0) return ended;
  throw new AdministrationError("not_found", `There is no batch '${change.batch}' that goes on`);
}

export type Redeemed = Done &
  RedeemedGift & {
    /** True if the account had redeemed it before. */
    readonly isRepeated: boolean;
  };

/**
 * The person or operator who redeems a code, with the marks that show whether a person has redeemed
 * a code of the batch before.
 */
export type Redeemer = Pick<Parameters<typeof redeemVoucher>[1], "actor" | "marksFor">;

const OPERATOR: Redeemer = { actor: "operator", marksFor: null };

/** Redeems a code, as it was typed, for an account. @throws AdministrationError */
export async function redeem(
  deps: AdministrationDeps,
  accountId: string,
  { code, by = OPERATOR }: { readonly code: string; readonly by?: Redeemer },
): Promise<Redeemed> {
  const account = await findAccount(deps, accountId);
  const digest = digestOf(code);
  const now = new Date(deps.now());
  const terms = { account, digest, now, ...by, also: deps.also };
  const result = await explained(account, redeemVoucher(deps.accounts.deps.database, terms));
  if (!("gift" in result)) throw refused(result.is);
  const { is, ...redeemed } = result;
  const applied = await apply(deps, account);
  return { id: account.id, ...redeemed, isRepeated: is === "repeated", applied };
}

const WORDS: Readonly<Record<VoucherRefusal, string>> = {
  unknown: "There is no such voucher",
  ended: "The voucher has ended",
  exhausted: "The voucher was redeemed as often as it can be",
  tier: "The voucher is not for the tier of this account",
  person:
    "The voucher is for one person once, and was redeemed for this account, or from this inbox, " +
    "network or device",
  disposable: "The voucher is not for inboxes that are thrown away",
  plan:
    "The voucher gives a plan to an application account that is on the Free plan, or has the " +
    "same plan by a voucher, and for which no charge is under way",
  lots: `The account has free credit with ${FREE_LOTS_MAX} ends, the most: redeem it later`,
};

function refused(reason: VoucherRefusal): AdministrationError {
  return new AdministrationError(`voucher_${reason}`, WORDS[reason]);
}

function digestOf(code: string): string {
  const digest = voucherDigest(code);
  if (digest === null) throw refused("unknown");
  return digest;
}
