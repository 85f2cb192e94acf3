// Kills the primary of Postgres under load and promotes its standby: calls go on, and the ledger
// continues on the other server. Once with a standby that had everything, and once with one that
// lacks the last commits: an operator then looks at the lost data, and restores.

import { readJournal } from "../../../actors/journal.ts";
import { adjustBalance } from "../../../src/accounts/payments.ts";
import { Ledger } from "../../../src/store/ledger/ledger.ts";
import { migrate } from "../../../src/store/servers/migrate.ts";
import { eventually } from "../../support/eventually.ts";
import { REPLICATING, startStandby } from "../../support/fakes/standby.ts";
import { type Product, startProduct } from "../../support/product/product.ts";
import { must, mustRun, notGivenBack, proveBooks } from "../../support/product/product-checks.ts";
import { callOnce, Load, MODELS, type Told } from "../../support/product/product-load.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { startPrivatePostgres } from "../../support/stores/services.ts";
import { usd } from "../../support/stores/world.ts";
import { openAccounts } from "./accounts.ts";
import type { ChaosOptions } from "./gateway-kills.ts";
import { openShop, type Shop } from "./shop.ts";

const CALLERS = 8;
const WITHIN_MS = 120_000;
const GIFT = "1.5";

/** Serves for this many seconds on each side of both failovers; then proves the books. */
export async function failPostgresOver(options: ChaosOptions): Promise<void> {
  await failToFollower(options);
  await failToLaggard(options);
}

async function failToFollower({ times, random, say }: ChaosOptions): Promise<void> {
  await using primary = await startPrivatePostgres({ settings: REPLICATING });
  await migrate(primary.url);
  await using standby = await startStandby(primary);
  await using product = await startProduct({
    apis: 2,
    models: MODELS,
    record: false,
    databaseUrl: standby.url,
  });
  const accounts = await openAccounts(product);
  const first = await callEach(product, accounts);
  const load = new Load(product, { accounts, callers: CALLERS, random });
  await load.servedMore(20, WITHIN_MS);
  await Bun.sleep(times * 1_000);
  await primary.kill9();
  const before = load.count(200);
  await Bun.sleep(times * 1_000);
  const meanwhile = load.count(200) - before;
  await standby.promote();
  const startMs = performance.now();
  await ledgerFollows(product);
  const bookedMs = performance.now() - startMs;
  await load.servedMore(20, WITHIN_MS);
  await load.stop();
  const proof = await proveBooks(product, [...first, ...load.told]);
  must(meanwhile > 0, () => "No call was served between the kill and the promotion");
  say(`Postgres killed, its standby promoted ${times} s later`);
  say(
    `  ${proof.served} calls served, ${meanwhile} of them without Postgres; the ledger went on ` +
      `${bookedMs.toFixed(0)} ms after the promotion; no charge lost, audit clean`,
  );
}

/** Waits until the workers have moved the present entries of Redis; callers go on meanwhile. */
async function ledgerFollows(product: Product): Promise<void> {
  const { operator } = product;
  const ledger = new Ledger(operator.database);
  const written = new Map<number, number>();
  for (const { bucket, epoch, entry } of await ledger.cursors()) {
    const range = { epoch, entry, count: 1 };
    const page = await readJournal(operator.actors.scripts.redis, bucket, range);
    written.set(bucket, page.written);
  }
  await eventually(
    "the ledger has what Redis had at the promotion",
    async () => {
      mustRun(product);
      const cursors = await ledger.cursors();
      return cursors.every(({ bucket, entry }) => entry >= (written.get(bucket) ?? 0));
    },
    WITHIN_MS,
  );
}

/** Makes each process know each account before Postgres is away. */
async function callEach(
  product: Product,
  accounts: readonly TestAccount[],
): Promise<readonly Told[]> {
  const told: Told[] = [];
  for (const api of product.apis) {
    const one = await Promise.all(
      accounts.map((account) => callOnce(api, account, { kind: "ok" })),
    );
    told.push(...one.flatMap((answer) => answer ?? []));
  }
  return told;
}

async function failToLaggard({ times, random, say }: ChaosOptions): Promise<void> {
  await using primary = await startPrivatePostgres({ settings: REPLICATING });
  await migrate(primary.url);
  await using standby = await startStandby(primary);
  await using shop = await openShop({
    apis: 2,
    models: MODELS,
    record: false,
    databaseUrl: standby.url,
  });
  const { product } = shop;
  const accounts = await openAccounts(product);
  const [rich, payer] = [random.pick(accounts), await product.account()];
  await shop.pay(payer, "20");
  await untilPaid(product, 1);
  const told = [...(await callEach(product, accounts))];
  const load = new Load(product, { accounts, callers: CALLERS, random });
  await load.servedMore(20, WITHIN_MS);
  await standby.cutOff();
  const lost = await changeUnseen(shop, { rich, payer });
  await Bun.sleep(times * 1_000);
  await primary.kill9();
  await standby.promote();
  await load.servedMore(20, WITHIN_MS);
  mustRun(product);
  await proveItWaits(shop, lost);
  // The payment gets the number of the lost credit by hand.
  await shop.pay(rich, "10");
  await untilPaid(product, 2);
  await load.servedMore(20, WITHIN_MS);
  await load.stop();
  told.push(...load.told);
  const restored = await restore(shop, lost);
  const gone = await proveCharges(product, told);
  say(`Postgres killed, a standby promoted that lacked the last ${times} s`);
  say(
    `  ${told.filter(({ status }) => status === 200).length} calls served, ${gone} given back; ` +
      `${restored}; audit clean`,
  );
}

