// The playground: POST …/playground calls the API with a key that the page never sees. POST
// …/playground/estimate answers the hold that such a call would take.

import type { AccountActors } from "../../actors/account.ts";
import { CallQuote } from "../calls/call-quote.ts";
import { CHAT } from "../core/access/limits.ts";
import type { Surface } from "../core/access/services.ts";
import { ApiError, BEFORE_WINDOW, ERRORS, type ErrorCode } from "../core/errors.ts";
import { type NanoUsd, toDecimal, writtenUsdAboveZero } from "../core/money/money.ts";
import { invalid } from "../http/body/checks.ts";
import { jsonBody } from "../http/body/json-body.ts";
import {
  type AccountContext,
  accountEndpoint,
  type ConsoleFrameDeps,
} from "../http/console/console-endpoint.ts";
import type { RawRequest } from "../http/frame.ts";
import { type CallApi, innerRequest, searchParamsOf } from "../http/inner-request.ts";
import { MAX_COST_HEADER } from "../http/max-cost.ts";
import type { PlaygroundKeys } from "./playground-keys.ts";
import {
  ESTIMATE_EXAMPLE,
  Estimate,
  type EstimateReply,
  PLAYGROUND_METHODS,
  PlaygroundAnswer,
  PlaygroundBody,
  type PlaygroundFields,
  type PlaygroundPath,
} from "./playground-schema.ts";

export interface PlaygroundDeps extends ConsoleFrameDeps {
  readonly playgroundKeys: PlaygroundKeys;
  readonly callApi: CallApi;
  readonly actors: AccountActors;
}

type PlaygroundContext = AccountContext<PlaygroundDeps>;

const PATH = "/console/api/accounts/{account}/playground";
/**
 * A body may have 4 MB. A session that asks nothing else may send three hundred calls or estimates
 * a minute.
 */
const WEIGHT = 4;
const EXAMPLE = {
  path: "/v1/chat/completions",
  body: { model: "guide", messages: [{ role: "user", content: "Hello" }], stream: true },
};
/** Headers that the call takes over from the person's request. */
const PASSED_ON = ["host", "x-forwarded-for", "idempotency-key"];

export const callFromPlayground = accountEndpoint({
  id: "callFromPlayground",
  method: "POST",
  path: PATH,
  role: "billing",
  looksAgain: true,
  weight: WEIGHT,
  summary: "Call the API as the playground does",
  description: `The call is held, limited, charged and logged like any other, by a key named
Playground that lives for minutes. The answer is the API's own, streamed where it streams. A mail
goes to the address of the person who is signed in, whatever the body says.`,
  body: jsonBody(PlaygroundBody, { bytesMax: CHAT.bodyBytesMax }),
  reply: PlaygroundAnswer,
  examples: [{ summary: "A chat, streamed", body: EXAMPLE, reply: {} }],
  async run(context: PlaygroundContext, fields: PlaygroundFields) {
    const { deps, account, person } = context;
    const response = await deps.callApi(account.surface, fields.path, {
      raw: await requestOf(context, fields),
    });
    // The key was revoked early; the next call makes a new one.
    const isKeyGone = response.status === ERRORS.invalid_api_key.status;
    if (isKeyGone) deps.playgroundKeys.forget(person.sessionId, account);
    return response;
  },
});

export const estimateFromPlayground = accountEndpoint({
  id: "estimateFromPlayground",
  method: "POST",
  path: `${PATH}/estimate`,
  role: "billing",
  weight: WEIGHT,
  summary: "Tell what a call of the playground would hold",
  description: "Nothing is held, counted or logged. What the API refuses is refused here too.",
  body: jsonBody(PlaygroundBody, { bytesMax: CHAT.bodyBytesMax }),
  reply: Estimate,
  examples: [{ summary: "A chat", body: EXAMPLE, reply: ESTIMATE_EXAMPLE }],
  async run(context: PlaygroundContext, fields: PlaygroundFields) {
    const { deps, account } = context;
    const quote = new CallQuote(deps.actors);
    const raw = await requestOf(context, fields);
    const response = await deps.callApi(account.surface, fields.path, { raw, quote });
    if (quote.quoted === null) return response;
    const { terms, decision } = quote.quoted;
    const { refusal } = decision;
    if (refusal !== null && isOfCallItself(refusal.code)) throw refusal;
    return {
      hold_usd: toDecimal(terms.bound),
      spendable_usd: toDecimal(decision.spendable),
    } satisfies EstimateReply;
  },
});

/** True for a refusal that neither waiting nor more credit would lift. */
function isOfCallItself(code: ErrorCode): boolean {
  return BEFORE_WINDOW.has(code) || code === "max_cost_exceeded";
}

/** Makes the request that a client of the API would send from the person's address. */
async function requestOf(
  context: PlaygroundContext,
  { path, body, max_cost_usd: most }: PlaygroundFields,
): Promise<RawRequest> {
  const { deps, account, person, request: original, server } = context;
  checkSurface(path, account.surface);
  const passed = PASSED_ON.map((name) => [name, original.headers.get(name)]);
  const authorization = `Bearer ${await deps.playgroundKeys.of(person.sessionId, account)}`;
  const content = path === "/v1/mail/send" ? { ...body, to: person.email } : body;
  const method = PLAYGROUND_METHODS[path];
  const request = innerRequest({
    method,
    path,
    headers: {
      ...Object.fromEntries(passed),
      authorization,
      ...(most !== undefined && { [MAX_COST_HEADER]: toDecimal(mostOf(most)) }),
    },
    signal: original.signal,
    ...(method === "GET" ? { query: searchParamsOf(body) } : { body: content }),
  });
  return { request, server: server && seenAs(server, original) };
}

function mostOf(text: string): NanoUsd {
  return writtenUsdAboveZero(text, (rule) => {
    throw invalid("max_cost_usd", rule);
  });
}

/** Wraps the server, so that it takes the new request for the one that came in. */
function seenAs(
  server: NonNullable<RawRequest["server"]>,
  original: Request,
): NonNullable<RawRequest["server"]> {
  return {
    requestIP: () => server.requestIP(original),
    timeout: (_, seconds) => server.timeout(original, seconds),
  };
}

function checkSurface(path: PlaygroundPath, surface: Surface): void {
  const isApplication = path.startsWith("/api/");
  if (isApplication === (surface === "application")) return;
  throw new ApiError(
    "invalid_parameter",
    `path is of another surface than this account, which is of the ${surface} surface`,
    { param: "path" },
  );
}
