// Serves POST /mcp: the services as tools of agents, by the Model Context Protocol.

import { viewAccount } from "../calls/account.ts";
import { refuse } from "../calls/admission.ts";
import { MAIL, SEARCH } from "../core/access/limits.ts";
import { accountPage } from "../core/account-page.ts";
import type { Brand } from "../core/brand/brand.ts";
import { ACCEPTED, ApiError, toApiError, UNAUTHORIZED } from "../core/errors.ts";
import { isLoopback } from "../core/loopback.ts";
import { END_USER_HEADER } from "../http/body/end-user.ts";
import { jsonBody } from "../http/body/json-body.ts";
import { checkJsonShape } from "../http/body/json-shape.ts";
import { type EndpointContext, endpoint } from "../http/endpoint.ts";
import type { Endpoint } from "../http/endpoint-info.ts";
import { failureOf } from "../http/failure.ts";
import { IDEMPOTENCY_PARAMETER, passedOn, TERMS_PARAMETERS } from "../http/idempotency.ts";
import { type CallApi, innerRequest, serverOf } from "../http/inner-request.ts";
import { MAX_COST_HEADER } from "../http/max-cost.ts";
import { RECEIPT_HEADER, RECEIPT_PARAMETER } from "../http/receipt-header.ts";
import { ERROR_FORMS } from "../http/respond.ts";
import { RUN_HEADER, runHeaderOf } from "../http/run-header.ts";
import { anyObject, type Checked, optional, Type, text } from "../http/schema.ts";
import type { MapsDeps } from "../services/maps/maps-endpoint.ts";
import type { SearchDeps } from "../services/search/search-endpoints.ts";
import { answerMessage, callsTool, type Exchange } from "./mcp-server.ts";
import { type Arguments, type ToolRequest, toolRequestOf } from "./mcp-tools.ts";

/** The settings of the endpoint. */
export interface McpConfig {
  /** Names of this service in the header Host, besides those of this machine itself. */
  readonly hosts: readonly string[];
  /** The origin where people open the dashboard; null without one. */
  readonly dashboard: string | null;
}

export interface McpDeps extends SearchDeps, MapsDeps {
  readonly calls: SearchDeps["calls"] & MapsDeps["calls"];
  readonly catalogue: () => ReturnType<SearchDeps["catalogue"]> &
    ReturnType<MapsDeps["catalogue"]> & { readonly brand: Brand };
  readonly callApi: CallApi;
  readonly mcp: McpConfig;
}

type McpContext = EndpointContext<McpDeps>;

/** Room for the message around the arguments of a tool. */
const ENVELOPE_BYTES = 64 * 1024;
/**
 * The most values in a message, without the arguments of a tool. The library checks each of them
 * with schemas that take long for thousands of wrong values, and meanwhile all callers wait.
 */
const ENVELOPE_VALUES_MAX = 1_000;
const BODY_BYTES_MAX = Math.max(MAIL.bodyBytesMax, SEARCH.batchBodyBytesMax) + ENVELOPE_BYTES;
/** Headers of the message that the call of a tool has too. */
const PASSED_ON = [
  "host",
  "authorization",
  "x-api-key",
  "traceparent",
  "tracestate",
  "user-agent",
  END_USER_HEADER,
  MAX_COST_HEADER,
  RECEIPT_HEADER,
];

const Message = Type.Object(
  {
    jsonrpc: Type.Literal("2.0", { must: 'must be "2.0"' }),
    method: text({ description: "`tools/list`, `tools/call` and the protocol's own" }),
    id: Type.Optional(Type.Union([text(), Type.Integer()])),
    params: optional(anyObject({ description: "By the method" })),
  },
  { description: "One JSON-RPC message" },
);

const VERSION = "2026-07-28";
const META = "io.modelcontextprotocol";
const LIST = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/list",
  params: {
    _meta: { [`${META}/protocolVersion`]: VERSION, [`${META}/clientCapabilities`]: {} },
  },
};

