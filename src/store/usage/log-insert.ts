// Inserts rows into the request log.

import type { SqlTransaction } from "../servers/transaction.ts";
import { copyRows } from "../tables/copy.ts";
import { unnestParameters } from "../tables/unnest.ts";
import { LOG_COLUMN_NAMES, LOG_COLUMN_TYPES, LOG_ROWS, type LogRow, readFrom } from "./log-rows.ts";

const INSERT_NEW = `
  INSERT INTO request_log (${LOG_COLUMN_NAMES.join(", ")})
  SELECT ${LOG_COLUMN_NAMES.map(readFrom).join(", ")} FROM ${LOG_ROWS}
  ON CONFLICT (request, at) DO NOTHING
  RETURNING request::text, extract(epoch FROM at)::text AS at`;

/**
 * Inserts rows of calls that ended, and returns those that are new. A row that exists already stays
 * unchanged.
 */
export async function insertLogRows(
  tx: SqlTransaction,
  rows: readonly LogRow[],
): Promise<readonly LogRow[]> {
  if (rows.length === 0) return [];
  const sorted = inIndexOrder(rows);
  // Rows that exist are rare, and only an INSERT can pass over them.
  if (await copyRows(tx, "request_log", { types: LOG_COLUMN_TYPES, rows: sorted })) return rows;
  const parameters = unnestParameters(LOG_COLUMN_TYPES, sorted);
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
