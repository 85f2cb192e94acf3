// The request log of one account as CSV (SPEC 2.8), read with a cursor so that only one page of it
// is in memory.

import { type CsvCell, csvLine } from "../core/csv.ts";
import { fromUuid } from "../core/ids.ts";
import { nano, toDecimal } from "../core/money.ts";
import type { Database } from "./database.ts";
import { ALL_CALLS, LOG_CONDITIONS, type LogFilter, logParameters } from "./log-filter.ts";
import { LOG_COLUMNS, type LogColumnKind, type LogColumnName, SUMMARY_CODE } from "./log-rows.ts";

export interface LogRange {
  readonly account: number;
  readonly from: Date;
  /** Exclusive. */
  readonly to: Date;
}

export interface LogPage {
  readonly csv: string;
  readonly rows: number;
}

type LogValue = string | number | null;

/** A column of the export: its heading, its SQL expression, and how a value is formatted. */
interface ExportColumn {
  readonly heading: string;
  readonly select: string;
  readonly format: (value: LogValue, errorCode: LogValue) => CsvCell;
}

/** The columns of the export that a column of the log becomes. */
type ColumnMapping = (name: LogColumnName) => readonly ExportColumn[];

const unchanged: ExportColumn["format"] = (value) => value;
const plain: ColumnMapping = (name) => [{ heading: name, select: `l.${name}`, format: unchanged }];

const MAPPINGS: Readonly<Record<LogColumnKind, ColumnMapping>> = {
  time: () => [
    {
      heading: "time",
      select: `to_char(l.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
      format: unchanged,
    },
  ],
  request: (name) => [{ heading: `${name}_id`, select: `l.${name}::text`, format: requestId }],
  // An export has only one account.
  account: () => [],
  key: () => [
    { heading: "key_id", select: "k.id", format: unchanged },
    { heading: "key_name", select: "k.name", format: unchanged },
  ],
  amount: (name) => [
    {
      heading: `${name}_usd`,
      select: `l.${name}::text`,
      format: (value) => (value === null ? null : { decimal: toDecimal(nano(String(value))) }),
    },
  ],
  hash: (name) => [{ heading: name, select: `encode(l.${name}, 'hex')`, format: unchanged }],
  integer: plain,
  smallint: plain,
  text: plain,
};

/** A summary row stands for many requests and has no id of its own. */
function requestId(value: LogValue, errorCode: LogValue): CsvCell {
  return errorCode === SUMMARY_CODE ? null : fromUuid("request", String(value));
}

const COLUMNS = (Object.keys(LOG_COLUMNS) as LogColumnName[]).flatMap((name) =>
  MAPPINGS[LOG_COLUMNS[name].kind](name),
);

/** The headings in order. Programs rely on names and order, so new columns go to the end. */
export const EXPORT_HEADINGS: readonly string[] = COLUMNS.map(({ heading }) => heading);

const SELECTED = COLUMNS.map(({ heading, select }) => `${select} AS ${heading}`).join(", ");

const ROWS_PER_PAGE = 1_000;

const EXPORT = `
  SELECT ${SELECTED} FROM request_log l LEFT JOIN keys k ON k.number = l.key
  WHERE ${LOG_CONDITIONS} ORDER BY l.at, l.request`;

/** The header, then the rows from `from` until before `to`, ordered by time. */
export function exportLog(database: Database, range: LogRange): AsyncGenerator<LogPage> {
  const { account, from, to } = range;
  return exportCalls(database, account, { ...ALL_CALLS, from, to });
}

/** The header, then the calls that a filter finds, ordered by time. */
export async function* exportCalls(
  { sql }: Database,
  account: number,
  filter: LogFilter,
): AsyncGenerator<LogPage> {
  yield { csv: csvLine(EXPORT_HEADINGS), rows: 0 };
  const pages = sql.unsafe(EXPORT, logParameters(account, filter)).cursor(ROWS_PER_PAGE);
  for await (const page of pages) {
    if (page.length === 0) continue;
    yield { csv: page.map((row) => csvLine(cellsOf(row))).join(""), rows: page.length };
  }
}

function cellsOf(row: Readonly<Record<string, LogValue>>): CsvCell[] {
  return COLUMNS.map(({ heading, format }) => format(row[heading] ?? null, row.error_code ?? null));
}
