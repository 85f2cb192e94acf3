// Runs a product under a steady load for a long time: its resources must not grow, and its books
// must be right at the end.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "../../support/eventually.ts";
import { type Product, startProduct } from "../../support/product/product.ts";
import { must, sweepDead, untilCallsEnd } from "../../support/product/product-checks.ts";
import { Random } from "../../support/random.ts";
import { type Sample, toCsv } from "./figures.ts";
import { SoakLoad } from "./load.ts";
import { startMailSink } from "./mail-sink.ts";
import { plotOf } from "./plot.ts";
import { MODELS, Population, type PopulationSize } from "./population.ts";
import { Sampler } from "./sampler.ts";
import { areServed } from "./traffic.ts";
import { judge, verdictTable, warmMinutesOf } from "./verdict.ts";

export interface SoakOptions {
  readonly minutes: number;
  /** Calls a second. */
  readonly rate: number;
  readonly seed: number;
  /** The folder of the CSV and the SVG. */
  readonly folder: string;
  readonly say: (line: string) => void;
  /** A short soak is not judged. */
  readonly isJudged: boolean;
  readonly size?: PopulationSize;
  readonly sampleMs?: number;
  /** True for a separate Postgres, as `npm start` has. */
  readonly ownPostgres?: boolean;
}

const SIZE: PopulationSize = { gateway: 240, application: 60 };
const SAMPLE_MS = 10_000;
const NEW_ACCOUNT_MS = 10_000;
const UNEXPECTED_SHARE_MAX = 0.01;
/** Idle wallets leave Redis before the end of the warm-up. */
const WALLET_IDLE_SECONDS = 300;
const DATA_MS_MAX = 300_000;
const MAIL_END_MS = 120_000;

/** Runs a soak; resolves to true if nothing grew and the books are right. */
export async function soak(options: SoakOptions): Promise<boolean> {
  const { say, folder, rate, seed, minutes } = options;
  mkdirSync(folder, { recursive: true });
  await using mail = await startMailSink();
  await using product = await startProduct({
    apis: 1,
    workers: 1,
    ownPostgres: options.ownPostgres ?? true,
    search: "built in",
    models: MODELS,
    record: false,
    env: {
      MAIL_SMTP_URL: mail.url,
      MAIL_DOMAIN: "mail.soak.test",
      TRUSTED_PROXIES: "127.0.0.1",
      WALLET_IDLE_SECONDS: String(WALLET_IDLE_SECONDS),
      BUN_CONFIG_MAX_HTTP_REQUESTS: "65336",
    },
  });
  const random = new Random(seed);
  const population = await Population.make(product, random, options.size ?? SIZE);
  say(`${population.made} accounts; ${rate} calls a second for ${minutes} minutes, seed ${seed}`);
  const caller = { url: product.api(0).url, random, population };
  // The data files of these services may have to be built first.
  await eventually(
    "search and maps are served",
    () => areServed(caller, ["search", "maps"]),
    DATA_MS_MAX,
  );
  const load = new SoakLoad(caller, rate);
  const samples = await watch(options, { product, population, load });
  await load.stop();
  const warmMinutes = warmMinutesOf(minutes);
  writeFileSync(join(folder, "soak.csv"), toCsv(samples));
  writeFileSync(join(folder, "soak.svg"), plotOf(samples, warmMinutes * 60));
  const calls = await proveEnd(product);
  const judged = judge(samples, warmMinutes * 60);
  say(`\n${verdictTable(judged, warmMinutes)}\n`);
  tellLoad(options, load, meanRate(samples, warmMinutes * 60));
  tellBytes(say, samples, load);
  say(`${calls} rows of the log; the audit is clean, no hold is open, ${mail.taken} mails taken`);
  say(`The samples are in ${join(folder, "soak.csv")}, their plot in soak.svg`);
  const isExpected = load.unexpectedShare <= UNEXPECTED_SHARE_MAX;
  const grown = judged.filter(({ hasGrown }) => hasGrown).map(({ name }) => name);
  if (!isExpected) say("VERDICT: too many calls ended as they must not");
  if (!options.isJudged) return isExpected;
  const growth = grown.length === 0 ? "no growth" : `${grown.join(", ")} grew`;
  say(`VERDICT: ${growth} after ${warmMinutes.toFixed(1)} minutes`);
  return isExpected && grown.length === 0;
}

