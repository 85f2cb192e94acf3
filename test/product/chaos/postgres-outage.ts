// Ends connections to Postgres, then takes it away and back, under load: calls go on, no process
// ends, and the ledger catches up by itself.

import { readJournal } from "../../../actors/journal.ts";
import { AuditRepository } from "../../../src/store/audit/audit.ts";
import { eventually } from "../../support/eventually.ts";
import { type Product, startProduct } from "../../support/product/product.ts";
import { must, mustRun, proveBooks } from "../../support/product/product-checks.ts";
import { callOnce, Load, MODELS, type Told } from "../../support/product/product-load.ts";
import type { Random } from "../../support/random.ts";
import { openAccounts } from "./accounts.ts";
import type { ChaosOptions } from "./gateway-kills.ts";

const CALLERS = 8;
const ROUNDS = 30;

/** Takes Postgres away for this many seconds; then proves the books. */
export async function takePostgresAway({ times, random, say }: ChaosOptions): Promise<void> {
  await using product = await startProduct({
    apis: 2,
    ownPostgres: true,
    models: MODELS,
    record: false,
  });
  const accounts = await openAccounts(product);
  // The one question that a process must have asked Postgres before: who owns a key.
  const first: Told[] = [];
  for (const api of product.apis) {
    const told = await Promise.all(
      accounts.map((account) => callOnce(api, account, { kind: "ok" })),
    );
    first.push(...told.flatMap((one) => one ?? []));
  }
  const load = new Load(product, { accounts, callers: CALLERS, random });
  await load.servedMore(20);
  const ended = await endConnections(product, random);
  await product.postgres.kill9();
  const before = load.told.length;
  await Bun.sleep(times * 1_000);
  const during = load.told.length - before;
  const waiting = await newestEntries(product);
  await product.postgres.start();
  const backMs = performance.now();
  await eventually("the worker has flushed what waited", () => isFlushed(product, waiting), 60_000);
  const drainMs = performance.now() - backMs;
  await load.stop();
  const failed = load.told.filter(({ status, cost }) => {
    return cost === null || (status !== 200 && status !== 402);
  });
  must(failed.length === 0 && load.refused === 0, () => {
    return `${failed.length} calls failed, one with ${failed[0]?.status}`;
  });
  must(during > times, () => "No call was served while Postgres was away");
  const proof = await proveBooks(product, [...first, ...load.told]);
  say(`Postgres ended ${ended} connections; then it was killed and away for ${times} s`);
  say(
    `  ${during} calls meanwhile, none failed; flushed ${drainMs.toFixed(0)} ms after it was ` +
      `back; ${proof.served} served in all; audit clean`,
  );
}

/** Makes Postgres end connections at random moments; returns how many. */
async function endConnections(product: Product, random: Random): Promise<number> {
  const { sql } = product.operator.database;
  let ended = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    await Bun.sleep(random.between(0, 100));
    const rows = await sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`;
    ended += rows.length;
    mustRun(product);
  }
  return ended;
}

/** The number of journal entries that each bucket has written. */
async function newestEntries({ operator }: Product): Promise<number[]> {
  const { redis } = operator.actors.scripts;
  const buckets = Array.from({ length: 64 }, (_, bucket) => bucket);
  const pages = buckets.map((bucket) =>
    readJournal(redis, bucket, { epoch: 0, entry: 0, count: 1 }),
  );
  return (await Promise.all(pages)).map(({ written }) => written);
}

async function isFlushed({ operator }: Product, entries: readonly number[]): Promise<boolean> {
  const cursors = await new AuditRepository(operator.database).cursors().catch(() => []);
  return cursors.length > 0 && cursors.every((row) => row.entry >= (entries[row.bucket] ?? 0));
}
