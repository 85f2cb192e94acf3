// Postgres put back to a time in the past under everything that then differs: calls, payments and
// refunds at the provider, and what operators booked by hand. No payment may be lost, and what is
// lost must be named.

import { join } from "node:path";
import { temporaryFolder } from "../../scripts/processes.mjs";
import { adjustBalance } from "../../src/accounts/payments.ts";
import { toUuid } from "../../src/core/ids.ts";
import { type Sandbox, startSandbox } from "../../src/payments/providers/sandbox/sandbox-server.ts";
import { realClock } from "../api/fake-clock.ts";
import { ARCHIVING, baseBackup, makeArchive } from "../support/postgres-backup.ts";
import { type Product, type ProductAccount, startProduct } from "../support/product.ts";
import { random as bytes, silent, usd } from "../support/world.ts";
import { openAccounts } from "./accounts.ts";
import { chargesOf, must, proveBooks } from "./books.ts";
import type { ChaosOptions } from "./gateway-kills.ts";
import { Load, MODELS, type Told } from "./load.ts";

const CALLERS = 4;
const PAYERS = 4;
const SECRET_KEY = "sk_sandbox_of_the_drill";
const WEBHOOK_SECRET = "whsec_of_the_restore_drill";
const OK_CARD = "4242424242424242";
const WITHIN_MS = 120_000;

interface Drill {
  readonly product: Product;
  readonly sandbox: Sandbox;
  readonly env: Readonly<Record<string, string>>;
  readonly payers: readonly ProductAccount[];
  readonly accounts: readonly ProductAccount[];
  readonly random: ChaosOptions["random"];
  /** What all callers of the drill were told. */
  readonly told: Told[];
}

/** What was done in the span that a restore takes back. */
interface Span {
  /** The references of credits by hand, and their accounts. */
  readonly byHand: readonly { readonly account: string; readonly reference: string }[];
}

/** What `farebox restore --json` answers, as far as the drill reads it. */
interface RestoreAnswer {
  readonly ok?: boolean;
  readonly problems?: readonly string[];
  readonly lost: {
    readonly operations: readonly { readonly account: string; readonly reference: string | null }[];
    readonly wallets_ahead: readonly { readonly account: string }[];
    readonly charged_usd: string;
  };
  readonly payments?: readonly { readonly result: string }[];
}

/** Takes Postgres back by so many seconds, once by its own recovery and once by a copy. */
export async function drillRestore({ times, random, say }: ChaosOptions): Promise<void> {
  const webhook = { url: "", secret: WEBHOOK_SECRET };
  const sandbox = startSandbox({
    ...{ port: 0, file: null, secretKey: SECRET_KEY, webhook, now: Date.now, random: bytes },
    ...{ after: realClock.after, log: silent },
  });
  await using resources = new AsyncDisposableStack();
  resources.defer(() => sandbox.stop());
  const folder = temporaryFolder("farebox-restore-drill-");
  resources.defer(() => folder.remove());
  const env = {
    STRIPE_SECRET_KEY: SECRET_KEY,
    STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
    STRIPE_API_BASE: sandbox.url,
    STRIPE_RETURN_URL: "https://farebox.example/",
  };
  const product = resources.use(
    await startProduct({
      ...{ apis: 2, ownPostgres: true, postgresSettings: ARCHIVING, models: MODELS },
      ...{ record: false, env },
    }),
  );
  makeArchive(product.postgres);
  webhook.url = `${product.api(0).url}/webhooks/stripe`;
  const payers = await Promise.all(Array.from({ length: PAYERS }, () => product.account()));
  const accounts = await openAccounts(product);
  const drill: Drill = { product, sandbox, env, payers, accounts, random, told: [] };
  for (const payer of payers) await pay(drill, payer, "20");
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
  const dry = await farebox(drill, "restore", "--dry-run");
  for (const { account } of span.byHand) {
    const isNamed = dry.lost.wallets_ahead.some((wallet) => wallet.account === account);
    must(isNamed, () => `${account} had a credit by hand that Postgres lost, and is not named`);
  }
  const done = await farebox(drill, "restore", "--yes");
  return await proveRestored(drill, span, done);
}

async function byCopy(drill: Drill, seconds: number, folder: string): Promise<string> {
  const { product } = drill;
  const load = startLoad(drill);
  await load.servedMore(20, WITHIN_MS);
  await farebox(drill, "backup", folder);
  const span = await passTime(drill, load, seconds);
  await stopAll(product);
  const done = await farebox(drill, "restore", folder, "--yes");
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

/** Calls, payments, a refund and credits by hand, over so many seconds. */
async function passTime(drill: Drill, load: Load, seconds: number): Promise<Span> {
  const { product, sandbox, payers, accounts, random } = drill;
  const endMs = performance.now() + seconds * 1_000;
  const byHand: { account: string; reference: string }[] = [];
  do {
    await pay(drill, random.pick(payers), "10");
    const newcomer = await product.account();
    await pay(drill, newcomer, "15");
    const { id: account } = random.pick(accounts);
    const reference = `by hand ${byHand.length}`;
    const terms = { amount: usd("1.5"), reason: "the drill", reference } as const;
    await adjustBalance(product.operator.administration, account, terms);
    byHand.push({ account, reference });
    await load.servedMore(5, WITHIN_MS);
  } while (performance.now() < endMs);
  sandbox.actions.refund(await anyPayment(product), 100);
  await load.stop();
  drill.told.push(...load.told);
  return { byHand };
}

async function pay(drill: Drill, { id }: ProductAccount, amount: string): Promise<void> {
  const link = await farebox<{ readonly url: string }>(drill, "topup", "link", id, "--usd", amount);
  await fetch(link.url, { method: "POST", body: new URLSearchParams({ card: OK_CARD }) });
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
  const books = await farebox<{ readonly ok: boolean; readonly payments: number }>(
    drill,
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
 * Calls after the restore are charged as ever; of those before, a call that is charged was charged
 * as it was told. Answers how many are not any more.
 */
async function proveCharges({ product, told }: Drill, after: readonly Told[]): Promise<number> {
  await product.booked();
  const charges = await chargesOf(product);
  const isGone = ({ status, requestId }: Told) => {
    return status === 200 && requestId !== null && !charges.has(toUuid(requestId));
  };
  const kept = told.filter((one) => !isGone(one));
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

/** A command of the tool that must succeed. */
async function farebox<Answer = RestoreAnswer>(
  { product, env }: Drill,
  ...args: readonly string[]
): Promise<Answer> {
  const file = join(import.meta.dir, "../../src/cli/main.ts");
  const child = Bun.spawn([process.execPath, file, ...args, "--json"], {
    env: { PATH: process.env.PATH ?? "", ...product.env, ...env },
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`farebox ${args.join(" ")}: ${err} ${out}`);
  return JSON.parse(out);
}
