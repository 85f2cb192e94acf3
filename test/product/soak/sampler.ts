// Reads all figures of a running product.

import { residentBytes } from "../../../bench/load/process-usage.ts";
import type { Product } from "../../support/product/product.ts";
import type { Program } from "../../support/product/program.ts";
import type { Sample } from "./figures.ts";
import type { SoakLoad } from "./load.ts";

/** Tables whose rows are the books themselves: they grow with every call. */
const BOOKS = /^(?:request_log|ledger_entries|mail_)/;

export class Sampler {
  readonly #startMs = performance.now();
  #lastMs = this.#startMs;

  constructor(
    readonly product: Product,
    readonly load: SoakLoad,
  ) {}

  async sample(): Promise<Sample> {
    const { product, load } = this;
    const nowMs = performance.now();
    const seconds = (nowMs - this.#lastMs) / 1_000;
    this.#lastMs = nowMs;
    const { answered, p50, p99 } = load.lap();
    const api = await memoryOf(product.api(0));
    const [program] = product.workers;
    if (program === undefined) throw new Error("A soak needs a worker");
    const worker = await memoryOf(program);
    const { rows, rest, connections } = await postgresFigures(product);
    return {
      atSeconds: (nowMs - this.#startMs) / 1_000,
      values: {
        rate: answered / seconds,
        p50,
        p99,
        apiRss: api.rss,
        apiHeap: api.heap,
        workerRss: worker.rss,
        workerHeap: worker.heap,
        ...(await redisFigures(product)),
        rows,
        rest,
        connections,
        openCalls: api.metric("farebox_open_calls"),
        lagEntries: worker.metric("farebox_journal_lag_entries"),
        lagSeconds: worker.metric("farebox_journal_lag_seconds"),
      },
    };
  }
}

async function memoryOf(program: Program) {
  const metrics = await program.metrics();
  const metric = (name: string) => metrics(name) ?? Number.NaN;
  return { rss: residentBytes(program.pid), heap: metric("nodejs_heap_size_used_bytes"), metric };
}

async function redisFigures({ operator }: Product) {
  const { redis } = operator.actors.scripts;
  if ("nodes" in redis) throw new Error("A soak has one Redis");
  const info = await redis.info();
  const field = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, "m").exec(info)?.[1] ?? 0);
  return {
    redisMemory: field("used_memory"),
    redisKeys: await redis.dbsize(),
    redisFile: field("aof_current_size"),
  };
}

interface PostgresFigures {
  readonly rows: number;
  readonly rest: number;
  readonly connections: number;
}

async function postgresFigures({ operator }: Product): Promise<PostgresFigures> {
  const { sql } = operator.database;
  const [whole] = await sql`
    SELECT pg_database_size(current_database())::float8 AS bytes,
      (SELECT count(*)::int FROM pg_stat_activity
        WHERE datname = current_database()) AS connections`;
  const tables = await sql`
    SELECT relname AS name, pg_total_relation_size(oid)::float8 AS bytes FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`;
  const books = tables.filter(({ name }) => BOOKS.test(String(name)));
  const rows = books.reduce((sum, { bytes }) => sum + Number(bytes), 0);
  return {
    rows,
    rest: Number(whole?.bytes) - rows,
    connections: Number(whole?.connections),
  };
}
