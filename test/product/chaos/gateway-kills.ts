// Kills API processes under load: at any moment, in the middle of streams, and at named points of a
// call.

import { join } from "node:path";
import { CHECKPOINT_MS } from "../../../src/core/access/limits.ts";
import { toUuid } from "../../../src/core/ids.ts";
import { CRASH_POINTS, type CrashPoint } from "../../support/product/crash-points.ts";
import { type Api, type Product, startProduct } from "../../support/product/product.ts";
import { must, type Proof, proveBooks } from "../../support/product/product-checks.ts";
import { callOnce, Load, MODELS, type Told } from "../../support/product/product-load.ts";
import { WAYS } from "../../support/product/ways.ts";
import type { Random } from "../../support/random.ts";
import { openAccounts } from "./accounts.ts";

const PRELOAD = join(import.meta.dir, "../../support/product/crash-preload.ts");
const CALLERS = 8;
/** After this many kills the worker is killed too. */
const KILLS_A_WORKER = 5;

type Death = "any moment" | CrashPoint;

export interface ChaosOptions {
  /** The number of kills. */
  readonly times: number;
  readonly random: Random;
  /** Called with the figures. */
  readonly say: (line: string) => void;
}

/** Kills one API process after the other while a second one serves; then proves the books. */
export async function killGateways({ times: kills, random, say }: ChaosOptions): Promise<void> {
  await using product = await startProduct({ apis: 3, models: MODELS, record: false });
  const accounts = await openAccounts(product);
  const [steady, victim, holder] = [product.api(0), product.api(1), product.api(2)];
  const load = new Load(product, { accounts, callers: CALLERS, random, apis: [steady, victim] });
  // Streams that are long enough for a checkpoint, on a process that dies last.
  const held = WAYS.map((way) =>
    callOnce(holder, random.pick(accounts.slice(0, -1)), { kind: "long", way }),
  );
  const startMs = performance.now();
  const deaths = new Map<Death, number>();
  for (let kill = 0; kill < kills; kill += 1) {
    const death = random.pick<Death>(["any moment", "any moment", ...CRASH_POINTS]);
    deaths.set(death, (deaths.get(death) ?? 0) + 1);
    await killOnce(victim, load, death, random);
    if (kill % KILLS_A_WORKER === 0) await killWorkers(product);
  }
  const heldMs = performance.now() - startMs;
  await holder.kill9();
  const cut = (await Promise.all(held)).flatMap((one) => one ?? []);
  await load.stop();
  const proof = await proveBooks(product, [...load.told, ...cut]);
  const checkpoints = cut.filter((one) => (chargeOf(proof, one) ?? 0n) > 0n).length;
  if (heldMs > 3 * CHECKPOINT_MS) {
    must(checkpoints === WAYS.length, () => `${checkpoints} of the long streams were charged`);
  }
  const kinds = [...deaths].map(([death, times]) => `${times} ${death}`).join(", ");
  say(`${kills} gateway kills: ${kinds}; ${WAYS.length} long streams`);
  say(
    `  ${proof.served} calls served, ${proof.brokenOff} broke off, ${proof.unknown} unanswered, ` +
      `${load.count(402)} refused for money, ${proof.swept} holds swept, ` +
      `${checkpoints} charged by their checkpoint; audit clean`,
  );
}

function chargeOf({ charges }: Proof, { requestId }: Told): bigint | undefined {
  return requestId === null ? undefined : charges.get(toUuid(requestId))?.amount;
}

/** The flush must move each entry once, wherever it is interrupted. */
async function killWorkers({ workers }: Product): Promise<void> {
  for (const worker of workers) {
    await worker.kill9();
    await worker.start();
  }
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
