// The calls, budgets and counts of end users, for the suites about them.

import { endUserUses } from "../../../src/accounts/end-users.ts";
import type { Span } from "../../../src/core/access/budgets.ts";
import { EndUser } from "../../../src/core/access/end-users.ts";
import { setEndUserBudget } from "../../../src/store/accounts/end-user-budgets.ts";
import { forgetEndUsers } from "../../../workers/eviction.ts";
import { silent } from "../fakes/silent-log.ts";
import type { TestClock } from "../product/actor-process.ts";
import type { AccountTerms, TestAccount } from "./accounts.ts";
import { holdIn, verdictIn } from "./verdicts.ts";
import { ask, DONE, openAccount, usd, WORLD_PEPPER, type World } from "./world.ts";

export const ADA = "ada@example.com";
export const BOB = "bob@example.com";

/** Functions for suites about end users, on accounts of this world and its clock. */
export function endUserLab(world: World, clock: TestClock) {
  const account = (more: AccountTerms = {}) => openAccount(world, { ...clock.aged, ...more });
  const named = (
    { row }: Pick<TestAccount, "row">,
    id: string,
    secrets: readonly [string, ...string[]] = [WORLD_PEPPER],
  ) => new EndUser(id, { accountId: row.id, secrets });
  const set = async (
    mine: TestAccount,
    span: Span,
    amount: string | null,
    { id, key = null }: { readonly id?: string; readonly key?: string | null } = {},
  ) => {
    const endUser = id === undefined ? null : named(mine, id);
    const terms = { endUser, key, span, amount: amount === null ? null : usd(amount) };
    await setEndUserBudget(world.database, mine.row.number, terms);
    await mine.actor.configure();
  };
  const admit = (mine: TestAccount, amount: string, id = ADA) =>
    mine.actor.admit(ask(mine.keyId, usd(amount), { endUser: named(mine, id) }));
  const hold = async (...asked: Parameters<typeof admit>) => holdIn(await admit(...asked));
  const spend = async (mine: TestAccount, amount: string, id = ADA) => {
    await (await hold(mine, amount, id)).settle(usd(amount), DONE);
  };
  const verdict = async (...asked: Parameters<typeof admit>) => verdictIn(await admit(...asked));
  const readUse = (mine: TestAccount, id = ADA, key: string | null = null) => {
    const { database, accounts: actors } = world;
    return endUserUses({ database, actors }, mine.row, { endUser: named(mine, id), key });
  };
  const forget = async (keptMax?: number, sleep = async (_: number): Promise<void> => {}) => {
    const { database, redis, accounts } = world;
    const { scripts } = accounts;
    const deps = { database, redis, scripts, now: () => clock.ms, sleep, log: silent };
    return await forgetEndUsers({ ...deps, ...(keptMax !== undefined && { keptMax }) });
  };
  const kept = (mine: TestAccount) => world.redis.hlen(mine.actor.keys.budgets);
  return { account, named, set, admit, hold, spend, verdict, readUse, forget, kept };
}
