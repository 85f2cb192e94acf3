// Runs Redis with Sentinels under load: the master is killed, or hangs and comes back as a second
// one. Customers lose no credit; the operator's losses are counted.

import { adjustBalance } from "../../../src/accounts/payments.ts";
import { toUuid } from "../../../src/core/ids.ts";
import { dollars, usd } from "../../../src/core/money/money.ts";
import { type Sentinels, startSentinels } from "../../support/fakes/sentinels.ts";
import { type Product, startProduct } from "../../support/product/product.ts";
import { chargesOf, must, proveBooks } from "../../support/product/product-checks.ts";
import { Load, MODELS, type Told } from "../../support/product/product-load.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { openAccounts } from "./accounts.ts";
import type { ChaosOptions } from "./gateway-kills.ts";

const CALLERS = 8;
const WITHIN_MS = 120_000;
const CREDIT = usd("1.25");

/**
 * Causes this many failovers, every second one of a master that only hangs; then proves the books.
 */
export async function failOver({ times, random, say }: ChaosOptions): Promise<void> {
  await using sentinels = await startSentinels();
  await using product = await startProduct({
    apis: 2,
    models: MODELS,
    record: false,
    redisUrl: sentinels.url,
  });
  const accounts = await openAccounts(product);
  const load = new Load(product, { accounts, callers: CALLERS, random });
  await load.servedMore(20, WITHIN_MS);
  const awayMs: number[] = [];
  const credits = new Map<string, number>();
  for (let round = 0; round < times; round += 1) {
    const { id } = random.pick(accounts);
    await credit(product, id, `credit ${round}`);
    credits.set(id, (credits.get(id) ?? 0) + 1);
    awayMs.push(await failMaster(sentinels, load, round % 2 === 1));
    await load.servedMore(20, WITHIN_MS);
  }
  await load.stop();
  const { lost, amount } = await lostCharges(product, load.told);
  // The sweep may have charged a part of a lost settlement, as of a call whose end is unknown.
  const told = load.told.map((one) => (lost.has(one) ? { ...one, cost: null } : one));
  await proveBooks(product, told);
  await proveCredits(product, accounts, credits);
  say(`${times} failovers of Redis by Sentinel, with min-replicas-to-write 1`);
  say(
    `  ${load.count(200)} calls served, ${load.count(503)} refused (503); served again at most ` +
      `${Math.max(...awayMs).toFixed(0)} ms after the fault; ${lost.size} charges of ` +
      `${dollars(amount)} lost to the operator, no credit lost, audit clean`,
  );
}

/** Returns the time in which no call was served. */
async function failMaster(sentinels: Sentinels, load: Load, hangs: boolean): Promise<number> {
  const master = await sentinels.master();
  const startMs = performance.now();
  if (hangs) sentinels.hang(master);
  else await sentinels.kill9(master);
  await load.servedMore(1, WITHIN_MS);
  // A call that was already in progress may have been served.
  while ((await sentinels.master()) === master) await Bun.sleep(20);
  await load.servedMore(1, WITHIN_MS);
  const awayMs = performance.now() - startMs;
  if (hangs) sentinels.resume(master);
  else await sentinels.restart(master);
  await sentinels.inSync();
  return awayMs;
}

async function credit({ operator }: Product, account: string, reference: string): Promise<void> {
  const terms = { amount: CREDIT, reason: "the failover", reference };
  await adjustBalance(operator.administration, account, terms);
}

interface Lost {
  readonly lost: ReadonlySet<Told>;
  readonly amount: bigint;
}

/** Calls that were served and whose charge is missing in the ledger. */
async function lostCharges(product: Product, told: readonly Told[]): Promise<Lost> {
  await product.booked();
  const charges = await chargesOf(product);
  const lost = told.filter(({ status, requestId, cost }) => {
    if (status !== 200 || requestId === null || cost === null) return false;
    return (charges.get(toUuid(requestId))?.amount ?? 0n) !== cost;
  });
  for (const { requestId, cost } of lost) {
    const amount = charges.get(toUuid(requestId ?? ""))?.amount ?? 0n;
    must(amount < (cost ?? 0n), () => `${requestId} was told ${cost} and charged ${amount}`);
  }
  const amount = lost.reduce((total, { cost }) => total + (cost ?? 0n), 0n);
  return { lost: new Set(lost), amount };
}

/** Requires that every credit by hand is in the ledger once. */
async function proveCredits(
  { operator }: Product,
  accounts: readonly TestAccount[],
  credits: ReadonlyMap<string, number>,
): Promise<void> {
  const rows = await operator.database.sql<{ id: string; count: number }[]>`
    SELECT a.id, count(l.*)::int AS count FROM accounts a
    LEFT JOIN ledger_entries l ON l.account = a.number AND l.kind = 'adjustment' GROUP BY a.id`;
  for (const { id } of accounts) {
    const [has, wants] = [rows.find((row) => row.id === id)?.count ?? 0, credits.get(id) ?? 0];
    must(has === wants, () => `${id} has ${has} credits by hand in the ledger, not ${wants}`);
  }
}
