// Restores Postgres to an earlier time, while everything else stays: calls, payments and refunds at
// the provider, and operators' bookings by hand. No payment may be lost, and every loss must be
// named.

import { join } from "node:path";
import { temporaryFolder } from "../../../scripts/local/processes.mjs";
import { adjustBalance } from "../../../src/accounts/payments.ts";
import type { Product } from "../../support/product/product.ts";
import { must, notGivenBack, proveBooks } from "../../support/product/product-checks.ts";
import { Load, MODELS, type Told } from "../../support/product/product-load.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { ARCHIVING, baseBackup, makeArchive } from "../../support/stores/postgres-backup.ts";
import { usd } from "../../support/stores/world.ts";
import { openAccounts } from "./accounts.ts";
import type { ChaosOptions } from "./gateway-kills.ts";
import { openShop, type RestoreAnswer, type Shop } from "./shop.ts";

const CALLERS = 4;
const PAYERS = 4;
const WITHIN_MS = 120_000;

interface Drill {
  readonly shop: Shop;
  readonly product: Product;
  readonly payers: readonly TestAccount[];
  readonly accounts: readonly TestAccount[];
  readonly random: ChaosOptions["random"];
  /** The answers of all callers of the drill. */
  readonly told: Told[];
}

/** The changes in the span that a restore takes back. */
interface Span {
  /** The references of credits by hand, and their accounts. */
  readonly byHand: readonly { readonly account: string; readonly reference: string }[];
}

/** Takes Postgres back by this many seconds, once by its own recovery and once by a copy. */
export async function drillRestore({ times, random, say }: ChaosOptions): Promise<void> {
  const folder = temporaryFolder("farebox-restore-drill-");
  await using resources = new AsyncDisposableStack();
  resources.defer(() => folder.remove());
  const shop = resources.use(
    await openShop({
      apis: 2,
      ownPostgres: true,
      postgresSettings: ARCHIVING,
      models: MODELS,
      record: false,
    }),
  );
  const { product } = shop;
  makeArchive(product.postgres);
  const payers = await Promise.all(Array.from({ length: PAYERS }, () => product.account()));
  const accounts = await openAccounts(product);
  const drill: Drill = { shop, product, payers, accounts, random, told: [] };
  for (const payer of payers) await shop.pay(payer, "20");
  say(`Postgres put back by ${times} s`);
  say(`  by its own recovery: ${await byRecovery(drill, times, join(folder.path, "base"))}`);
  say(`  by farebox restore: ${await byCopy(drill, times, join(folder.path, "copy"))}`);
}

async function byRecovery(drill: Drill, seconds: number, folder: string): Promise<string> {
  const { product } = drill;
  const load = startLoad(drill);
  await load.servedMore(20, WITHIN_MS);
  const backup = await baseBackup(product.postgres, folder);
  await load.servedMore(20, WITHIN_MS);
  const at = new Date();
  const span = await passTime(drill, load, seconds);
  await stopAll(product);
  await backup.restoreTo(at);
  const dry = await drill.shop.farebox("restore", "--dry-run");
  for (const { account } of span.byHand) {
    const isNamed = dry.lost.wallets_ahead.some((wallet) => wallet.account === account);
    must(isNamed, () => `${account} had a credit by hand that Postgres lost, and is not named`);
  }
  const done = await drill.shop.farebox("restore", "--yes");
  return await proveRestored(drill, span, done);
}

async function byCopy(drill: Drill, seconds: number, folder: string): Promise<string> {
  const { product } = drill;
  const load = startLoad(drill);
  await load.servedMore(20, WITHIN_MS);
  await drill.shop.farebox("backup", folder);
  const span = await passTime(drill, load, seconds);
  await stopAll(product);
  const done = await drill.shop.farebox("restore", folder, "--yes");
  for (const { account, reference } of span.byHand) {
    const isNamed = done.lost.operations.some(
      (operation) => operation.account === account && operation.reference === reference,
    );
    must(isNamed, () => `The credit ${reference} of ${account} was lost and is not named`);
  }
  must(done.lost.charged_usd !== "0", () => "No charge was in the span that is lost");
  return await proveRestored(drill, span, done);
}

function startLoad({ product, accounts, random }: Drill): Load {
  return new Load(product, { accounts, callers: CALLERS, random });
}

/** Makes calls, payments, a refund and credits by hand, over this many seconds. */
async function passTime(drill: Drill, load: Load, seconds: number): Promise<Span> {
  const { shop, product, accounts, random } = drill;
  const payers = [...drill.payers];
  const endMs = performance.now() + seconds * 1_000;
  const byHand: { account: string; reference: string }[] = [];
  do {
    // The newest payers: an account may pay only a limited amount a day.
    await shop.pay(random.pick(payers.slice(-PAYERS)), "10");
    const newcomer = await product.account();
    await shop.pay(newcomer, "15");
    payers.push(newcomer);
    const { id: account } = random.pick(accounts);
    const reference = `by hand ${byHand.length}`;
    const terms = { amount: usd("1.5"), reason: "the drill", reference } as const;
    await adjustBalance(product.operator.administration, account, terms);
    byHand.push({ account, reference });
    await load.servedMore(5, WITHIN_MS);
  } while (performance.now() < endMs);
  shop.paid.sandbox.actions.refund(await anyPayment(product), 100);
  await load.stop();
  drill.told.push(...load.told);
  return { byHand };
}

async function stopAll({ programs }: Product): Promise<void> {
  await Promise.all(programs.map((program) => program.stop()));
}

async function proveRestored(drill: Drill, span: Span, done: RestoreAnswer): Promise<string> {
  const { product } = drill;
  must(done.ok === true, () => `The restore found problems: ${done.problems?.join("; ")}`);
  await Promise.all(product.programs.map((program) => program.start()));
  const load = startLoad(drill);
  await load.servedMore(20, WITHIN_MS);
  await load.stop();
  const gone = await proveCharges(drill, load.told);
  const books = await drill.shop.farebox<{ readonly ok: boolean; readonly payments: number }>(
    "backup",
    "check",
  );
  must(books.ok, () => "The ledger and the provider differ");
  const results = done.payments ?? [];
  const remade = results.filter(({ result }) => result !== "read").length;
  return (
    `${span.byHand.length} credits by hand lost and named, ${results.length} payments read again ` +
    `(${remade} booked anew), ${books.payments} in all; ${gone} calls of the span given back; ` +
    "audit clean"
  );
}

/**
 * Requires that calls after the restore are charged as usual; of those before, a charged call must
 * have its caller's cost. Returns the number of calls that are no longer charged.
 */
async function proveCharges({ product, told }: Drill, after: readonly Told[]): Promise<number> {
  const kept = await notGivenBack(product, told);
  await proveBooks(product, [...kept, ...after]);
  const gone = told.length - kept.length;
  told.splice(0, told.length, ...kept, ...after);
  return gone;
}

async function anyPayment({ operator }: Product): Promise<string> {
  const [row] = await operator.database.sql`
    SELECT intent FROM top_ups WHERE status = 'succeeded' ORDER BY number LIMIT 1`;
  return String(row?.intent);
}
