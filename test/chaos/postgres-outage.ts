// Postgres gone and back under load: calls go on, and the ledger catches up by itself.

import { readJournal } from "../../actors/journal.ts";
import { AuditRepository } from "../../src/store/audit.ts";
import { eventually } from "../support/eventually.ts";
import { type Product, startProduct } from "../support/product.ts";
import { must, proveBooks } from "../support/product-checks.ts";
import { callOnce, Load, MODELS, type Told } from "../support/product-load.ts";
import { openAccounts } from "./accounts.ts";
import type { ChaosOptions } from "./gateway-kills.ts";

const CALLERS = 8;

/** Takes Postgres away for so many seconds; then proves the books. */
export async function takePostgresAway({ times, random, say }: ChaosOptions): Promise<void> {
  await using product = await startProduct({
    apis: 2,
    ownPostgres: true,
    models: MODELS,
    record: false,
  });
  const accounts = await openAccounts(product);
  // What a process must have asked Postgres for once: who owns a key.
  const first: Told[] = [];
  for (const api of product.apis) {
    const told = await Promise.all(accounts.map((account) => callOnce(api, account, "ok")));
    first.push(...told.flatMap((one) => one ?? []));
  }
  const load = new Load(product, { accounts, callers: CALLERS, random });
  await load.servedMore(20);
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
  say(`Postgres killed and away for ${times} s`);
  say(
    `  ${during} calls meanwhile, none failed; flushed ${drainMs.toFixed(0)} ms after it was ` +
      `back; ${proof.served} served in all; audit clean`,
  );
}

/** How many journal entries each bucket has written. */
async function newestEntries({ operator }: Product): Promise<number[]> {
  const { redis } = operator.actors.scripts;
  const buckets = Array.from({ length: 64 }, (_, bucket) => bucket);
  const pages = buckets.map((bucket) => readJournal(redis, bucket, { epoch: 0, entry: 0 }, 1));
  return (await Promise.all(pages)).map(({ written }) => written);
}

async function isFlushed({ operator }: Product, entries: readonly number[]): Promise<boolean> {
  const cursors = await new AuditRepository(operator.database).cursors().catch(() => []);
  return cursors.length > 0 && cursors.every((row) => row.entry >= (entries[row.bucket] ?? 0));
}
