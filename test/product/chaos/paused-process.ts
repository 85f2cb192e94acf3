// Pauses an API process, like a suspended virtual machine, for longer than its lease: the sweep
// resolves its holds, and then it goes on as if nothing had happened. The receipts that were issued
// in between are corrected.

import { LEASE_MS } from "../../../src/core/access/limits.ts";
import { fromUuid } from "../../../src/core/ids.ts";
import { type NanoUsd, toDecimal } from "../../../src/core/money/money.ts";
import { type ReceiptClaims, verifyReceipt } from "../../../src/core/receipts/receipt-jws.ts";
import type { PublicJwk } from "../../../src/core/receipts/receipt-keys.ts";
import { HOLD_EXPIRED } from "../../../workers/sweep.ts";
import { type Api, type Product, startProduct } from "../../support/product/product.ts";
import { must, proveBooks, sweepDead } from "../../support/product/product-checks.ts";
import { callOnce, type Kind, Load, MODELS } from "../../support/product/product-load.ts";
import { WAYS } from "../../support/product/ways.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { openAccounts } from "./accounts.ts";
import type { ChaosOptions } from "./gateway-kills.ts";

const SHORT_CALLS = 24;
const LONG_STREAMS = 4;
const MOMENT_MS_MAX = 40;
const CALLERS = 4;
/** After this long the worker has swept the holds of a process that does not renew its lease. */
const SWEPT_MS = LEASE_MS + 15_000;

/** Stops one of two processes for this many seconds in the middle of calls; proves the books. */
export async function pauseGateway({ times: seconds, random, say }: ChaosOptions): Promise<void> {
  await using product = await startProduct({ models: MODELS, record: false });
  const accounts = await openAccounts(product);
  const rich = accounts.slice(0, -1);
  const [victim, steady] = [product.api(0), product.api(1)];
  const started = Promise.withResolvers<void>();
  const onText = () => started.resolve();
  const call = (kind: Kind) =>
    callOnce(victim, random.pick(rich), { kind, way: random.pick(WAYS), onText });
  const isLong = seconds * 1_000 > SWEPT_MS;
  const calls = [
    ...Array.from({ length: isLong ? LONG_STREAMS : 0 }, () => call("long")),
    ...Array.from({ length: SHORT_CALLS }, () => call(random.pick(["ok", "stream", "stream"]))),
  ];
  await started.promise;
  await Bun.sleep(random.between(0, MOMENT_MS_MAX));
  process.kill(victim.pid, "SIGSTOP");
  // The other process goes on, with the same accounts.
  const load = new Load(product, { accounts: rich, callers: CALLERS, random, apis: [steady] });
  await Bun.sleep(seconds * 1_000);
  await load.stop();
  // After a short pause the sweep finds nothing, so it is run with a later time.
  if (!isLong) await sweepDead(product);
  const early = await receiptsOfSwept(product, { accounts: rich, api: steady });
  process.kill(victim.pid, "SIGCONT");
  const told = (await Promise.all(calls)).flatMap((one) => one ?? []);
  const proof = await proveBooks(product, [...load.told, ...told], { chargesMax: 2 });
  must(proof.swept === 0, () => `${proof.swept} holds were left to the sweep`);
  const rows = await product.operator.database.sql`
    SELECT request::text FROM ledger_entries WHERE kind = 'late_charge'`;
  const late = rows.length;
  must(late > 0, () => "the sweep found no hold of the process that stood still");
  for (const { request } of rows) {
    const first = early.get(request);
    must(first !== undefined, () => `${request} had no receipt before it was settled late`);
    if (first === undefined) continue;
    const second = await receiptOf(victim, first);
    const cost = toDecimal((proof.charges.get(request)?.amount ?? 0n) as NanoUsd);
    checkCorrection(second, cost);
    const [kept] = await product.operator.database.sql`
      SELECT jws FROM receipts WHERE request = ${request} AND number = 1`;
    must(kept?.jws === first.jws, () => `The first receipt of ${request} was changed`);
    const again = await receiptOf(steady, first);
    must(again.jws === second.jws, () => `${request} has two second receipts`);
  }
  say(`An API process stood still for ${seconds} s with ${told.length} calls open`);
  say(
    `  ${proof.served} calls served, ${proof.brokenOff} broke off, ` +
      `${late} swept and settled late; audit clean`,
  );
  say(`  ${early.size} receipts of swept calls; ${late} corrected by a second one`);
}

interface CallOfAccount {
  readonly account: TestAccount;
  /** The id of the request. */
  readonly id: string;
}

interface IssuedReceipt {
  readonly number: number;
  readonly corrects: number | null;
  readonly jws: string;
  readonly claims: ReceiptClaims;
}

interface Askers {
  readonly accounts: readonly TestAccount[];
  readonly api: Api;
}

/** Issues the receipt of every swept call of these accounts; by the UUID of the request. */
async function receiptsOfSwept(
  product: Product,
  { accounts, api }: Askers,
): Promise<ReadonlyMap<string, CallOfAccount & Pick<IssuedReceipt, "jws">>> {
  await product.booked();
  const rows = await product.operator.database.sql`
    SELECT l.request::text, a.id AS account FROM request_log l
    JOIN accounts a ON a.number = l.account WHERE l.error_code = ${HOLD_EXPIRED}`;
  const issued = new Map<string, CallOfAccount & Pick<IssuedReceipt, "jws">>();
  for (const { request, account: owner } of rows) {
    const account = accounts.find(({ id }) => id === owner);
    if (account === undefined) continue;
    const call = { account, id: fromUuid("request", request) };
    const { number, jws, claims } = await receiptOf(api, call);
    const { receipt } = claims;
    must(number === 1, () => `${call.id} began with receipt ${number}`);
    must(receipt.error_code === HOLD_EXPIRED, () => `${call.id}: ${receipt.error_code}`);
    issued.set(request, { ...call, jws });
  }
  return issued;
}

/** A call that was settled late has a second receipt, which names the first and has all charges. */
function checkCorrection({ number, corrects, claims }: IssuedReceipt, cost: string): void {
  const { jti, receipt } = claims;
  must(number === 2 && corrects === 1, () => `${jti}: receipt ${number} corrects ${corrects}`);
  must(receipt.number === 2 && receipt.corrects === 1, () => `${jti}: not what it claims`);
  must(receipt.cost_usd === cost, () => `${jti} cost ${cost}, its receipt ${receipt.cost_usd}`);
  must(receipt.error_code !== HOLD_EXPIRED, () => `${jti} is still said to have expired`);
}

/** The last receipt of a call, whose signature is verified. */
async function receiptOf({ url }: Api, { account, id }: CallOfAccount): Promise<IssuedReceipt> {
  const headers = { authorization: `Bearer ${account.key}` };
  const response = await fetch(`${url}/v1/receipts/${id}`, { headers });
  must(response.ok, () => `The receipt of ${id} was answered with ${response.status}`);
  const issued = (await response.json()) as Omit<IssuedReceipt, "claims">;
  const keys = await fetch(`${url}/.well-known/jwks.json`);
  const { keys: known } = (await keys.json()) as { keys: PublicJwk[] };
  return { ...issued, claims: await verifyReceipt(issued.jws, known) };
}
