// Inserts rows into the request log.

import { arrayText } from "../servers/database.ts";
import { isDuplicate } from "../servers/sql-errors.ts";
import type { SqlTransaction } from "../servers/transaction.ts";
import { unnestParameters, unnestText } from "../tables/unnest.ts";
import {
  LOG_COLUMN_NAMES,
  LOG_COLUMNS,
  type LogColumnName,
  type LogRow,
  logColumnTypes,
} from "./log-rows.ts";

const REPEATS = LOG_COLUMN_NAMES.filter((name) => "repeats" in LOG_COLUMNS[name]);
const OWN = LOG_COLUMN_NAMES.filter((name) => !REPEATS.includes(name));

const OWN_COLUMNS = logColumnTypes(OWN);
/** Each combination of values that repeat, which makes half of a row, is sent and parsed once. */
const KIND_COLUMNS = logColumnTypes(REPEATS);

const INSERT = `
  INSERT INTO request_log (${LOG_COLUMN_NAMES.join(", ")})
  SELECT ${LOG_COLUMN_NAMES.map(readFrom).join(", ")}
  FROM ${unnestText({ ...OWN_COLUMNS, kind: "int" })}
  JOIN ${unnestText({ ...KIND_COLUMNS, number: "int" }, "kind", OWN.length + 1)}
    ON kind.number = row.kind`;

const INSERT_NEW = `${INSERT}
  ON CONFLICT (request, at) DO NOTHING
  RETURNING request::text, extract(epoch FROM at)::text AS at`;

function readFrom(name: LogColumnName): string {
  if (REPEATS.includes(name)) return `kind.${name}`;
  return LOG_COLUMNS[name].kind === "hash" ? `decode(row.${name}, 'hex')` : `row.${name}`;
}

/**
 * Inserts rows of calls that ended, and returns those that are new. A row that exists already stays
 * unchanged.
 */
export async function insertLogRows(
  tx: SqlTransaction,
  rows: readonly LogRow[],
): Promise<readonly LogRow[]> {
  if (rows.length === 0) return [];
  const parameters = parametersOf(inIndexOrder(rows));
  try {
    await tx.savepoint((inner) => inner.unsafe(INSERT, parameters, { prepare: true }));
    return rows;
  } catch (error) {
    if (!isDuplicate(error)) throw error;
  }
  // Rows that exist are rare, and ON CONFLICT costs every row a fifth more.
  const inserted = await tx.unsafe(INSERT_NEW, parameters, { prepare: true });
  const places = new Set(inserted.map(({ request, at }) => placeOf(request, Number(at) * 1_000)));
  return rows.filter(({ request, at }) => {
    return places.delete(placeOf(request, Date.parse(String(at))));
  });
}

/**
 * By request id, which begins with the time: almost only the newest page of the index of requests
 * is split then, and a page that is split at its end stays full. In the order of the journal, one
 * bucket after the other, that index took a third more space.
 */
function inIndexOrder(rows: readonly LogRow[]): readonly LogRow[] {
  return rows.toSorted((a, b) => compared(String(a.request), String(b.request)));
}

function compared(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function placeOf(request: unknown, atMs: number): string {
  return `${request} ${Math.round(atMs)}`;
}

function parametersOf(rows: readonly LogRow[]): string[] {
  const numbers = new Map<string, number>();
  const kinds: LogRow[] = [];
  const kindOfRow = rows.map((row) => {
    const id = JSON.stringify(REPEATS.map((name) => row[name]));
    const known = numbers.get(id);
    if (known !== undefined) return known;
    numbers.set(id, kinds.length);
    return kinds.push(row) - 1;
  });
  return [
    ...unnestParameters(OWN_COLUMNS, rows),
    arrayText(kindOfRow),
    ...unnestParameters(KIND_COLUMNS, kinds),
    arrayText([...kinds.keys()]),
  ];
}