/** POST /mcp. */
export const mcp: Endpoint<McpDeps> = endpoint({
  id: "mcp",
  surface: "gateway",
  method: "POST",
  path: "/mcp",
  service: null,
  access: "key",
  isBilled: false,
  summary: "Use the services as tools of an agent (MCP)",
  description: `The Model Context Protocol over Streamable HTTP, without sessions: 2026-07-28,
2025-11-25 and 2025-06-18. The tools are ${"`search`, `search_batch`, one for each action of maps, \
`send_mail`, `account` and `quote`"}; the list has those that the key and the tier allow. A tool's
call is a call of the API: held, limited, charged and logged as such. Its cost is in
\`structuredContent.svc\` and \`_meta.svc\`. A refusal is a tool error with the API's code.
Any other message counts as one request.`,
  body: jsonBody(Message, { bytesMax: BODY_BYTES_MAX, label: "The message" }),
  parameters: passedOn("a tool's call", [
    ...TERMS_PARAMETERS,
    IDEMPOTENCY_PARAMETER,
    RECEIPT_PARAMETER,
  ]),
  reply: anyObject({ description: "The JSON-RPC reply" }),
  accepted: { status: ACCEPTED, description: "A notification, which has no reply" },
  errors: ["origin_not_allowed"],
  examples: [
    {
      summary: "The tools",
      body: LIST,
      headers: {
        "MCP-Protocol-Version": VERSION,
        "Mcp-Method": "tools/list",
      },
      reply: { jsonrpc: "2.0", id: 1, result: { tools: [] } },
    },
  ],
  checkSender: ({ headers }, deps: McpDeps) => checkSender(headers, deps.mcp.hosts),
  prepare(message) {
    checkEnvelope(message);
    return message;
  },
  async run(context: McpContext, message) {
    const { deps, call, request } = context;
    const count = () => viewAccount(deps.calls, call);
    const isToolCall = callsTool(message);
    let isCounted = !isToolCall;
    let challenge: Response | null = null;
    const response = await answerMessage({
      request,
      message,
      view: isToolCall ? null : await count(),
      offer: offerOf(deps),
      title: deps.catalogue().brand.name,
      topUpUrl: topUpUrlOf(deps.mcp, call.identity.accountId),
      async call(name, args) {
        isCounted = true;
        const reply = await answerTo(context, name, args);
        // The key was revoked after this process learned it: the client must send another one.
        if (reply.status === UNAUTHORIZED) challenge = reply.clone() as Response;
        return reply;
      },
    });
    // The library refused the call by its headers, so that the API has not counted it.
    if (!isCounted) await count();
    return challenge ?? response;
  },
  answer: (_, __, response) => ({ response }),
});

/**
 * Refuses a message that a foreign page may have sent. Such pages reach services behind a firewall
 * by a name that leads to this machine and is not ours (DNS rebinding, D-679). A foreign Origin is
 * 403, as the protocol demands since 2025-11-25 (basic, transports, security warning), with a key
 * or without one.
 */
function checkSender(headers: Headers, hosts: readonly string[]): void {
  const host = headers.get("host") ?? "";
  if (!isOurs(hostName(host), hosts)) {
    throw new ApiError(
      "invalid_parameter",
      `The header Host names ${host}, which is neither in MCP_HOSTS nor the host of CONSOLE_URL`,
    );
  }
  const origin = headers.get("origin");
  if (origin === null) return;
  if (!URL.canParse(origin) || !isOurs(new URL(origin).hostname, hosts)) {
    throw new ApiError("origin_not_allowed", `The header Origin names ${origin}, which is foreign`);
  }
}

/** Refuses a message with too many values around the arguments of a tool. */
function checkEnvelope(message: Checked<typeof Message>): void {
  const { arguments: _, ...params } = message.params ?? {};
  const { values } = checkJsonShape(JSON.stringify({ ...message, params }));
  if (values <= ENVELOPE_VALUES_MAX) return;
  throw new ApiError(
    "invalid_parameter",
    `The message may have at most ${ENVELOPE_VALUES_MAX} values besides a tool's arguments`,
  );
}

function isOurs(name: string, hosts: readonly string[]): boolean {
  return isLoopback(name) || hosts.includes(name.toLowerCase());
}

function hostName(host: string): string {
  return host.replace(/:\d*$/, "");
}

function offerOf({ catalogue, calls }: McpDeps): Exchange["offer"] {
  const { search, maps } = catalogue();
  return {
    pricePerResult: search.pricePerResult,
    mapsPrices: maps.prices,
    serves: (action) => calls.maps.serves(action),
  };
}

/** The page of the dashboard where an account adds credit. */
function topUpUrlOf({ dashboard }: McpConfig, accountId: string): string | null {
  return dashboard === null ? null : `${accountPage(dashboard, accountId, "billing")}?add=credit`;
}

/** The API's answer to a tool's call. */
async function answerTo(context: McpContext, name: string, args: Arguments): Promise<Response> {
  let asked: ToolRequest;
  try {
    asked = toolRequestOf(name, args);
  } catch (error) {
    return await refuseCall(context, toApiError(error));
  }
  return await callApi(context, asked);
}

/** Refuses a call that is no request to the API. The account counts and logs it. */
async function refuseCall({ deps, call }: McpContext, refusal: ApiError): Promise<Response> {
  const { requestId } = call;
  const terms = { scope: null, service: "account", model: null, refusal } as const;
  const error = await refuse(deps.calls, call, terms).catch(failureOf);
  const { code, status, cause } = error;
  if (cause !== undefined) {
    deps.calls.log.error({ requestId, code, err: cause }, "A tool's call failed");
  }
  const headers = { "x-request-id": requestId, "x-svc-cost-usd": "0" };
  return Response.json(ERROR_FORMS.gateway(error, requestId), { status, headers });
}

/** Calls the API as the sender would: with the same key, from the same address (D-679). */
async function callApi({ deps, call, request }: McpContext, asked: ToolRequest): Promise<Response> {
  const { idempotencyKey = request.headers.get("idempotency-key"), ...inner } = asked;
  const passed = PASSED_ON.map((name) => [name, request.headers.get(name)]);
  const headers = {
    ...Object.fromEntries(passed),
    [RUN_HEADER]: runHeaderOf(request.headers, deps.runRules()),
    "idempotency-key": idempotencyKey,
  };
  const { signal } = request;
  const raw = { request: innerRequest({ ...inner, headers, signal }), server: serverOf(call) };
  return await deps.callApi("gateway", inner.path, { raw });
}
