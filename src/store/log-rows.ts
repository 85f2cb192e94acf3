// Journal entries as rows of the request log (SPEC 2.8): metadata only.

import type { TransactionSql } from "postgres";
import { ERRORS, isErrorCode } from "../core/errors.ts";
import { toUuid } from "../core/ids.ts";
import type { CallMetadata, JournalEntry, Outcome } from "../core/journal.ts";
import { NOTHING_COUNTED } from "../core/journal.ts";
import { arrayText } from "./database.ts";

export interface LogRow {
  readonly at: string;
  readonly account: number;
  readonly key: number;
  readonly request: string;
  readonly cost: string;
  readonly latencyMs: number;
  readonly firstTokenMs: number | null;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
  /** 1, the queries of a batch, or how many refused requests a summary row stands for. */
  readonly requests: number;
  readonly status: number;
  readonly endpoint: string;
  readonly service: string;
  readonly model: string | null;
  readonly errorCode: string | null;
  readonly country: string | null;
  readonly ipHash: string | null;
}

/** The code of a summary row: what each of its requests was refused for is not kept. */
export const SUMMARY_CODE = "refused_summary";

export function logRowOf(
  entry: JournalEntry,
  numbers: { readonly account: number; readonly key: number },
): LogRow {
  const facts = JSON.parse(entry.facts) as CallMetadata;
  const { model = facts.model, ...end } = endOf(entry);
  return {
    at: new Date(entry.atMs).toISOString(),
    ...numbers,
    request: entry.request === "" ? summaryId(entry) : toUuid(entry.request),
    cost: (-(entry.paidDelta + entry.freeDelta)).toString(),
    endpoint: facts.endpoint,
    service: facts.service,
    model,
    country: facts.country,
    ipHash: facts.ipHash,
    ...end,
  };
}

type End = Pick<
  LogRow,
  | "status"
  | "errorCode"
  | "latencyMs"
  | "firstTokenMs"
  | "promptTokens"
  | "cachedTokens"
  | "completionTokens"
  | "requests"
> &
  Pick<Outcome, "model">;

function endOf(entry: JournalEntry): End {
  if (entry.type === "summary") {
    const { status } = ERRORS.rate_limit_exceeded;
    const requests = Number(entry.outcome);
    return { ...NOTHING_COUNTED, status, errorCode: SUMMARY_CODE, latencyMs: 0, requests };
  }
  if (entry.type === "refused") {
    const [code = "", latency] = entry.outcome.split(" ");
    const status = isErrorCode(code) ? ERRORS[code].status : ERRORS.internal_error.status;
    return { ...NOTHING_COUNTED, status, errorCode: code, latencyMs: Number(latency) };
  }
  return JSON.parse(entry.outcome) as Outcome;
}

/** A summary has no request of its own; its id follows from what it sums up. */
function summaryId({ account, key, atMs }: JournalEntry): string {
  const hex = new Bun.CryptoHasher("md5").update(`${account} ${key} ${atMs}`).digest("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

export async function insertLogRows(
  tx: TransactionSql<{ bigint: bigint }>,
  rows: readonly LogRow[],
): Promise<void> {
  const column = (name: keyof LogRow) => arrayText(rows.map((row) => row[name]));
  await tx`
    INSERT INTO request_log (at, account, key, request, cost, latency_ms, first_token_ms,
      prompt_tokens, cached_tokens, completion_tokens, requests, status, endpoint, service, model,
      error_code, country, ip_hash)
    SELECT at, account, key, request, cost, latency_ms, first_token_ms, prompt_tokens,
      cached_tokens, completion_tokens, requests, status, endpoint::logged_endpoint,
      service::logged_service, model, error_code, country, decode(ip_hash, 'hex')
    FROM unnest(
      ${column("at")}::text::timestamptz[], ${column("account")}::text::bigint[],
      ${column("key")}::text::bigint[], ${column("request")}::text::uuid[],
      ${column("cost")}::text::bigint[], ${column("latencyMs")}::text::int[],
      ${column("firstTokenMs")}::text::int[], ${column("promptTokens")}::text::int[],
      ${column("cachedTokens")}::text::int[], ${column("completionTokens")}::text::int[],
      ${column("requests")}::text::int[], ${column("status")}::text::smallint[],
      ${column("endpoint")}::text::text[], ${column("service")}::text::text[],
      ${column("model")}::text::text[], ${column("errorCode")}::text::text[],
      ${column("country")}::text::text[], ${column("ipHash")}::text::text[])
    AS row(at, account, key, request, cost, latency_ms, first_token_ms, prompt_tokens,
      cached_tokens, completion_tokens, requests, status, endpoint, service, model, error_code,
      country, ip_hash)
    ON CONFLICT (request, at) DO NOTHING`;
}
