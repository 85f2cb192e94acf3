// Runs every trial against Farebox itself: two API processes, their stores and a worker, which are
// started for it on ports of their own.

import { changeEndUserBudget } from "../../src/accounts/end-users.ts";
import { describe } from "../../src/core/journal/audit-finding.ts";
import { usd } from "../../src/core/money/money.ts";
import { type Product, startProduct } from "../../test/support/product/product.ts";
import type { AccountTerms } from "../../test/support/stores/accounts.ts";
import type { SpendSource } from "./gateways.ts";
import { MODEL, startModelServer } from "./model-server.ts";
import { runTrial, type Trial, type TrialResult } from "./trial.ts";

export interface OwnTrial {
  readonly name: string;
  readonly cents: readonly number[];
  readonly addresses: 1 | 2;
  readonly isKilled?: boolean;
  /** The terms of its account, besides the enterprise contract; a dollar by default. */
  readonly terms?: AccountTerms;
  /** The end user of all calls, with $1.00 a month; left out, calls name no end user. */
  readonly endUser?: string;
}

const BALANCE = usd("1.00");

/** The trials of the table in docs/overspend.md, in its order. */
export const OWN_TRIALS: readonly OwnTrial[] = [
  { name: "calls of $0.10, one address", cents: [10], addresses: 1 },
  { name: "calls of $0.10, two addresses", cents: [10], addresses: 2 },
  { name: "calls of $0.10 and $0.30, two addresses", cents: [10, 30], addresses: 2 },
  { name: "kill -9 after ten whole answers", cents: [10], addresses: 2, isKilled: true },
  {
    name: "a customer's key with a budget of $1.00, on an account with $100",
    cents: [10, 30],
    addresses: 2,
    terms: { paid: "100", keyBudgets: { total: "1.00" } },
  },
  {
    name: "an end user with a budget of $1.00 a month, on an account with $100",
    cents: [10, 30],
    addresses: 2,
    terms: { paid: "100" },
    endUser: "customer-4711",
  },
  {
    name: "an account's budget of $1.00 in five hours, with $100",
    cents: [10, 30],
    addresses: 2,
    terms: { paid: "100", budgets: { "5h": "1.00" } },
  },
];

export interface NamedResult extends TrialResult {
  readonly name: string;
}

/** Runs all trials; calls `say` with the result of each. */
export async function runOwnTrials(
  calls: number,
  say: (line: string) => void,
): Promise<NamedResult[]> {
  await using server = startModelServer();
  await using product = await startProduct({
    apis: 2,
    upstreamUrl: server.baseUrl,
    models: [{ id: MODEL, input: "0", output: "1000" }],
  });
  const results: NamedResult[] = [];
  for (const own of OWN_TRIALS) {
    say(own.name);
    const result = await runTrial(await trialOf(product, own, calls));
    results.push({ name: own.name, ...result });
    if (own.isKilled === true) await product.api(0).start();
  }
  await checkBooks(product);
  return results;
}

async function trialOf(product: Product, own: OwnTrial, calls: number): Promise<Trial> {
  const { key, row } = await product.account({
    contract: "enterprise",
    free: "0",
    paid: "1.00",
    ...own.terms,
  });
  if (own.endUser !== undefined) {
    const each = { endUser: null, key: null, span: "month", amount: BALANCE } as const;
    const note = () => async () => {};
    await changeEndUserBudget(product.operator.administration, row, { ...each, note });
  }
  const apis = product.apis.slice(0, own.addresses);
  const urls = apis.map(({ url }) => `${url}/v1`);
  const spend: SpendSource = {
    gateway: "farebox",
    url: urls[0] ?? "",
    spendUrl: null,
    token: key,
    lateMs: null,
  };
  const kill = own.isKilled === true ? () => product.api(0).kill9() : null;
  return {
    urls,
    key,
    calls,
    cents: own.cents,
    user: own.endUser ?? null,
    balance: BALANCE,
    spend,
    kill,
  };
}

/** The ledger must agree with the wallets, and both with the log of requests. */
async function checkBooks(product: Product): Promise<void> {
  const { difference } = await product.audit();
  if (difference !== null) throw new Error(`The audit found ${describe(difference)}`);
}
