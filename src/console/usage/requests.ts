// GET …/requests and …/requests.csv: the request log by time, newest first. The command line shows
// the same.

import { fromUuid, isId, toUuid } from "../../core/ids.ts";
import { usd } from "../../core/money/money.ts";
import { isUsualYear } from "../../core/text/field-rules.ts";
import { NO_MODEL } from "../../core/usage-query.ts";
import { invalid } from "../../http/body/checks.ts";
import {
  type AccountContext,
  accountEndpoint,
  type ConsoleFrameDeps,
  queryOf,
} from "../../http/console/console-endpoint.ts";
import { Type } from "../../http/schema.ts";
import { type Keyset, type Page, ROWS_PER_PAGE, readPage } from "../../readings/list-reading.ts";
import { asOf, type Reading, timeText, usdText } from "../../readings/reading.ts";
import type { AccountRow } from "../../store/accounts/accounts.ts";
import { type KeyName, keyNumber, readKeyNames } from "../../store/accounts/key-names.ts";
import { exportCalls } from "../../store/usage/log-export.ts";
import type { LogFilter } from "../../store/usage/log-filter.ts";
import { type LoggedCall, type LogPlace, readLogPage } from "../../store/usage/request-log.ts";
import { scopeOfService, serviceOfScope } from "../service-names.ts";
import {
  REQUESTS_EXAMPLE,
  Requests,
  type RequestsInput,
  RequestsQuery,
  type RequestsReply,
} from "./requests-schema.ts";
import { csvResponse } from "./usage.ts";
import { timeOf } from "./usage-range.ts";

export interface RequestsDeps extends ConsoleFrameDeps {
  readonly reading: Reading;
}

type Context = AccountContext<RequestsDeps>;
type Row = RequestsReply["requests"][number];

const PATH = "/console/api/accounts/{account}/requests";
/** No request has this id. */
const NO_REQUEST = "00000000-0000-0000-0000-000000000000";
const PLACE = /^(\d{1,15})\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

const KEYSET: Keyset<LogPlace, LogPlace> = {
  nameOf: ({ at, request }) => `${at.getTime()}.${request}`,
  parse(name) {
    const [, ms, request] = PLACE.exec(name) ?? [];
    const at = new Date(Number(ms));
    return request === undefined || !isUsualYear(at) ? null : { at, request };
  },
};

export const requests = accountEndpoint({
  id: "listRequests",
  method: "GET",
  path: PATH,
  role: "viewer",
  summary: "List the request log, newest first",
  description: "It has no content of any request, because none is stored.",
  query: queryOf(RequestsQuery),
  reply: Requests,
  examples: [{ summary: "The newest", query: "limit=1", reply: REQUESTS_EXAMPLE }],
  run: ({ deps, account }: Context, input) => requestsReply(deps.reading, account, input),
});

export const requestsCsv = accountEndpoint({
  id: "exportRequests",
  method: "GET",
  path: `${PATH}.csv`,
  role: "viewer",
  summary: "Export the request log as CSV, oldest first",
  query: queryOf(RequestsQuery),
  reply: Type.Unknown(),
  mediaType: "text/csv",
  examples: [],
  async run({ deps, account }: Context, input) {
    const { database } = deps.reading;
    const filter = filterOf(await readKeyNames(database, account.number), input);
    const pages = exportCalls(database, account.number, filter);
    return csvResponse(streamOf(pages), "requests.csv");
  },
});

/** The pages as they are read: no more than one is in memory. */
function streamOf(pages: AsyncGenerator<{ readonly csv: string }>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pages.next();
      if (done === true) controller.close();
      else controller.enqueue(encoder.encode(value.csv));
    },
    async cancel() {
      await pages.return(undefined);
    },
  });
}

/** Reads a page of the request log. @throws ApiError that names the field at fault */
export async function requestsReply(
  reading: Reading,
  account: AccountRow,
  input: RequestsInput,
): Promise<RequestsReply> {
  const { database } = reading;
  const as_of = await asOf(reading, account);
  const keys = await readKeyNames(database, account.number);
  const filter = filterOf(keys, input);
  const read = (page: Page<LogPlace>) => readLogPage(database, account.number, filter, page);
  const size = input.limit == null ? ROWS_PER_PAGE : Number(input.limit);
  const { rows, next } = await readPage(KEYSET, input.before, read, size);
  return { as_of, requests: rows.map((call) => requestJson(call, keys)), next };
}

/** @throws ApiError that names the field at fault */
function filterOf(keys: ReadonlyMap<number, KeyName>, input: RequestsInput): LogFilter {
  const { service, model, key, request, min_cost_usd: least } = input;
  return {
    from: input.from == null ? null : new Date(timeOf("from", input.from)),
    to: input.to == null ? null : new Date(timeOf("to", input.to)),
    service: service == null ? null : scopeOfService(service),
    model: model == null ? null : model === NO_MODEL ? "" : model,
    key: key == null ? null : keyNumber(keys, key),
    status: input.status ?? null,
    code: input.code ?? null,
    request: request == null ? null : isId("request", request) ? toUuid(request) : NO_REQUEST,
    minCost: least == null ? null : amountOf(least),
  };
}

function amountOf(text: string): bigint {
  try {
    return usd(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw invalid("min_cost_usd", `is too large: '${text}'`);
  }
}

/** A row of the log as the console shows it. */
export function requestJson(call: LoggedCall, keys: ReadonlyMap<number, KeyName>): Row {
  const key = keys.get(call.key);
  return {
    id: fromUuid("request", call.request),
    at: timeText(call.at),
    endpoint: call.endpoint,
    service: serviceOfScope(call.service),
    model: call.model,
    key: { id: key?.id ?? "unknown", name: key?.name ?? "Unknown", last_four: key?.lastFour ?? "" },
    status: call.status,
    code: call.errorCode,
    requests: call.requests,
    prompt_tokens: call.promptTokens,
    cached_tokens: call.cachedTokens,
    completion_tokens: call.completionTokens,
    cost_usd: usdText(call.cost),
    free_usd: usdText(call.freeCost),
    latency_ms: call.latencyMs,
    first_token_ms: call.firstTokenMs,
  };
}
