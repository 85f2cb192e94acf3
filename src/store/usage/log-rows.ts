// Journal entries as rows of the request log (SPEC 2.8), metadata only. `LOG_COLUMNS` is the only
// list of the columns: the insert (log-insert.ts), the correction after a late settlement and the
// export use it.

import { ERRORS, isErrorCode } from "../../core/errors.ts";
import type { CallMetadata, JournalEntry, Outcome } from "../../core/journal/journal.ts";
import { NOTHING_COUNTED, parseMetadata, parseOutcome } from "../../core/journal/journal.ts";
import { cacheWriteTokens, partsText, type UsageDetails } from "../../core/money/usage.ts";
import type { SqlTransaction } from "../servers/transaction.ts";
import { type Cell, type ColumnTypes, unnestParameters, unnestText } from "../tables/unnest.ts";

export type LogColumnKind =
  | "time"
  | "account"
  | "key"
  | "request"
  | "amount"
  | "integer"
  | "smallint"
  | "text"
  | "hash";

interface LogColumn {
  readonly kind: LogColumnKind;
  /** The effect of the late settlement of an expired call on the column. */
  readonly late?: "set" | "add";
  /** True if only the operator's export has the column. */
  readonly isOperators?: true;
}

/** In the order of the export (src/store/usage/log-export.ts); new columns go to the end. */
export const LOG_COLUMNS = {
  at: { kind: "time" },
  request: { kind: "request" },
  account: { kind: "account" },
  key: { kind: "key" },
  endpoint: { kind: "text" },
  service: { kind: "text" },
  model: { kind: "text", late: "set" },
  status: { kind: "smallint", late: "set" },
  error_code: { kind: "text", late: "set" },
  latency_ms: { kind: "integer", late: "set" },
  first_token_ms: { kind: "integer", late: "set" },
  prompt_tokens: { kind: "integer", late: "set" },
  cached_tokens: { kind: "integer", late: "set" },
  completion_tokens: { kind: "integer", late: "set" },
  /** 1, the queries of a batch, or how many refused requests a summary row stands for. */
  requests: { kind: "integer" },
  cost: { kind: "amount", late: "add" },
  country: { kind: "text" },
  ip_hash: { kind: "hash" },
  lane: { kind: "text", late: "set" },
  held: { kind: "amount" },
  free_cost: { kind: "amount", late: "add" },
  price_version: { kind: "text", late: "set" },
  refused_by: { kind: "text" },
  /** The operator's cost of the call: account holders never see it. */
  upstream_cost: { kind: "amount", late: "set", isOperators: true },
  // The columns from here on are null for most calls, which takes no room in a row.
  /** The prompt tokens that were written to the provider's cache. */
  cache_write_tokens: { kind: "integer", late: "set" },
  /** The tier that served the call; null: the standard one. */
  tier: { kind: "text", late: "set" },
  /**
   * The reason why our own count decided the charge: `counted` or `contradicted`; null if it did
   * not.
   */
  usage_source: { kind: "text", late: "set" },
  /** The parts of the tokens, and the calls of tools, beyond the columns above. */
  usage_parts: { kind: "text", late: "set" },
  /** `provider`: the cost of upstream is the provider's own figure; null: by buying prices. */
  upstream_source: { kind: "text", late: "set", isOperators: true },
  /** `content_filter`: the provider refused the content; `max_cost`: the caller's cap; or null. */
  stop_reason: { kind: "text", late: "set", isOperators: true },
  /** Two keyed digests, of a call's idempotency key and of its path and body (D-753). */
  marker: { kind: "text", isOperators: true },
  /** The run that the call named, and the step of the run. */
  run: { kind: "text" },
  step: { kind: "text" },
  /** The name by which the caller asked for the model; null: the id of the model (D-717). */
  asked_model: { kind: "text" },
  /** The digest of the end user that budgets counted the call for (D-987). */
  end_user: { kind: "text" },
} as const satisfies Readonly<Record<string, LogColumn>>;

/** The value of `upstream_source` for a cost that the provider reported. */
export const REPORTED = "provider";

export type LogColumnName = keyof typeof LOG_COLUMNS;
export type LogRow = Readonly<Record<LogColumnName, Cell>>;

const TYPES: Readonly<Record<LogColumnKind, string>> = {
  time: "timestamptz",
  account: "bigint",
  key: "bigint",
  request: "uuid",
  amount: "bigint",
  integer: "int",
  smallint: "smallint",
  text: "text",
  hash: "bytea",
};

export const LOG_COLUMN_NAMES = Object.keys(LOG_COLUMNS) as readonly LogColumnName[];

