// Measures how fast the journal is flushed to Postgres, and the size of a row of the request log.

import { newTimedId } from "../src/core/ids.ts";
import { usd } from "../src/core/money/money.ts";
import { flushJournal } from "../workers/log-flush.ts";
import { type Caller, random, type Stores } from "./farebox.ts";
import { cpuSeconds } from "./load/process-usage.ts";

export interface FlushResult {
  readonly entriesPerSecond: number;
  /** CPU of this process, which flushes as the worker does. */
  readonly cpuPerEntryUs: number;
}

export interface LogSize {
  readonly rows: number;
  readonly bytesPerRow: number;
}

const CALLS_AT_ONCE = 128;
const BOUND = usd("0.01");
const COST = usd("0.0000399");

/**
 * Makes real calls while no worker runs, then flushes their journal. Measures twice, and the first
 * time only warms up: a worker that runs has compiled its code.
 */
export async function measureFlush(
  stores: Stores,
  callers: readonly Caller[],
  entries: number,
): Promise<FlushResult> {
  await flushCalls(stores, callers, entries);
  return await flushCalls(stores, callers, entries);
}

async function flushCalls(
  stores: Stores,
  callers: readonly Caller[],
  entries: number,
): Promise<FlushResult> {
  let left = entries;
  const call = async () => {
    while (left > 0) await payOneCall(stores, callers[left-- % callers.length]);
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, call));
  const { actors, ledger } = stores;
  const startMs = performance.now();
  const startCpu = cpuSeconds(process.pid);
  const moved = await flushJournal({
    scripts: actors.scripts,
    ledger,
    log: { info: () => {}, warn: console.error, error: console.error },
    keepMs: 120_000,
    rebuild: () => Promise.reject(new Error("The journal contradicts the ledger")),
    onFork: () => {},
  });
  const seconds = (performance.now() - startMs) / 1000;
  if (moved !== entries) throw new Error(`${moved} entries were flushed instead of ${entries}`);
  const cpuPerEntryUs = ((cpuSeconds(process.pid) - startCpu) * 1e6) / moved;
  return { entriesPerSecond: moved / seconds, cpuPerEntryUs };
}

async function payOneCall({ actors }: Stores, caller: Caller | undefined): Promise<void> {
  if (caller === undefined) throw new Error("There is no caller");
  const admission = await actors.of(caller.accountId, caller.bucket).admit({
    call: {
      requestId: newTimedId("request", random, Date.now()),
      identity: caller,
      endpoint: "/v1/chat/completions",
      clientIp: "127.0.0.1",
      country: "DE",
      ipHash: "0011223344556677",
      run: null,
      endUser: null,
      markers: null,
      ahead: null,
    },
    terms: {
      scope: "models",
      service: "models",
      model: "plain",
      priceVersion: "0a1b2c3d",
      bound: BOUND,
      freeEligible: true,
      stream: false,
    },
    elapsedMs: 1,
  });
  if (admission.verdict !== "admitted") throw new Error(`A call was ${admission.verdict}`);
  await admission.hold.settle(COST, {
    status: 200,
    errorCode: null,
    latencyMs: 812,
    firstTokenMs: null,
    promptTokens: 60,
    cachedTokens: 0,
    completionTokens: 50,
    requests: 1,
  });
}

/** The size of the request log with its indexes after a VACUUM, and per row. */
export async function measureLog({ database: { sql } }: Stores): Promise<LogSize> {
  await sql`VACUUM ANALYZE request_log`;
  const [row] = await sql`
    SELECT (SELECT count(*) FROM request_log)::int AS rows,
      (SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits
        WHERE inhparent = 'request_log'::regclass)::float8 AS bytes`;
  const rows = Number(row?.rows ?? 0);
  return { rows, bytesPerRow: Number(row?.bytes ?? 0) / rows };
}
