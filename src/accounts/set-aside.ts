// Sets an operation aside that Redis can never apply, because the balance would exceed the numbers
// it counts exactly. Such an operation stops all later ones of its account. An operator books it
// again when it fits.

import { applyChanges, type ChangedAccount } from "../../actors/changed-account.ts";
import type { WalletUpkeep } from "../../actors/wallet-upkeep.ts";
import { AdministrationError } from "../core/errors.ts";
import type { OperationRow } from "../store/ledger/operations.ts";
import { bookAgain, setOperationAside } from "../store/ledger/set-aside.ts";
import { isRefusedByScript } from "../store/servers/redis-errors.ts";
import { type AdministrationDeps, apply, explained, findAccount } from "./administration.ts";

/** The part of an account's actor that setting aside needs. */
type ReadAccount = ChangedAccount & Pick<WalletUpkeep, "state">;

export interface SetAsideDeps extends AdministrationDeps {
  readonly actors: { of(accountId: string, bucket: number): ReadAccount };
}

export interface OperationPlace {
  readonly accountId: string;
  readonly number: number;
}

/**
 * Marks an operation that Redis refuses as set aside, so that the operation changes no balance, and
 * applies the operations after it.
 * @throws AdministrationError
 */
export async function setAside(
  deps: SetAsideDeps,
  { accountId, number }: OperationPlace,
  reason: string,
): Promise<{ readonly applied: boolean }> {
  const account = await findAccount(deps, accountId);
  const { database } = deps.accounts.deps;
  const first = await firstRefused(deps.actors.of(account.id, account.bucket));
  if (first !== number) {
    throw new AdministrationError(
      "wrong_state",
      first === null
        ? `Redis refuses no operation of ${accountId}: there is nothing to set aside`
        : `Of ${accountId} Redis refuses operation ${first}, not ${number}`,
    );
  }
  const operation = { account: account.number, number, reason };
  const isSet = await setOperationAside(database, operation, deps.also);
  if (!isSet) {
    throw new AdministrationError("wrong_state", `Operation ${number} was applied meanwhile`);
  }
  return { applied: await apply(deps, account) };
}

/** The first operation of the account that Redis lacks, if Redis refuses it; otherwise null. */
async function firstRefused(actor: ReadAccount): Promise<number | null> {
  try {
    await applyChanges(actor);
    return null;
  } catch (error) {
    if (!isRefusedByScript(error)) throw error;
  }
  const { wallet } = await actor.state();
  return wallet.operations + 1;
}

/**
 * Books an operation that was set aside again, now that it fits. For free credit whose time is over
 * nothing is booked, and `operation` is null.
 * @throws AdministrationError
 */
export async function bookSetAside(
  deps: AdministrationDeps,
  { accountId, number }: OperationPlace,
): Promise<{ readonly applied: boolean; readonly operation: OperationRow | null }> {
  const account = await findAccount(deps, accountId);
  const { database } = deps.accounts.deps;
  const place = { account: account.number, number };
  const operation = await explained(account, bookAgain(database, place, deps.also));
  if (operation === null) {
    throw new AdministrationError(
      "wrong_state",
      `Operation ${number} of ${accountId} is not set aside, or is booked again already`,
    );
  }
  const applied = await apply(deps, account);
  return { operation: operation === "ended" ? null : operation, applied };
}