interface Unseen {
  /** Was credited by hand. */
  readonly rich: TestAccount;
  /** Paid at the provider. */
  readonly payer: TestAccount;
  /** Was made and paid, so that the standby lacks the whole account. */
  readonly newcomer: TestAccount;
}

/** Changes balances on a primary whose standby is cut off, until Redis has applied them. */
async function changeUnseen(
  shop: Shop,
  { rich, payer }: Pick<Unseen, "rich" | "payer">,
): Promise<Unseen> {
  const { product } = shop;
  await giveByHand(product, rich);
  await shop.pay(payer, "15");
  const newcomer = await product.account();
  await shop.pay(newcomer, "12");
  await untilPaid(product, 3);
  const { sql } = product.operator.database;
  await eventually("all of it is in the ledger of the primary", async () => {
    const [row] = await sql`SELECT count(*)::int AS waiting FROM operations WHERE NOT booked`;
    return row?.waiting === 0;
  });
  return { rich, payer, newcomer };
}

async function untilPaid({ operator }: Product, count: number): Promise<void> {
  await eventually(
    `${count} top-ups are paid`,
    async () => {
      const [row] = await operator.database.sql`
        SELECT count(*)::int AS paid FROM top_ups WHERE status = 'succeeded'`;
      return row?.paid === count;
    },
    WITHIN_MS,
  );
}

async function giveByHand({ operator }: Product, { id }: TestAccount): Promise<void> {
  const terms = { amount: usd(GIFT), reason: "the drill", reference: "a gift" } as const;
  await adjustBalance(operator.administration, id, terms);
}

/** Requires that the journal of lost changes is neither written in part nor given up. */
async function proveItWaits(shop: Shop, { rich, payer, newcomer }: Unseen): Promise<void> {
  const audited = await shop.run("audit");
  must(
    audited.code === 1 && [rich, payer, newcomer].some(({ id }) => audited.out.includes(id)),
    () => `The audit names nothing that was lost: ${audited.out}`,
  );
  const { lost } = await shop.farebox("restore", "--dry-run");
  for (const [account, kind, amount] of [
    [rich, "adjustment", GIFT],
    [payer, "credit", "15"],
    [newcomer, "credit", "12"],
  ] as const) {
    const found = lost.wallets_ahead.find((one) => one.account === account.id);
    const isNamed = found?.lost.some((one) => one.kind === kind && one.amount_usd === amount);
    must(isNamed === true, () => `The ${kind} of ${account.id} was lost and is not named`);
  }
}

/** Does the operator's steps of docs/operating.md; returns the figures. */
async function restore(shop: Shop, { rich, payer, newcomer }: Unseen): Promise<string> {
  const { product } = shop;
  await Promise.all(product.programs.map((program) => program.stop()));
  const done = await shop.farebox("restore", "--yes");
  must(done.ok === true, () => `The restore found problems: ${done.problems?.join("; ")}`);
  await giveByHand(product, rich);
  await Promise.all(product.programs.map((program) => program.start()));
  await product.booked();
  await proveGiven(product, rich, ["adjustment 1500000000", "credit 10000000000"]);
  await proveGiven(product, payer, ["credit 15000000000", "credit 20000000000"]);
  await proveGiven(product, newcomer, ["credit 12000000000"]);
  const books = await shop.farebox<{ readonly ok: boolean }>("backup", "check");
  must(books.ok, () => "The ledger and the provider differ");
  const again = (done.payments ?? []).filter(({ result }) => result !== "read");
  const named = done.lost.wallets_ahead.length;
  return `${named} accounts named, ${again.length} payments booked again, 1 credit by hand`;
}

/**
 * Requires that the ledger has these operations of the account, of its paid balance and of this
 * test.
 */
async function proveGiven(
  { operator }: Product,
  { id }: TestAccount,
  wanted: readonly string[],
): Promise<void> {
  const rows = await operator.database.sql<{ given: string }[]>`
    SELECT l.kind || ' ' || l.paid_delta AS given
    FROM ledger_entries l JOIN accounts a ON a.number = l.account
    WHERE a.id = ${id} AND l.operation IS NOT NULL
      AND l.paid_delta BETWEEN 1 AND ${usd("100").toString()} ORDER BY given`;
  const given = rows.map((row) => row.given);
  must(given.join() === wanted.join(), () => `${id} was given ${given.join()}, not ${wanted}`);
}

/** Returns the number of calls that were given back. */
async function proveCharges(product: Product, told: readonly Told[]): Promise<number> {
  const kept = await notGivenBack(product, told);
  await proveBooks(product, kept);
  return told.length - kept.length;
}