interface Running {
  readonly product: Product;
  readonly population: Population;
  readonly load: SoakLoad;
}

/** Samples until the time is over; makes a new account now and then. */
async function watch(options: SoakOptions, { product, population, load }: Running) {
  const { minutes, folder, sampleMs = SAMPLE_MS, say } = options;
  const sampler = new Sampler(product, load);
  const samples: Sample[] = [];
  const endMs = performance.now() + minutes * 60_000;
  let nextAccountMs = performance.now() + NEW_ACCOUNT_MS;
  while (performance.now() < endMs) {
    await sleep(Math.min(sampleMs, Math.max(0, endMs - performance.now())));
    const sample = await sampler.sample();
    samples.push(sample);
    if (performance.now() >= nextAccountMs) {
      nextAccountMs += NEW_ACCOUNT_MS;
      await population.replaceOne();
    }
    // Written at each sample, so that the figures outlive an interrupted run.
    writeFileSync(join(folder, "soak.csv"), toCsv(samples));
    if (samples.length % 6 === 1) say(line(sample, load));
  }
  return samples;
}

function line({ atSeconds, values }: Sample, { unexpected, leftOut }: SoakLoad): string {
  const mb = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;
  const wrong = [...unexpected.values()].reduce((sum, one) => sum + one, 0);
  return [
    `${(atSeconds / 60).toFixed(1)} min`,
    `${values.rate.toFixed(0)} calls/s`,
    `p50 ${values.p50.toFixed(0)} ms`,
    `API ${mb(values.apiRss)}`,
    `worker ${mb(values.workerRss)}`,
    `Redis ${mb(values.redisMemory)}, ${values.redisKeys} keys`,
    `lag ${values.lagEntries}`,
    `${wrong} unexpected, ${leftOut} left out`,
  ].join("  ");
}

/** Returns the rows of the log. */
async function proveEnd(product: Product): Promise<number> {
  const { sql } = product.operator.database;
  await untilCallsEnd(product);
  await eventually(
    "every message has ended and is settled",
    async () => {
      const [row] = await sql`
        SELECT count(*)::int AS open FROM mail_messages WHERE settled_at IS NULL`;
      return row?.open === 0;
    },
    MAIL_END_MS,
  );
  const swept = await sweepDead(product);
  must(swept === 0, () => `${swept} holds were left to the sweep`);
  const { difference, openHolds } = await product.audit();
  must(difference === null, () => `audit: ${JSON.stringify(difference)}`);
  must(openHolds === 0, () => `${openHolds} holds are open`);
  const [row] = await sql`SELECT count(*)::int AS calls FROM request_log`;
  return Number(row?.calls);
}

/** The calls answered a second, after the warm-up. */
function meanRate(samples: readonly Sample[], warmSeconds: number): number {
  const later = samples.filter(({ atSeconds }) => atSeconds >= warmSeconds);
  return later.reduce((sum, { values }) => sum + values.rate, 0) / Math.max(1, later.length);
}

function tellLoad({ say, rate }: SoakOptions, load: SoakLoad, reached: number): void {
  const leftOut = load.leftOut === 0 ? "" : `; ${load.leftOut} were left out`;
  say(`${load.answered} calls: ${reached.toFixed(1)} of ${rate} a second${leftOut}`);
  for (const [end, times] of [...load.ends].sort()) say(`  ${end.padEnd(28)} ${times}`);
  const wrong = [...load.unexpected].map(([end, times]) => `${times} × ${end}`);
  say(wrong.length === 0 ? "All ended as they must" : `UNEXPECTED: ${wrong.join("; ")}`);
}

function tellBytes(say: SoakOptions["say"], samples: readonly Sample[], load: SoakLoad): void {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) return;
  const grown = last.values.rows - first.values.rows;
  const share = 1 - first.atSeconds / last.atSeconds;
  const calls = Math.max(1, load.answered * share);
  say(`Log, ledger and mail in Postgres: ${(grown / calls).toFixed(0)} bytes a call`);
}
