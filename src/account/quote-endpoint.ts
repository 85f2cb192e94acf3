// Serves POST /v1/quote: the hold of a call and whether it would be admitted, without making the
// call.

import type { QuotedDecision } from "../../actors/account.ts";
import { withoutCost } from "../calls/account.ts";
import type { Call } from "../calls/call.ts";
import { CallQuote, type Quoted } from "../calls/call-quote.ts";
import { CHAT, RESPONSES, VECTORS } from "../core/access/limits.ts";
import { SERVICE_NAMES, SERVICES, type Surface } from "../core/access/services.ts";
import { HOUR_MS } from "../core/durations.ts";
import { ApiError, type ErrorCode } from "../core/errors.ts";
import { add, min, toJsonNumber } from "../core/money/money.ts";
import { invalid } from "../http/body/checks.ts";
import { END_USER_HEADER } from "../http/body/end-user.ts";
import { jsonBody } from "../http/body/json-body.ts";
import { type EndpointContext, endpoint } from "../http/endpoint.ts";
import type { Method } from "../http/endpoint-info.ts";
import { passedOn, TERMS_PARAMETERS } from "../http/idempotency.ts";
import { type CallApi, innerRequest, searchParamsOf, serverOf } from "../http/inner-request.ts";
import { MAX_COST_HEADER } from "../http/max-cost.ts";
import { RUN_HEADER, runHeaderOf } from "../http/run-header.ts";
import type { Checked } from "../http/schema.ts";
import type { PriceCatalogue } from "../readings/receipt-lines.ts";
import { ChatAdmission } from "../services/chat/chat-admission.ts";
import type { ChatDeps } from "../services/chat/doors/completions/answer-chat.ts";
import { atBothSurfaces, freeSvc } from "./both-surfaces.ts";
import { bindingBudgetJson } from "./budget-json.ts";
import { unitPrices } from "./quote-lines.ts";
import { QUOTE_EXAMPLES, Quote, QuoteBody } from "./quote-schema.ts";

/** The dependencies of the endpoint. */
export interface QuoteDeps extends ChatDeps {
  readonly catalogue: PriceCatalogue;
  readonly callApi: CallApi;
  /** The methods of the endpoints that cost money, by path. */
  readonly paid: Readonly<Record<Surface, ReadonlyMap<string, Method>>>;
  /** The mean length in tokens of the replies that an account gets of a model; null: unknown. */
  readonly averageReply: (of: { account: string; model: string }) => Promise<number | null>;
}

type QuoteContext = EndpointContext<QuoteDeps>;
type Fields = Checked<typeof QuoteBody>;

/** Room for the path around a body. */
const ENVELOPE_BYTES = 64 * 1024;
const ENVELOPE_KEYS = 10;
/** Headers of the request that the quoted call has too. */
const PASSED_ON = [
  "host",
  "authorization",
  "x-api-key",
  "user-agent",
  MAX_COST_HEADER,
  END_USER_HEADER,
];

/** The codes of refusals that only some of the calls of a surface have. */
const ERRORS_OF = {
  gateway: [
    "messages_required",
    "batch_too_large",
    "invalid_action",
    "unsupported_field",
    "too_many_recipients",
    "model_not_found",
    ...SERVICE_NAMES.map((name) => SERVICES[name].unavailable),
  ],
  application: ["messages_required", "model_not_found", SERVICES.chat.unavailable],
} as const satisfies Record<Surface, readonly ErrorCode[]>;

/** Quotes a call of the surface. */
const endpoints = atBothSurfaces<QuoteDeps>("/v1/quote", ({ surface, ...terms }) =>
  endpoint({
    id: "quoteCall",
    surface,
    ...terms,
    method: "POST",
    summary: "Quote a call without making it",
    description: `Takes the path and the body of any call that costs money, and answers the hold
that it would take, its likely cost, its unit prices, and whether it would be admitted now. Nothing
is held, sent to a provider or charged; the quote costs nothing and counts as one request. A body
that the call would refuse is refused here in the same words, after \`body.\`. A quote reserves
nothing: the next call is decided by the balance and the limits of its own moment.`,
    body: jsonBody(QuoteBody, {
      bytesMax: CHAT.mediaBodyBytesMax + ENVELOPE_BYTES,
      keysMax: RESPONSES.body.keysMax + ENVELOPE_KEYS,
      valuesMax: VECTORS.valuesMax + ENVELOPE_KEYS,
    }),
    parameters: passedOn("the quoted call", TERMS_PARAMETERS),
    reply: Quote,
    errors: ERRORS_OF[surface],
    examples: QUOTE_EXAMPLES[surface],
    prepare(fields, { deps }: QuoteContext) {
      const paid = deps.paid[surface];
      const method = paid.get(fields.path);
      if (method !== undefined) return { fields, method };
      const paths = [...paid.keys()].join(", ");
      throw invalid("path", `must be an endpoint that costs money: ${paths}`);
    },
    run: ({ deps, call, request }, { fields, method }) =>
      withoutCost(deps.calls, call, {
        service: "account",
        answer: async () => {
          const inner = quotedRequest({ deps, request }, fields, method);
          const raw = { request: inner, server: serverOf(call) };
          const callQuote = new CallQuote(deps.calls.accounts);
          await deps.callApi(surface, fields.path, { raw, quote: callQuote });
          return await replyOf(deps, call, { path: fields.path, quoted: quotedBy(callQuote) });
        },
      }),
    answer: (_, __, reply) => ({ json: JSON.stringify(reply) }),
  }),
);

