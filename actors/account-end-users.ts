// The end users of an account, as far as this process knows them. Like runs, they are known for one
// version of the access document, and by their digests alone (D-947).

import { LRUCache } from "lru-cache";
import type { AccessKey } from "../src/core/access/access.ts";
import type { EndUser, EndUserBudget } from "../src/core/access/end-users.ts";
import { isBegun, NOT_BEGUN } from "../src/core/access/runs.ts";
import { HOUR_MS } from "../src/core/durations.ts";
import { Batches, OpenWork } from "../src/core/open-work.ts";
import type { AskedEndUser, EndUserCount } from "../src/store/accounts/end-users.ts";
import type { WalletRepository } from "../src/store/accounts/wallet-repository.ts";
import { fromPostgres } from "./scripts/script-runner.ts";

/** The most end users of an account that a process knows: those that called last. */
export const END_USERS_KNOWN_MAX = 5_000;
/** After this time an end user is looked up again: numbers without look-ups are deleted. */
const KNOWN_MS = HOUR_MS;
/** The most end users that begin in one transaction. */
const BEGUN_AT_ONCE = 200;

/** A call whose end user has budgets. */
interface EndUserCall {
  readonly endUser: EndUser;
  readonly key: Pick<AccessKey, "id" | "endUserBudgets">;
  readonly nowMs: number;
}

interface Known {
  readonly budgets: readonly EndUserBudget[];
  readonly atMs: number;
}

export class AccountEndUsers {
  readonly #accountId: string;
  readonly #repository: WalletRepository;
  /** Created for the first end user, because an LRU cache allocates all of its places at once. */
  #known: LRUCache<string, Known> | null = null;
  /** Calls of one end user at the same time share one reading, and one start of its budgets. */
  readonly #reading = new OpenWork<readonly EndUserCount[]>();
  /** One batch at a time: a batch waits for the account's row and holds a connection (D-984). */
  readonly #begins: Batches<AskedEndUser, readonly EndUserCount[]>;

  constructor(accountId: string, repository: WalletRepository) {
    this.#accountId = accountId;
    this.#repository = repository;
    this.#begins = new Batches(BEGUN_AT_ONCE, (asked) =>
      fromPostgres(repository.endUsers.begin(accountId, asked)),
    );
  }

  /** The end user's budgets; a default budget that has not counted the end user has no number. */
  async budgetsOf(call: EndUserCall, isQuote: boolean): Promise<readonly EndUserBudget[]> {
    const known = this.#known?.get(nameOf(call));
    // The absolute difference: an entry must not last longer because a clock went back.
    if (known !== undefined && Math.abs(call.nowMs - known.atMs) < KNOWN_MS) {
      // Another process may have begun the budgets meanwhile: a call would learn of them before it
      // is admitted, a quote would not.
      if (!isQuote || known.budgets.every(isBegun)) return known.budgets;
    }
    const found = await this.#read(call);
    if (isQuote) return budgetsIn(found);
    if (found.some(({ isOld }) => isOld)) return await this.begin(call);
    if (found.some(({ hasBegun, isFresh }) => hasBegun && !isFresh)) this.#refresh(call, found);
    return this.#remember(call, found);
  }

  /** Begins the budgets that do not count the end user yet, for a call that would be admitted. */
  async begin(call: EndUserCall): Promise<readonly EndUserBudget[]> {
    const begun = await this.#reading.share(`begin ${nameOf(call)}`, () =>
      this.#begins.add(askedIn(call)),
    );
    return this.#remember(call, begun);
  }

  #read(call: EndUserCall): Promise<readonly EndUserCount[]> {
    const { read } = this.#repository.endUsers;
    return this.#reading.share(nameOf(call), () =>
      fromPostgres(read(this.#accountId, askedIn(call))),
    );
  }

  /** Notes that the end user was seen, beside its call. */
  #refresh({ endUser }: EndUserCall, found: readonly EndUserCount[]): void {
    const { touch } = this.#repository.endUsers;
    // A later look-up retries a failure; one that finds the rows old waits for the update.
    touch(endUser.digests[0], found).catch(() => {});
  }

  #remember(call: EndUserCall, found: readonly EndUserCount[]): readonly EndUserBudget[] {
    const budgets = budgetsIn(found);
    this.#known ??= new LRUCache({ max: END_USERS_KNOWN_MAX });
    this.#known.set(nameOf(call), { budgets, atMs: call.nowMs });
    return budgets;
  }
}

function nameOf({ endUser, key }: EndUserCall): string {
  return `${endUser.digests[0]} ${key.id}`;
}

function askedIn({ endUser, key }: EndUserCall): AskedEndUser {
  return { endUser, defaults: key.endUserBudgets };
}

function budgetsIn(found: readonly EndUserCount[]): readonly EndUserBudget[] {
  return found.map(({ budget, hasBegun }) => {
    return hasBegun ? budget : { ...budget, number: NOT_BEGUN };
  });
}
