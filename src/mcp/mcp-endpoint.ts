// Serves POST /mcp: the services as tools of agents, by the Model Context Protocol.

import { viewAccount } from "../calls/account.ts";
import { MAIL, SEARCH } from "../core/access/limits.ts";
import { accountPage } from "../core/account-page.ts";
import type { Brand } from "../core/brand/brand.ts";
import { ACCEPTED, ApiError, UNAUTHORIZED } from "../core/errors.ts";
import { isLoopback } from "../core/loopback.ts";
import { END_USER_HEADER } from "../http/body/end-user.ts";
import { jsonBody } from "../http/body/json-body.ts";
import { type EndpointContext, endpoint } from "../http/endpoint.ts";
import type { Endpoint } from "../http/endpoint-info.ts";
import { type CallApi, innerRequest, serverOf } from "../http/inner-request.ts";
import { MAX_COST_HEADER } from "../http/max-cost.ts";
import { RUN_HEADER, runHeaderOf } from "../http/run-header.ts";
import { anyObject, optional, Type, text } from "../http/schema.ts";
import type { MapsDeps } from "../services/maps/maps-endpoint.ts";
import type { SearchDeps } from "../services/search/search-endpoints.ts";
import { answerMessage, type Exchange } from "./mcp-server.ts";
import type { Arguments, McpTool } from "./mcp-tools.ts";

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
  parameters: [
    {
      name: "Accept",
      in: "header",
      required: true,
      description: "Must have `application/json` and `text/event-stream`, as the protocol says",
      schema: text({ examples: ["application/json, text/event-stream"] }),
    },
  ],
  reply: anyObject({ description: "The JSON-RPC reply" }),
  accepted: { status: ACCEPTED, description: "A notification, which has no reply" },
  errors: ["origin_not_allowed"],
  examples: [
    {
      summary: "The tools",
      body: LIST,
      headers: {
        Accept: "application/json, text/event-stream",
        "MCP-Protocol-Version": VERSION,
        "Mcp-Method": "tools/list",
      },
      reply: { jsonrpc: "2.0", id: 1, result: { tools: [] } },
    },
  ],
  prepare(message, { deps, request }: McpContext) {
    checkCaller(request.headers, deps.mcp.hosts);
    return message;
  },
  async run(context, message) {
    const { deps, call, request } = context;
    const isToolCall = message.method === "tools/call";
    let challenge: Response | null = null;
    const response = await answerMessage({
      request,
      message,
      view: isToolCall ? null : await viewAccount(deps.calls, call),
      offer: offerOf(deps),
      title: deps.catalogue().brand.name,
      topUpUrl: topUpUrlOf(deps.mcp, call.identity.accountId),
      async call(tool, args) {
        const reply = await callApi(context, tool, args);
        // The key was revoked after this process learned it: the client must send another one.
        if (reply.status === UNAUTHORIZED) challenge = reply.clone() as Response;
        return reply;
      },
    });
    return challenge ?? response;
  },
  answer: (_, __, response) => ({ response }),
});

/**
 * Refuses a message that a foreign page may have sent. Such pages reach services behind a firewall
 * by a name that leads to this machine and is not ours (DNS rebinding, D-679). A foreign Origin is
 * 403, as the protocol demands since 2025-11-25 (basic, transports, security warning).
 */
function checkCaller(headers: Headers, hosts: readonly string[]): void {
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

/** Calls the API as the sender would: with the same key, from the same address (D-679). */
async function callApi(
  { deps, call, request }: McpContext,
  tool: McpTool,
  args: Arguments,
): Promise<Response> {
  const { idempotencyKey = request.headers.get("idempotency-key"), ...asked } =
    tool.requestOf(args);
  const passed = PASSED_ON.map((name) => [name, request.headers.get(name)]);
  const inner = innerRequest({
    ...asked,
    headers: {
      ...Object.fromEntries(passed),
      [RUN_HEADER]: runHeaderOf(request.headers, deps.runRules()),
      "idempotency-key": idempotencyKey,
    },
    signal: request.signal,
  });
  const raw = { request: inner, server: serverOf(call) };
  return await deps.callApi("gateway", asked.path, { raw });
}
