// `bun bench/objects.ts` counts the JavaScript objects that a billed call makes in the gateway, by
// kind; `bun bench/objects.ts search` those of a billed search. Unlike CPU, the counts do not
// depend on other work on the machine, so they show small changes.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../scripts/local/processes.mjs";
import { makeCallers, startApi, startStores } from "./farebox.ts";
import { requestOf } from "./load/requests.ts";
import { searchOf, startUpstream } from "./targets.ts";

/** Enough calls to compile all code of a call. */
const WARM_UP_CALLS = 8_000;
const CALLS = 400;
const AT_ONCE = 20;
/**
 * Bun makes one object of this kind for each request; requests of the warm-up may be counted too.
 */
const REQUEST = "BunRequest";
/** Objects may be collected between two counts, however much memory there is. */
const ATTEMPTS_MAX = 5;
/** The compiler lags behind the warm-up by at most this time. */
const COMPILE_MS = 1_000;
/** Kinds with fewer objects a call are not shown. */
const SHOWN_MIN = 0.5;
// Makes collections between two counts rare. The first factor counts on machines with 16 GB of
// memory and more, the others on smaller ones.
const NO_COLLECTION = {
  BUN_GC_TIMER_DISABLE: "1",
  BUN_JSC_heapGrowthMaxIncrease: "8",
  BUN_JSC_smallHeapGrowthFactor: "8",
  BUN_JSC_mediumHeapGrowthFactor: "8",
};

type Counts = Readonly<Record<string, number>>;

await using cleanup = new AsyncDisposableStack();
const folder = temporaryFolder("farebox-bench-objects-");
cleanup.defer(() => folder.remove());
const { path } = folder;
const preload = `--preload=${join(import.meta.dir, "load", "heap-counts.ts")}`;
const stores = await startStores(path);
cleanup.defer(() => stores.stop());
const callers = await makeCallers(stores);
const upstream = await startUpstream(path);
cleanup.defer(() => upstream.stop());
Object.assign(process.env, NO_COLLECTION, { BUN_OPTIONS: preload, HEAP_COUNTS: path });
const secrets = callers.map(({ secret }) => secret);
const api = await startApi(stores, { logFolder: path, upstreamUrl: upstream.url }, { secrets });
cleanup.defer(() => api.stop());

const model = Bun.argv[2] ?? "plain";
const target = model === "search" ? searchOf(api.target) : api.target;
// All calls have the same body, so that counts can be compared.
const { body } = requestOf({ model, stream: false }, 0);
await calls(WARM_UP_CALLS);
await Bun.sleep(COMPILE_MS);
print(await measured());

/** Counts the objects of each kind that a call makes. */
async function measured(): Promise<Counts> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const before = await counted(2 * attempt);
    await calls(CALLS);
    const after = await counted(2 * attempt + 1);
    const more = (kind: string) => (after[kind] ?? 0) - (before[kind] ?? 0);
    const requests = more(REQUEST);
    if (requests < CALLS) continue;
    return Object.fromEntries(Object.keys(after).map((kind) => [kind, more(kind) / requests]));
  }
  throw new Error(`Objects were collected in each of ${ATTEMPTS_MAX} attempts`);
}

async function calls(count: number): Promise<void> {
  for (let made = 0; made < count; made += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => call(made + index)));
  }
}

async function call(index: number): Promise<void> {
  const headers = {
    "content-type": "application/json",
    ...target.callers[index % secrets.length],
  };
  const response = await fetch(target.url, { method: "POST", headers, body });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
}

/** The counts of the API process now. */
async function counted(number: number): Promise<Counts> {
  const file = join(path, `${number}.json`);
  process.kill(api.pid, "SIGUSR2");
  while (!existsSync(file) || readFileSync(file, "utf8") === "") await Bun.sleep(20);
  return JSON.parse(readFileSync(file, "utf8"));
}

function print(counts: Counts): void {
  const rows = Object.entries(counts)
    .filter(([, count]) => count >= SHOWN_MIN)
    .sort(([, one], [, other]) => other - one);
  const all = rows.reduce((sum, [, count]) => sum + count, 0);
  console.log(`${all.toFixed(0).padStart(6)}  objects a call`);
  for (const [kind, count] of rows) console.log(`${count.toFixed(1).padStart(6)}  ${kind}`);
}
