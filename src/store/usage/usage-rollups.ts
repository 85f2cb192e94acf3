// Writes the sums of the request log, in the transaction that writes its rows.

import { MINUTE_MS } from "../../core/durations.ts";
import { bandOf, LatencyCounts } from "../../core/latency-bands.ts";
import type { SqlTransaction } from "../servers/transaction.ts";
import { type Cell, type ColumnTypes, unnestParameters, unnestText } from "../tables/unnest.ts";
import {
  NO_SUMS,
  ROLLUP_MINUTES,
  ROLLUP_SUM_NAMES,
  ROLLUP_SUMS,
  type RollupSums,
} from "../tables/usage-schema.ts";
import type { UsageChange } from "./usage-changes.ts";

const KEY_COLUMNS = {
  account: "bigint",
  minutes: "smallint",
  at: "timestamptz",
  key: "bigint",
  service: "text",
  model: "text",
  status: "text",
} as const;
const COLUMNS = { ...KEY_COLUMNS, ...ROLLUP_SUMS, latencies: "text" } as const;
const PLACE_COLUMNS = { place: "int", ...KEY_COLUMNS } as const;

const KEYS = Object.keys(KEY_COLUMNS).join(", ");

const READ = `
  SELECT row.place, encode(u.latencies, 'hex') AS latencies
  FROM ${unnestText(PLACE_COLUMNS)} JOIN usage_rollups u USING (${KEYS})
  WHERE u.latencies IS NOT NULL`;

const ADD = `
  INSERT INTO usage_rollups AS u (${Object.keys(COLUMNS).join(", ")})
  SELECT ${KEYS}, ${ROLLUP_SUM_NAMES.join(", ")}, decode(latencies, 'hex')
  FROM ${unnestText(COLUMNS)}
  ON CONFLICT (${KEYS}) DO UPDATE SET
    ${ROLLUP_SUM_NAMES.map((name) => `${name} = u.${name} + excluded.${name}`).join(", ")},
    latencies = coalesce(excluded.latencies, u.latencies)`;

interface Sum extends RollupSums {
  readonly key: Readonly<Record<keyof typeof KEY_COLUMNS, Cell>>;
  readonly startMs: number;
  /** Null while no answered call is among the changes. */
  latencies: LatencyCounts | null;
}

/**
 * Adds changes to the sums. The transaction must hold the cursors of the accounts' buckets: the
 * rows that it reads here must not change until it writes them.
 */
export async function addUsage(tx: SqlTransaction, changes: readonly UsageChange[]): Promise<void> {
  const sums = summed(changes);
  if (sums.length === 0) return;
  await addStoredLatencies(tx, sums);
  const rows = sums.map(rowOf);
  await tx.unsafe(ADD, unnestParameters(asTypes(COLUMNS), rows), { prepare: true });
}

function asTypes<Name extends string>(columns: Readonly<Record<Name, string>>): ColumnTypes<Name> {
  return columns;
}

/** The sums of rows of one length, by time and kind of call. */
interface SumsOfLength {
  readonly minutes: number;
  readonly sums: Map<string, Sum>;
}

/** Each change is in a row of every length; the longer ones are summed from the shortest. */
function summed(changes: readonly UsageChange[]): Sum[] {
  const [shortest, ...longer] = ROLLUP_MINUTES;
  const short: SumsOfLength = { minutes: shortest, sums: new Map() };
  for (const change of changes) addTo(sumOf(short, change.atMs, change), change);
  const quarters = [...short.sums.values()];
  return quarters.concat(
    longer.flatMap((minutes) => {
      const long: SumsOfLength = { minutes, sums: new Map() };
      for (const sum of quarters) addSum(sumOf(long, sum.startMs, sum.key), sum);
      return [...long.sums.values()];
    }),
  );
}

/** The sum that a time and kind of call belong to; made if it is missing. */
function sumOf(
  { minutes, sums }: SumsOfLength,
  atMs: number,
  { account, key, status, service, model }: Omit<Sum["key"], "minutes" | "at">,
): Sum {
  const length = minutes * MINUTE_MS;
  const startMs = Math.floor(atMs / length) * length;
  const id = `${account} ${startMs} ${key} ${status} ${service} ${model}`;
  let sum = sums.get(id);
  if (sum === undefined) {
    const at = new Date(startMs).toISOString();
    const whole = { account, minutes, at, key, service, model, status };
    sum = { key: whole, startMs, latencies: null, ...NO_SUMS };
    sums.set(id, sum);
  }
  return sum;
}

function addTo(sum: Sum, change: UsageChange): void {
  addCounts(sum, change.sums);
  if (change.latencyMs === null) return;
  sum.latencies ??= new LatencyCounts();
  sum.latencies.add(bandOf(change.latencyMs), Number(change.sums.calls));
}

function addSum(sum: Sum, part: Sum): void {
  addCounts(sum, part);
  if (part.latencies === null) return;
  sum.latencies ??= new LatencyCounts();
  sum.latencies.addAll(part.latencies);
}

function addCounts(sum: RollupSums, part: Readonly<RollupSums>): void {
  sum.calls += part.calls;
  sum.prompt_tokens += part.prompt_tokens;
  sum.cached_tokens += part.cached_tokens;
  sum.completion_tokens += part.completion_tokens;
  sum.cost += part.cost;
  sum.free_cost += part.free_cost;
}

async function addStoredLatencies(tx: SqlTransaction, sums: readonly Sum[]): Promise<void> {
  const wanted = sums.filter(({ latencies }) => latencies !== null);
  if (wanted.length === 0) return;
  const places = wanted.map(({ key }, place) => ({ place, ...key }));
  const parameters = unnestParameters(asTypes(PLACE_COLUMNS), places);
  const stored = await tx.unsafe(READ, parameters, { prepare: true });
  for (const { place, latencies } of stored) {
    wanted[Number(place)]?.latencies?.addPacked(Buffer.from(String(latencies), "hex"));
  }
}

function rowOf({ key, startMs: _, latencies, ...sums }: Sum): Record<keyof typeof COLUMNS, Cell> {
  const packed = latencies === null ? null : Buffer.from(latencies.pack()).toString("hex");
  return { ...key, ...sums, latencies: packed };
}
