// Lists the request log of an account by time, newest first. The log has no content of any request,
// because none is stored.

import { serviceOfScope } from "../core/access/services.ts";
import { OK } from "../core/errors.ts";
import { fromUuid, isId, toUuid } from "../core/ids.ts";
import { usd } from "../core/money/money.ts";
import {
  jsonFrom,
  listOf,
  nested,
  nullable,
  number,
  text,
  time,
  usdField,
  type WireOf,
} from "../core/records.ts";
import { isUsualYear } from "../core/text/field-rules.ts";
import { CALL_STATUSES } from "../core/usage-query.ts";
import { invalid } from "../http/body/checks.ts";
import { time as timeSchema, usdSchema } from "../http/console/fields.ts";
import { oneOf, optional, text as textSchema } from "../http/schema.ts";
import { type KeyName, readKeyNames } from "../store/accounts/key-names.ts";
import { exportCalls, type LogPage } from "../store/usage/log-export.ts";
import type { LogFilter } from "../store/usage/log-filter.ts";
import { type LoggedCall, type LogPlace, readLogPage } from "../store/usage/request-log.ts";
import { type Keyset, listReading, type PageOf, ROWS_PER_PAGE } from "./list-reading.ts";
import { type AccountSource, WITH_AGE } from "./reading.ts";
import { queryTime, usageFilterOf } from "./usage.ts";

export const LoggedRequest = {
  id: text({ sample: "req_7n42DGM5Tflk9n8mt7Fhc7" }),
  at: time({ about: "When it arrived", sample: "2026-11-22T14:03:20.118Z" }),
  endpoint: text({ sample: "/v1/chat/completions" }),
  service: text({ sample: "chat" }),
  model: nullable(text({ about: "The model that served it", sample: "fast" })),
  asked_model: nullable(
    text({ about: "The name that was asked for; null: the id of the model", sample: "auto" }),
    { sample: null },
  ),
  key: nested({
    id: text({ sample: "key_7n42DGM5Tflk9n8mt7Fhc7" }),
    name: text({ sample: "production" }),
    last_four: text({ sample: "k9Qz" }),
    tags: listOf(text({ sample: "web" })),
  }),
  run: nullable(text({ about: "The run that it named", sample: "nightly-2026-11-22" }), {
    sample: null,
  }),
  step: nullable(text({ about: "The step of the run", sample: "plan" }), { sample: null }),
  end_user: nullable(
    text({
      about: "The end user, by the hash that the page of end users shows; null without budgets",
      sample: "kPrK_qmxVWaYVA9wwBF6Iu",
    }),
    { sample: null },
  ),
  status: number({ sample: OK }),
  code: nullable(text({ sample: "insufficient_credits" }), { sample: null }),
  requests: number({
    about: "1, the queries of a batch, or how many refused requests this row stands for",
    sample: 1,
  }),
  prompt_tokens: number({ sample: 812 }),
  cached_tokens: number({ sample: 0 }),
  completion_tokens: number({ sample: 240 }),
  cost_usd: usdField({ about: "Charged", sample: "0.0004215" }),
  free_usd: usdField({ about: "The part of it that free credit paid", sample: "0" }),
  latency_ms: number({ sample: 1840 }),
  first_token_ms: nullable(number({ sample: 212 })),
};

const toJson = jsonFrom(LoggedRequest);

/** A row of the log as the console shows it. */
export function requestJson(
  call: LoggedCall,
  keys: ReadonlyMap<number, KeyName>,
): WireOf<typeof LoggedRequest> {
  const key = keys.get(call.key);
  return toJson({
    ...call,
    id: fromUuid("request", call.request),
    service: serviceOfScope(call.service),
    key: keyJson(key),
    code: call.errorCode,
    free: call.freeCost,
  });
}

function keyJson(key: KeyName | undefined): WireOf<typeof LoggedRequest>["key"] {
  if (key === undefined) return { id: "unknown", name: "Unknown", last_four: "", tags: [] };
  const { id, name, lastFour: last_four, tags } = key;
  return { id, name, last_four, tags };
}

interface FoundCall {
  readonly call: LoggedCall;
  readonly keys: ReadonlyMap<number, KeyName>;
}

/** No request has this id. */
const NO_REQUEST = "00000000-0000-0000-0000-000000000000";
const PLACE = /^(\d{1,15})\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

const BY_TIME: Keyset<LogPlace, { readonly call: LogPlace }> = {
  nameOf: ({ call: { at, request } }) => `${at.getTime()}.${request}`,
  parse(name) {
    const [, ms, request] = PLACE.exec(name) ?? [];
    const at = new Date(Number(ms));
    return request === undefined || !isUsualYear(at) ? null : { at, request };
  },
};

export const REQUESTS = listReading({
  name: "requests",
  line: LoggedRequest,
  filters: {
    from: optional(timeSchema("The oldest")),
    to: optional(timeSchema("The newest, not included")),
    service: optional(textSchema()),
    model: optional(textSchema({ description: "A model, or an action of maps" })),
    key: optional(textSchema({ description: "The id of a key" })),
    tag: optional(textSchema({ description: "A tag that keys have" })),
    run: optional(textSchema({ description: "The id of a run" })),
    end_user: optional(textSchema({ description: "The hash of an end user" })),
    status: optional(oneOf(CALL_STATUSES)),
    code: optional(textSchema({ description: "An error code" })),
    request: optional(textSchema({ description: "The id of a request" })),
    min_cost_usd: optional(usdSchema("The lowest cost")),
    limit: optional(
      textSchema({ pattern: "^([1-9]|[1-9]\\d|1\\d\\d|200)$", must: "must be from 1 to 200" }),
    ),
  },
  keyset: BY_TIME,
  head: WITH_AGE,
  rowsPerPage: ({ limit }) => (limit == null ? ROWS_PER_PAGE : Number(limit)),
  async read({ reading: { database }, account }: AccountSource, query, page) {
    const keys = await readKeyNames(database, account.number);
    const filter = filterOf(keys, query);
    const calls = await readLogPage(database, account.number, { filter, ...page });
    return calls.map((call) => ({ call, keys }));
  },
  toLine: ({ call, keys }: FoundCall) => requestJson(call, keys),
});

export type RequestsReply = PageOf<typeof REQUESTS>;
export type RequestsQuery = ReturnType<typeof REQUESTS.query.check>;

/** The requests that a query finds, as CSV, oldest first. @throws ApiError as for a page */
export async function exportRequests(
  { reading: { database }, account }: AccountSource,
  query: RequestsQuery,
): Promise<AsyncGenerator<LogPage>> {
  const filter = filterOf(await readKeyNames(database, account.number), query);
  return exportCalls(database, account.number, filter);
}

/** @throws ApiError that names the field at fault */
function filterOf(keys: ReadonlyMap<number, KeyName>, query: RequestsQuery): LogFilter {
  const { request, min_cost_usd: least } = query;
  return {
    ...usageFilterOf(keys, query),
    from: query.from == null ? null : new Date(queryTime("from", query.from)),
    to: query.to == null ? null : new Date(queryTime("to", query.to)),
    code: query.code ?? null,
    run: query.run ?? null,
    endUser: query.end_user ?? null,
    request: request == null ? null : isId("request", request) ? toUuid(request) : NO_REQUEST,
    minCost: least == null ? null : amountIn(least),
  };
}

function amountIn(text: string): bigint {
  try {
    return usd(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw invalid("min_cost_usd", `is too large: '${text}'`);
  }
}