/** The types of Postgres in which the values of columns are sent. */
export const LOG_COLUMN_TYPES = Object.fromEntries(
  LOG_COLUMN_NAMES.map((name) => [name, TYPES[LOG_COLUMNS[name].kind]]),
) as ColumnTypes<LogColumnName>;
/** Rows of the log that a statement takes as parameters, as SQL. */
export const LOG_ROWS = unnestText(LOG_COLUMN_TYPES);

const READ_PLACES = { place: "int", request: "uuid", at: "timestamptz" } as const;
const READ = `
  SELECT row.place, ${LOG_COLUMN_NAMES.map(readAsText).join(", ")}
  FROM ${unnestText(READ_PLACES)}
  JOIN request_log l ON l.request = row.request AND l.at = row.at`;

const CORRECT = `
  UPDATE request_log SET ${LOG_COLUMN_NAMES.flatMap(correctionOf).join(", ")}
  FROM ${LOG_ROWS}
  WHERE request_log.request = row.request AND request_log.at = row.at`;

/** The value of a column in a row of `LOG_ROWS`, as SQL. */
export function readFrom(name: LogColumnName): string {
  return LOG_COLUMNS[name].kind === "hash" ? `decode(row.${name}, 'hex')` : `row.${name}`;
}

function readAsText(name: LogColumnName): string {
  const { kind } = LOG_COLUMNS[name];
  return kind === "hash" ? `encode(l.${name}, 'hex') AS ${name}` : `l.${name}::text AS ${name}`;
}

function correctionOf(name: LogColumnName): string[] {
  const { late }: LogColumn = LOG_COLUMNS[name];
  if (late === undefined) return [];
  const value = readFrom(name);
  return [`${name} = ${late === "add" ? `request_log.${name} + ${value}` : value}`];
}

/** The row of an expired call was rejected: until it is written, nothing can be corrected in it. */
export class MissingLogRow extends Error {
  override readonly name = "MissingLogRow";

  constructor() {
    super("The request log has no row that this late settlement corrects");
  }
}

/**
 * Corrects the rows of calls that the sweep logged when their holds expired, now that the process
 * of each call has reported how it ended. Returns, by correction, the row before and after.
 * @throws MissingLogRow
 */
export async function correctLogRows(
  tx: SqlTransaction,
  corrections: readonly LogRow[],
): Promise<ReadonlyMap<LogRow, { readonly before: LogRow; readonly after: LogRow }>> {
  const changes = new Map<LogRow, { before: LogRow; after: LogRow }>();
  if (corrections.length === 0) return changes;
  const places = corrections.map(({ request, at }, place) => ({ place, request, at }));
  const parameters = unnestParameters(READ_PLACES, places);
  const stored = await tx.unsafe<(LogRow & { readonly place: number })[]>(READ, parameters, {
    prepare: true,
  });
  for (const { place, ...row } of stored) {
    const correction = corrections[place];
    if (correction === undefined) continue;
    const before = { ...row, at: correction.at };
    changes.set(correction, { before, after: corrected(before, correction) });
  }
  if (changes.size < corrections.length) throw new MissingLogRow();
  await tx.unsafe(CORRECT, unnestParameters(LOG_COLUMN_TYPES, corrections), { prepare: true });
  return changes;
}

/** An amount of a row; rows that were read have it as text. */
export function amountInCell(value: Cell): bigint {
  if (typeof value === "bigint") return value;
  return BigInt(typeof value === "number" ? value : String(value));
}

/** The row after the statement CORRECT. */
function corrected(before: LogRow, correction: LogRow): LogRow {
  const values = LOG_COLUMN_NAMES.map((name): [LogColumnName, Cell] => {
    const { late }: LogColumn = LOG_COLUMNS[name];
    if (late === undefined) return [name, before[name]];
    if (late === "set") return [name, correction[name]];
    return [name, amountInCell(before[name]) + amountInCell(correction[name])];
  });
  return Object.fromEntries(values) as LogRow;
}

/** The error code of a summary row, which does not keep the reason of each refusal. */
export const SUMMARY_CODE = "refused_summary";

/** Entry types without a log row, because they are not calls. */
const NOT_LOGGED: ReadonlySet<string> = new Set(["operation", "free_expired", "repayment"]);

/**
 * The log row of an entry; null if the entry is not a call.
 * @throws TypeError, RangeError, SyntaxError if a field is invalid.
 */
