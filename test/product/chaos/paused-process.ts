// Pauses an API process, like a suspended virtual machine, for longer than its lease: the sweep
// resolves its holds, and then it goes on as if nothing had happened.

import { LEASE_MS } from "../../../src/core/access/limits.ts";
import { startProduct } from "../../support/product/product.ts";
import { must, proveBooks, sweepDead } from "../../support/product/product-checks.ts";
import { callOnce, type Kind, Load, MODELS } from "../../support/product/product-load.ts";
import { WAYS } from "../../support/product/ways.ts";
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
  process.kill(victim.pid, "SIGCONT");
  const told = (await Promise.all(calls)).flatMap((one) => one ?? []);
  const proof = await proveBooks(product, [...load.told, ...told], { chargesMax: 2 });
  must(proof.swept === 0, () => `${proof.swept} holds were left to the sweep`);
  const [row] = await product.operator.database.sql`
    SELECT count(*)::int AS late FROM ledger_entries WHERE kind = 'late_charge'`;
  const late = Number(row?.late);
  must(late > 0, () => "the sweep found no hold of the process that stood still");
  say(`An API process stood still for ${seconds} s with ${told.length} calls open`);
  say(
    `  ${proof.served} calls served, ${proof.brokenOff} broke off, ` +
      `${late} swept and settled late; audit clean`,
  );
}
