// The check of burn-rate rules by workers on the stores of a test, with a clock of the test.

import { type BurnWatchDeps, watchBurnRates } from "../../../src/accounts/burn-rates.ts";
import type { BurnTerms } from "../../../src/core/access/burn-rules.ts";
import { DEFAULT_BRAND } from "../../../src/core/brand/brand.ts";
import { usd } from "../../../src/core/money/money.ts";
import { type BurnBreach, raiseAlarm } from "../../../src/store/accounts/burn-alarms.ts";
import { addBurnRule } from "../../../src/store/accounts/burn-rules.ts";
import type { TestAccount } from "./accounts.ts";
import type { World } from "./world.ts";

/** Terms of a rule; by default a pause of half an hour for $1. */
export function burnTerms(terms: Partial<BurnTerms> = {}): BurnTerms {
  const { action = "pause" } = terms;
  return {
    amount: usd("1"),
    times: null,
    action,
    requestsPerMinute: action === "slow" ? 1 : null,
    minutes: action === "alert" ? null : 30,
    ...terms,
  };
}

/** Gives an account a rule, and returns its number. */
export async function giveRule(
  { database }: Pick<World, "database">,
  { row }: Pick<TestAccount, "row">,
  { key = null, ...terms }: Partial<BurnTerms> & { readonly key?: string | null } = {},
): Promise<number> {
  const rule = { ...burnTerms(terms), key, also: async () => {} };
  return await addBurnRule(database, row.number, rule);
}

export interface BurnWorker {
  readonly alarms: string[];
  /** The accounts whose changes were applied. */
  readonly applied: string[];
  check(): Promise<number>;
}

/** The check of one worker. */
export function burnWorker(
  { redis, database, accounts }: Pick<World, "redis" | "database" | "accounts">,
  now: () => number,
  ofOperator: readonly BurnTerms[] = [],
): BurnWorker {
  const alarms: string[] = [];
  const applied: string[] = [];
  const deps: BurnWatchDeps = {
    redis,
    database,
    accounts: {
      of(accountId, bucket) {
        applied.push(accountId);
        return accounts.of(accountId, bucket);
      },
    },
    ofOperator: () => ofOperator,
    brand: () => DEFAULT_BRAND,
    origin: "https://farebox.example",
    now,
    onDelayed: (accountId, error) => {
      throw new Error(`${accountId} was not changed`, { cause: error });
    },
    onAlarm: (action) => alarms.push(action),
  };
  return { alarms, applied, check: () => watchBurnRates(deps) };
}

/** Has a rule act against a key now, without any spending. */
export async function act(
  { database }: Pick<World, "database">,
  { row, keyId, actor }: TestAccount,
  terms: Partial<BurnTerms> = {},
): Promise<void> {
  const [key] = await database.sql<{ number: bigint }[]>`
    SELECT number FROM keys WHERE id = ${keyId}`;
  const breach: BurnBreach = {
    ...burnTerms(terms),
    account: row.number,
    key: Number(key?.number),
    keyId,
    keyName: "test key",
    rule: "1",
    isOperators: false,
    spent: usd("2"),
    threshold: usd("1"),
  };
  await raiseAlarm(database, breach, { now: new Date(), also: async () => {} });
  await actor.configure();
}