export function logRowOf(
  entry: JournalEntry,
  { account, key, request, at }: Pick<LogRow, "account" | "key" | "request" | "at">,
): LogRow | null {
  if (NOT_LOGGED.has(entry.type)) return null;
  const metadata = parseMetadata(entry.metadata);
  const end = endOf(entry);
  const details = end.usageDetails === undefined ? NO_DETAILS : detailCells(end.usageDetails);
  return checked({
    at,
    request: request ?? summaryId(entry),
    account,
    key,
    endpoint: metadata.endpoint,
    service: metadata.service,
    model: end.model ?? metadata.model,
    status: end.status,
    error_code: end.errorCode,
    latency_ms: end.latencyMs,
    first_token_ms: end.firstTokenMs,
    prompt_tokens: end.promptTokens,
    cached_tokens: end.cachedTokens,
    completion_tokens: end.completionTokens,
    requests: end.requests,
    cost: -(entry.paidDelta + entry.freeDelta),
    country: metadata.country,
    ip_hash: metadata.ipHash,
    lane: end.lane ?? null,
    held: isRefusal(entry) ? null : entry.held,
    free_cost: -entry.freeDelta,
    price_version: end.priceVersion ?? metadata.priceVersion ?? null,
    refused_by: end.refusedBy ?? null,
    upstream_cost: end.upstreamCost ?? null,
    cache_write_tokens: details.cache_write_tokens,
    tier: details.tier,
    usage_source: details.usage_source,
    usage_parts: details.usage_parts,
    upstream_source: details.upstream_source,
    stop_reason: details.stop_reason,
    marker: isRefusal(entry) ? null : (metadata.marker ?? null),
    ...(entry.type === "summary" ? NOTHING_NAMED : namedIn(metadata)),
  });
}

function namedIn({ run, step, askedModel, endUser }: CallMetadata) {
  const ofRun = { run: run ?? null, step: step ?? null };
  return { ...ofRun, asked_model: askedModel ?? null, end_user: endUser ?? null };
}

/** A summary stands for calls of several runs, names and end users. */
const NOTHING_NAMED = { run: null, step: null, asked_model: null, end_user: null } as const;

/** The stop reason of a call whose content the provider refused. */
export const CONTENT_REFUSED = "content_filter";
/** The stop reason of a call that the caller's cap of the cost ended. */
const COST_STOPPED = "max_cost";

/** The columns for the details of a usage beyond its totals. */
function detailCells(details: UsageDetails) {
  const { more, tier = null, source = null, isReportedCost = false } = details;
  return {
    cache_write_tokens: cacheWriteTokens(more) || null,
    tier,
    usage_source: source,
    usage_parts: partsText(details) || null,
    upstream_source: isReportedCost ? REPORTED : null,
    stop_reason: stopReasonOf(details),
  };
}

function stopReasonOf({ isContentRefused, isCostStopped }: UsageDetails): string | null {
  if (isContentRefused === true) return CONTENT_REFUSED;
  return isCostStopped === true ? COST_STOPPED : null;
}

/** Most calls have no details. */
const NO_DETAILS = detailCells({});

/** The journal's texts are parsed JSON, so nothing guarantees the declared types. */
function checked(row: LogRow): LogRow {
  for (const name of LOG_COLUMN_NAMES) {
    const value = row[name];
    if (value === null) continue;
    const type = typeof value;
    if (type === "string" || type === "number" || type === "bigint") continue;
    throw new TypeError(`The log column ${name} cannot be ${type}`);
  }
  return row;
}

function isRefusal({ type }: JournalEntry): boolean {
  return type === "refused" || type === "summary";
}

interface End extends Outcome {
  readonly refusedBy?: string | null;
}

function endOf(entry: JournalEntry): End {
  if (entry.type === "summary") {
    const { status } = ERRORS.rate_limit_exceeded;
    const requests = Number(entry.outcome);
    return { ...NOTHING_COUNTED, status, errorCode: SUMMARY_CODE, latencyMs: 0, requests };
  }
  if (entry.type === "refused") {
    const [code = "", latency, limit = ""] = entry.outcome.split(" ");
    const status = isErrorCode(code) ? ERRORS[code].status : ERRORS.internal_error.status;
    const refusedBy = limit === "" ? null : limit;
    return { ...NOTHING_COUNTED, status, errorCode: code, latencyMs: Number(latency), refusedBy };
  }
  return parseOutcome(entry.outcome);
}

/**
 * A summary has no request id. The id of a summary is derived from its place in the journal: a key
 * has several for one minute if a process reports refusals after the minute was summed up.
 */
function summaryId({ account, epoch, number }: JournalEntry): string {
  const hex = new Bun.CryptoHasher("md5").update(`${account} ${epoch}-${number}`).digest("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
