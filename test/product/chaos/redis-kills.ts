// Kills Redis under load, and again while it comes back: every acknowledged write must survive.

import { startProduct } from "../../support/product/product.ts";
import { epochsOf, must, proveBooks } from "../../support/product/product-checks.ts";
import { Load, MODELS } from "../../support/product/product-load.ts";
import { openAccounts } from "./accounts.ts";
import type { ChaosOptions } from "./gateway-kills.ts";

const CALLERS = 8;

/** Kills Redis this many times, with two restarts each; then proves the books. */
export async function killRedis({ times, random, say }: ChaosOptions): Promise<void> {
  await using product = await startProduct({ apis: 2, models: MODELS, record: false });
  const { redis } = product;
  const accounts = await openAccounts(product);
  const load = new Load(product, { accounts, callers: CALLERS, random });
  await load.servedMore(20);
  const epochs = await epochsOf(product);
  const delaysMs: number[] = [];
  for (let kill = 0; kill < times; kill += 1) {
    await Bun.sleep(random.between(0, 100));
    await redis.kill9();
    await Bun.sleep(random.between(0, 50));
    await redis.start();
    await Bun.sleep(random.between(0, 100));
    await redis.kill9();
    await redis.start();
    const backMs = performance.now();
    await load.servedMore(1);
    delaysMs.push(performance.now() - backMs);
    await load.servedMore(5);
  }
  await load.stop();
  const proof = await proveBooks(product, load.told);
  const after = await epochsOf(product);
  must(after === epochs, () => "A bucket was built anew: Redis had lost what it acknowledged");
  const slowest = Math.max(...delaysMs).toFixed(0);
  say(`${times} Redis kills, two restarts each; served again at most ${slowest} ms after the last`);
  say(
    `  ${proof.served} calls served, ${load.count(503)} refused meanwhile (503), ` +
      `${load.count(402)} refused for money, ${proof.swept} holds swept; nothing lost, audit clean`,
  );
}
