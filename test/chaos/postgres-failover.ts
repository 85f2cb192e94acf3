// The primary of Postgres killed under load and its standby promoted: calls go on, and the ledger
// continues on the other server.

import { migrate } from "../../src/store/migrate.ts";
import { startProduct } from "../support/product.ts";
import { startPrivatePostgres } from "../support/services.ts";
import { REPLICATING, startStandby } from "../support/standby.ts";
import { openAccounts } from "./accounts.ts";
import { must, proveBooks } from "./books.ts";
import type { ChaosOptions } from "./gateway-kills.ts";
import { callOnce, Load, MODELS, type Told } from "./load.ts";

const CALLERS = 8;
const WITHIN_MS = 120_000;

/** Serves for so many seconds on each side of the failover; then proves the books. */
export async function failPostgresOver({ times, random, say }: ChaosOptions): Promise<void> {
  await using primary = await startPrivatePostgres({ settings: REPLICATING });
  await migrate(primary.url);
  await using standby = await startStandby(primary);
  await using product = await startProduct({
    ...{ apis: 2, models: MODELS, record: false, databaseUrl: standby.url },
  });
  const accounts = await openAccounts(product);
  const first: Told[] = [];
  for (const api of product.apis) {
    const told = await Promise.all(accounts.map((account) => callOnce(api, account, "ok")));
    first.push(...told.flatMap((one) => one ?? []));
  }
  const load = new Load(product, { accounts, callers: CALLERS, random });
  await load.servedMore(20, WITHIN_MS);
  await Bun.sleep(times * 1_000);
  await primary.kill9();
  const before = load.count(200);
  await Bun.sleep(times * 1_000);
  const meanwhile = load.count(200) - before;
  await standby.promote();
  const startMs = performance.now();
  await product.booked();
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
