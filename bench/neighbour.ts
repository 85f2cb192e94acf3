// `bun bench/neighbour.ts` measures how one account can slow down the small calls of another. A key
// of a Free account sends 20 calls of 3.9 MB, four at a time, all refused for lack of money, while
// another account makes small calls. Such a key can send 20 calls a minute, so the comparison is
// over one minute.

import { createAccount, createKey } from "../src/accounts/administration.ts";
import { recordPayment } from "../src/accounts/payments.ts";
import { usd } from "../src/core/money/money.ts";
import { Accounts } from "../src/store/accounts/accounts.ts";
import { Payments } from "../src/store/payments/payments.ts";
import { random, SECRETS, type Stores } from "./farebox.ts";
import { BUN } from "./launch.ts";
import { percentilesOf } from "./rounds.ts";
import { bodyOf, during, headersOf, startSmallCaller, timesOf } from "./small-calls.ts";

const QUIET_MS = 20_000;
const DISTURBED_MS = 60_000;
const WARM_UP_CALLS = 20_000;
const LARGE_CALLS = 20;
const LARGE_AT_ONCE = 4;
const LARGE_BYTES = 3_900_000;
/** Four characters in twelve bytes: the slowest text to tokenise. */
const LARGE_WORD = "ราคา";
/** Enough for the counted tokens of a large prompt, but not for the margin on top. */
const LARGE_BUDGET = usd("0.055");
const RATIO_AIM = 3;

interface Attack {
  readonly url: string;
  readonly key: string;
}

async function main(): Promise<void> {
  const [attack] = process.argv.slice(2);
  if (attack !== undefined) return await sendLarge(JSON.parse(attack) as Attack);
  await using cleanup = new AsyncDisposableStack();
  const victim = await startSmallCaller(cleanup, "farebox-neighbour-");
  const { url } = victim.target;
  const key = await freeKey(victim.stores);
  await timesOf(victim, (calls) => calls < WARM_UP_CALLS);
  const command = [BUN, import.meta.path, JSON.stringify({ url, key } satisfies Attack)];
  const attacker = Bun.spawn(command, { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  cleanup.defer(() => attacker.kill());
  const begun = performance.now();
  let attackMs: number | null = null;
  const exited = attacker.exited.then(() => {
    attackMs = performance.now() - begun;
  });
  const atOnce = await timesOf(victim, () => attackMs === null);
  const after = await timesOf(victim, during(DISTURBED_MS - (attackMs ?? 0)));
  await exited;
  // Measured last, because a process that has just started still builds its data files.
  const quiet = await timesOf(victim, during(QUIET_MS));
  console.log(await attacker.stdout.text());
  report({ quiet, atOnce, minute: [...atOnce, ...after], attackMs: attackMs ?? Number.NaN });
}

/** A key of a Free account with a little paid credit. */
async function freeKey({ database, actors }: Stores): Promise<string> {
  const accounts = new Accounts({ database, random, keyPepper: SECRETS.KEY_PEPPER });
  const payments = new Payments({ database, random });
  const deps = { accounts, payments, actors, now: Date.now, onDelayed: console.error };
  const { id } = await createAccount(deps, { surface: "gateway", email: null });
  await recordPayment(deps, id, { amount: usd("4"), paidAt: new Date() });
  const terms = { name: "large", scopes: ["models"], ipAllowlist: [] } as const;
  return (await createKey(deps, id, { ...terms, monthlyLimit: LARGE_BUDGET })).key;
}

async function sendLarge({ url, key }: Attack): Promise<void> {
  const body = bodyOf(LARGE_WORD.repeat(LARGE_BYTES / Buffer.byteLength(LARGE_WORD)));
  const statuses: number[] = [];
  const sendInTurn = async () => {
    for (let sent = 0; sent < LARGE_CALLS / LARGE_AT_ONCE; sent += 1) {
      const response = await fetch(url, { method: "POST", headers: headersOf(key), body });
      await response.bytes();
      statuses.push(response.status);
    }
  };
  await Promise.all(Array.from({ length: LARGE_AT_ONCE }, sendInTurn));
  const answers = [...new Set(statuses)].join(", ");
  console.log(`${statuses.length} calls of 3.9 MB were answered ${answers}`);
}

function report(run: {
  readonly quiet: readonly number[];
  /** The calls while large calls were open. */
  readonly atOnce: readonly number[];
  /** The calls in the whole minute of the large calls. */
  readonly minute: readonly number[];
  readonly attackMs: number;
}): void {
  const row = (name: string, times: readonly number[]) => {
    const { p50Ms, p99Ms } = percentilesOf(times);
    console.log(
      `${name}: ${times.length} calls, p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms`,
    );
    return p99Ms;
  };
  console.log(`The large calls took ${(run.attackMs / 1_000).toFixed(1)} s`);
  const quiet = row("quiet", run.quiet);
  row("while they run", run.atOnce);
  const ratio = row("in their minute", run.minute) / quiet;
  console.log(`p99 in their minute / quiet: ${ratio.toFixed(1)} (aim: below ${RATIO_AIM})`);
}

await main();
