// The budgets that a call names: that of its run, and those of its end user.

import type { AccessDocument, AccessKey } from "../src/core/access/access.ts";
import { type Budget, NO_BUDGETS } from "../src/core/access/budgets.ts";
import type { EndUser } from "../src/core/access/end-users.ts";
import type { AccessRefusal } from "../src/core/access/key-limits.ts";
import { isBegun, runBudget } from "../src/core/access/runs.ts";
import { nano, ZERO } from "../src/core/money/money.ts";
import type { WalletRepository } from "../src/store/accounts/wallet-repository.ts";
import type { AskingCall, CallTerms } from "./account.ts";
import { AccountEndUsers } from "./account-end-users.ts";
import { AccountRuns, type RunDecision } from "./account-runs.ts";

/**
 * A call that the access document admits, if the run and the end user that the call names admit it
 * too.
 */
interface NamingCall {
  readonly asking: {
    readonly call: AskingCall;
    readonly terms: Pick<CallTerms, "bound" | "refusal" | "isAhead">;
  };
  readonly document: Pick<AccessDocument, "hasNamedEndUsers">;
  readonly key: AccessKey;
  readonly nowMs: number;
  readonly isQuote: boolean;
}

/** A call whose account is viewed. */
interface ViewedCall {
  readonly call: AskingCall;
  readonly document: Pick<AccessDocument, "hasNamedEndUsers" | "keys">;
  readonly nowMs: number;
}

interface NamedDecision {
  /** In the order of the error table. */
  readonly budgets: readonly Budget[];
  readonly refusal: AccessRefusal | null;
  /** The digest of the end user that some of the budgets count; missing if none does. */
  readonly endUser?: string;
}

/** A view is for a call that holds something. */
const SOMETHING = { bound: nano(1n) } as const;
const NO_RUN: RunDecision = Object.freeze({ run: null, refusal: null });
/** Shared by all calls that name no budget. */
export const NOTHING_NAMED: NamedDecision = Object.freeze({ budgets: NO_BUDGETS, refusal: null });

/** The runs and end users that calls of an account name, as far as this process knows them. */
export class NamedBudgets {
  readonly #runs: AccountRuns;
  readonly #endUsers: AccountEndUsers;

  constructor(accountId: string, repository: WalletRepository) {
    this.#runs = new AccountRuns(accountId, repository);
    this.#endUsers = new AccountEndUsers(accountId, repository);
  }

  /** The budgets that a call names; no promise for a call that names none. */
  decide(naming: NamingCall): NamedDecision | Promise<NamedDecision> {
    const { call, terms } = naming.asking;
    if (terms.refusal !== undefined || terms.isAhead === true) return NOTHING_NAMED;
    const endUser = countedEndUser(naming);
    if (call.run === null && endUser === null) return NOTHING_NAMED;
    return this.#decide(naming, endUser);
  }

  /** The budgets that would count a call with a hold. None begins; none counts a refused call. */
  async ofView({ call, document, nowMs }: ViewedCall): Promise<readonly Budget[]> {
    const key = document.keys.get(call.identity.keyId);
    if (key === undefined) return NO_BUDGETS;
    const asking = { call, terms: SOMETHING };
    const { budgets, refusal } = await this.decide({ asking, document, key, nowMs, isQuote: true });
    return refusal === null ? budgets : NO_BUDGETS;
  }

  async #decide(naming: NamingCall, endUser: EndUser | null): Promise<NamedDecision> {
    const { asking, key, nowMs, isQuote } = naming;
    const named = asking.call.run;
    const ofRun: RunDecision =
      named === null ? NO_RUN : await this.#runs.decide({ named, nowMs, isQuote });
    const budgets = ofRun.run === null ? NO_BUDGETS : [runBudget(ofRun.run)];
    const { refusal } = ofRun;
    if (refusal !== null || endUser === null) return { budgets, refusal };
    const ofEndUser = await this.#endUsers.budgetsOf({ endUser, key, nowMs }, isQuote);
    if (ofEndUser.length === 0) return { budgets, refusal };
    return { budgets: [...budgets, ...ofEndUser], refusal, endUser: endUser.digests[0] };
  }

  /** Begins one of the budgets of a call that would be admitted: its run, else its end user. */
  async begin(naming: NamingCall, budgets: readonly Budget[]): Promise<void> {
    const { asking, key, nowMs } = naming;
    if (budgets.some((one) => one.of === "run" && !isBegun(one))) {
      await this.#runs.begin(asking.call, nowMs);
      return;
    }
    const endUser = countedEndUser(naming);
    if (endUser === null) throw new Error("The call names nothing that can begin");
    await this.#endUsers.begin({ endUser, key, nowMs });
  }
}

/** The end user of a call, if budgets may count it; else null, without a look-up. */
function countedEndUser({ asking, document, key }: NamingCall): EndUser | null {
  const { endUser } = asking.call;
  if (endUser === null || asking.terms.bound <= ZERO) return null;
  return key.endUserBudgets.length > 0 || document.hasNamedEndUsers ? endUser : null;
}
