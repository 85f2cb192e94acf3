// The end users of an account, as far as this process knows them. Like runs, they are known for one
// version of the access document, and by their digests alone (D-947).

import type { AccessKey } from "../src/core/access/access.ts";
import type { EndUser, EndUserBudget } from "../src/core/access/end-users.ts";
import { NOT_BEGUN } from "../src/core/access/runs.ts";
import { HOUR_MS } from "../src/core/durations.ts";
import { OpenWork } from "../src/core/open-work.ts";
import type { AskedEndUser } from "../src/store/accounts/end-users.ts";
import type { WalletRepository } from "../src/store/accounts/wallet-repository.ts";
import { fromPostgres } from "./scripts/script-runner.ts";

/** The most end users of an account that a process knows. */
export const END_USERS_KNOWN_MAX = 5_000;
/** An end user is looked up again after so long: numbers that are never looked up are deleted. */
const KNOWN_MS = HOUR_MS;

/** A call whose end user has budgets. */
interface EndUserCall {
  readonly endUser: EndUser;
  readonly key: Pick<AccessKey, "id" | "endUserBudgets">;
  readonly nowMs: number;
  readonly isQuote: boolean;
}

interface Known {
  readonly budgets: readonly EndUserBudget[];
  readonly atMs: number;
}

export class AccountEndUsers {
  readonly #accountId: string;
  readonly #repository: WalletRepository;
  readonly #known = new Map<string, Known>();
  /** Calls of an end user at the same time share one look-up. */
  readonly #beginning = new OpenWork<readonly EndUserBudget[]>();

  constructor(accountId: string, repository: WalletRepository) {
    this.#accountId = accountId;
    this.#repository = repository;
  }

  /** Finds the budgets of an end user, and begins them if need be. A quote begins none. */
  async budgetsOf(call: EndUserCall): Promise<readonly EndUserBudget[]> {
    const { endUser, key, nowMs, isQuote } = call;
    const name = `${endUser.digests[0]} ${key.id}`;
    const known = this.#known.get(name);
    // The difference counts with either sign, so that a clock that goes back makes no lasting
    // entry.
    if (known !== undefined && Math.abs(nowMs - known.atMs) < KNOWN_MS) return known.budgets;
    const asked: AskedEndUser = { endUser, defaults: key.endUserBudgets };
    if (isQuote) {
      const counts = await fromPostgres(this.#repository.endUsers.read(this.#accountId, asked));
      return counts.map(({ budget, hasBegun }) =>
        hasBegun ? budget : { ...budget, number: NOT_BEGUN },
      );
    }
    const budgets = await this.#begin(name, asked);
    if (this.#known.size >= END_USERS_KNOWN_MAX) this.#known.clear();
    this.#known.set(name, { budgets, atMs: nowMs });
    return budgets;
  }

  #begin(name: string, asked: AskedEndUser): Promise<readonly EndUserBudget[]> {
    const { begin } = this.#repository.endUsers;
    return this.#beginning.share(name, () => fromPostgres(begin(this.#accountId, asked)));
  }
}