export const { gateway: quote, application: applicationQuote } = endpoints;

function quotedRequest(
  { deps, request }: Pick<QuoteContext, "deps" | "request">,
  { path, body }: Fields,
  method: Method,
): Request {
  const passed = Object.fromEntries(PASSED_ON.map((name) => [name, request.headers.get(name)]));
  const headers = { ...passed, [RUN_HEADER]: runHeaderOf(request.headers, deps.runRules()) };
  const { signal } = request;
  if (method !== "GET") return innerRequest({ method, path, headers, signal, body });
  if (Array.isArray(body)) throw invalid("body", "must be an object");
  const query = searchParamsOf({ ...body });
  return innerRequest({ method, path, headers, signal, query });
}

/** Throws the refusal of the call's own body, headers or key. */
function quotedBy({ quoted, refusal }: CallQuote): Quoted {
  if (refusal !== null) {
    const { param, code, message } = refusal;
    if (param === undefined) throw new ApiError(code, message);
    const isHeader = TERMS_PARAMETERS.some(({ name }) => name === param);
    throw new ApiError(code, message, { param: isHeader ? param : `body.${param}` });
  }
  if (quoted === null) throw new ApiError("service_unavailable", "The call cannot be quoted now");
  return quoted;
}

interface QuotedCall {
  readonly path: string;
  readonly quoted: Quoted;
}

async function replyOf(deps: QuoteDeps, call: Call, { path, quoted }: QuotedCall) {
  const { first, terms, decision, besides } = quoted;
  const { service, model, bound, priceVersion = null } = terms;
  const { accountId: account } = call.identity;
  const now = deps.calls.clock.now();
  const of = { account, quoted, now };
  const chat = first instanceof ChatAdmission ? await chatFigures(deps, { ...of, first }) : null;
  const whole = besides === null ? bound : add(bound, besides.bound);
  // The rounds of the model have the part of a cap that the searches leave.
  const cap = besides !== null && first instanceof ChatAdmission ? first.call.maxCost : null;
  return {
    object: "quote",
    path,
    model,
    hold_usd: toJsonNumber(cap === null || bound > cap ? whole : min(whole, cap)),
    web_search:
      besides === null
        ? null
        : { searches_max: besides.searches, hold_usd: toJsonNumber(besides.bound) },
    likely: chat?.likely ?? { cost_usd: toJsonNumber(bound) },
    prices: [
      ...unitPrices(deps.catalogue, { service, model }),
      ...(besides === null ? [] : unitPrices(deps.catalogue, SEARCHES)),
    ],
    price_version: priceVersion,
    would_pass: decision.refusal === null,
    refusal: refusalJson(decision),
    spendable_usd: toJsonNumber(decision.spendable),
    spendable_limit: decision.limit,
    spendable_budget: bindingBudgetJson(decision.budget),
    max_tokens_affordable: chat?.outputMax ?? null,
    valid_until: new Date(now - (now % HOUR_MS) + HOUR_MS).toISOString(),
    svc: freeSvc(call),
  };
}

const SEARCHES = { service: "search", model: null } as const;

function refusalJson({ refusal }: QuotedDecision) {
  if (refusal === null) return null;
  const { code, message, status, retryAfterSeconds = null } = refusal;
  return { code, message, status, retry_after: retryAfterSeconds };
}

interface QuotedChat {
  readonly account: string;
  readonly first: ChatAdmission;
  readonly quoted: Quoted;
  readonly now: number;
}

/** The figures of a chat that depend on its tokens. */
async function chatFigures(
  { averageReply }: Pick<QuoteDeps, "averageReply">,
  { account, first, quoted: { terms, decision }, now }: QuotedChat,
) {
  const { models, bound } = { ...first.terms, ...terms };
  const [model] = models;
  const { longest, outputMax } = await first.quotedTokens(model, decision);
  const average = await averageReply({ account, model: model.id });
  const completionTokens = Math.min(average ?? longest.completionTokens, longest.completionTokens);
  const cost = min(first.likelyCost(model, { ...longest, completionTokens }, now), bound);
  return {
    likely: {
      cost_usd: toJsonNumber(cost),
      prompt_tokens: longest.promptTokens,
      completion_tokens: completionTokens,
    },
    outputMax,
  };
}
