// The request log of one account as CSV (SPEC 2.8). Each page is a statement of its own: a client
// that reads slowly, or stops reading, keeps neither memory nor a connection.

import { fromUuid } from "../../core/ids.ts";
import { nano, toDecimal } from "../../core/money/money.ts";
import { type CsvCell, csvLine } from "../../core/text/csv.ts";
import type { Database } from "../servers/database.ts";
import { Parameters } from "../tables/parameters.ts";
import { ALL_CALLS, type LogFilter, logConditions } from "./log-filter.ts";
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
      format: usdCell,
    },
  ],
  hash: (name) => [{ heading: name, select: `encode(l.${name}, 'hex')`, format: unchanged }],
  integer: plain,
  smallint: plain,
  text: plain,
};

function usdCell(value: LogValue): CsvCell {
  return value === null ? null : { decimal: toDecimal(nano(String(value))) };
}

/** A summary row stands for many requests and has no id of its own. */
function requestId(value: LogValue, errorCode: LogValue): CsvCell {
  return errorCode === SUMMARY_CODE ? null : fromUuid("request", String(value));
}

const NAMES = Object.keys(LOG_COLUMNS) as LogColumnName[];
const columnsOf = (names: readonly LogColumnName[]) =>
  names.flatMap((name) => MAPPINGS[LOG_COLUMNS[name].kind](name));

/** The tags that the key of a call has now; a tag has no comma (D-748). */
const TAGS: ExportColumn = {
  heading: "key_tags",
  select: "nullif(array_to_string(k.tags, ','), '')",
  format: unchanged,
};

/** The columns of the log that came after the tags. */
const AFTER_TAGS: readonly LogColumnName[] = ["run", "step", "asked_model", "end_user"];
const LOGGED = NAMES.filter((name) => !AFTER_TAGS.includes(name));
const TAIL = [TAGS, ...columnsOf(AFTER_TAGS)];

/** The columns for account holders. */
const COLUMNS = [
  ...columnsOf(LOGGED.filter((name) => !("isOperators" in LOG_COLUMNS[name]))),
  ...TAIL,
];
/** The log leaves out that a cost is by buying prices, as most costs are; the export says so. */
function withLocalSource(column: ExportColumn): ExportColumn {
  if (column.heading !== "upstream_source") return column;
  const select =
    "CASE WHEN l.upstream_cost IS NOT NULL THEN coalesce(l.upstream_source, 'local') END";
  return { ...column, select };
}

/** The columns for operators alone: the cost of upstream, and the margin of the charge. */
const OPERATOR_COLUMNS = [
  ...columnsOf(LOGGED.slice(0, LOGGED.indexOf("upstream_cost") + 1)),
  { heading: "margin_usd", select: "(l.cost - l.upstream_cost)::text", format: usdCell },
  ...columnsOf(LOGGED.slice(LOGGED.indexOf("upstream_cost") + 1)).map(withLocalSource),
  ...TAIL,
];

/** The headings in order. Programs rely on names and order, so new columns go to the end. */
export const EXPORT_HEADINGS: readonly string[] = COLUMNS.map(({ heading }) => heading);
/** The same for operators. */
export const OPERATOR_HEADINGS: readonly string[] = OPERATOR_COLUMNS.map((one) => one.heading);

const ROWS_PER_PAGE = 1_000;

/** The last row of a page; null before the first page. */
interface ExportPlace {
  readonly at: string | null;
  readonly request: string | null;
}

interface ExportQuestion {
  readonly account: number;
  readonly filter: LogFilter;
  readonly columns: readonly ExportColumn[];
}

/** The statement for a page of the rows behind a place. */
function exportOf(
  parameters: Parameters,
  { account, filter, columns }: ExportQuestion,
  place: ExportPlace,
): string {
  const conditions = logConditions(parameters, account, filter);
  const [at, request] = [parameters.add(place.at), parameters.add(place.request)];
  return `
    SELECT ${columns.map(({ heading, select }) => `${select} AS ${heading}`).join(", ")},
      l.at::text AS place_at, l.request::text AS place_request
    FROM request_log l LEFT JOIN keys k ON k.number = l.key
    WHERE ${conditions} AND (${at}::text IS NULL OR (l.at >= ${at}::text::timestamptz
      AND (l.at, l.request) > (${at}::text::timestamptz, ${request}::text::uuid)))
    ORDER BY l.at, l.request LIMIT ${ROWS_PER_PAGE}`;
}

/** For operators: the header, then the rows from `from` until before `to`, ordered by time. */
export function exportLog(database: Database, range: LogRange): AsyncGenerator<LogPage> {
  const { account, from, to } = range;
  const filter = { ...ALL_CALLS, from, to };
  return pagesOf(database, { account, filter, columns: OPERATOR_COLUMNS });
}

/** For account holders: the header, then the calls that a filter finds, ordered by time. */
export function exportCalls(
  database: Database,
  account: number,
  filter: LogFilter,
): AsyncGenerator<LogPage> {
  return pagesOf(database, { account, filter, columns: COLUMNS });
}

async function* pagesOf({ sql }: Database, question: ExportQuestion): AsyncGenerator<LogPage> {
  const { columns } = question;
  yield { csv: csvLine(columns.map(({ heading }) => heading)), rows: 0 };
  for (let place: ExportPlace = { at: null, request: null }; ; ) {
    const parameters = new Parameters();
    const statement = exportOf(parameters, question, place);
    const page = await sql.unsafe(statement, parameters.values);
    const last = page.at(-1);
    if (last === undefined) return;
    const lines = page.map((row) => csvLine(cellsOf(row, columns)));
    yield { csv: lines.join(""), rows: page.length };
    if (page.length < ROWS_PER_PAGE) return;
    place = { at: String(last.place_at), request: String(last.place_request) };
  }
}

function cellsOf(
  row: Readonly<Record<string, LogValue>>,
  columns: readonly ExportColumn[],
): CsvCell[] {
  return columns.map(({ heading, format }) => format(row[heading] ?? null, row.error_code ?? null));
}
