// Answers one MCP message. The protocol's own library does the wire; every call of a tool is a call
// of the API with the caller's own key, so windows, scopes, holds and logs are those of the API.

import {
  createMcpHandler,
  type InputRequiredResult,
  inputRequired,
  isJSONRPCRequest,
  isLegacyRequest,
  isSpecType,
  ProtocolErrorCode,
  specTypeSchemas,
  type Tool,
  Server as ToolServer,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { AccountView } from "../../actors/account.ts";
import project from "../../package.json";
import { SERVICES } from "../core/access/services.ts";
import { ERRORS } from "../core/errors.ts";
import { SchemaWriter } from "../http/docs/openapi-schema.ts";
import { Type } from "../http/schema.ts";
import {
  type Arguments,
  calledTool,
  MCP_TOOLS,
  type McpTool,
  type ToolOffer,
} from "./mcp-tools.ts";
import { toolReply } from "./tool-result.ts";

/** A message, and the parts that its answer needs. */
export interface Exchange {
  readonly request: Request;
  /** The checked JSON-RPC message. */
  readonly message: unknown;
  /** The account and key; null for a tool's call, which the API counts by itself. */
  readonly view: AccountView | null;
  readonly offer: ToolOffer;
  /** The name of the service, for people. */
  readonly title: string;
  /** The page where the account adds credit; null without a console. */
  readonly topUpUrl: string | null;
  /** The API's answer to the call of a tool. */
  readonly call: (name: string, args: Arguments) => Promise<Response>;
}

/** The time for which a client may keep the list of tools: prices and tiers change rarely. */
const LIST_TTL_MS = 60_000;
/** Refusals that more credit lifts; one with a time to retry waits for an automatic top-up. */
const TOP_UP_CODES: ReadonlySet<string> = new Set(["insufficient_credits", "payment_required"]);
const TOP_UP = "top_up";
const EXCHANGE = "exchange";
const JSON_TYPE = "application/json";

/**
 * The schemas of requests whose shape is checked here, because for a wrong shape the library
 * reports an internal error (-32603), or a text of many lines.
 */
const SHAPES: ReadonlyMap<string, Shape> = new Map<string, Shape>([
  ["initialize", specTypeSchemas.InitializeRequest],
  ["tools/list", specTypeSchemas.ListToolsRequest],
  ["tools/call", specTypeSchemas.CallToolRequest],
]);
/** At most this many wrong fields are named. */
const FAULTS_MAX = 5;
type Shape = (typeof specTypeSchemas)["Request"];

/** The input schemas by the names of the tools. */
const SCHEMAS: ReadonlyMap<string, Tool["inputSchema"]> = new Map(
  MCP_TOOLS.map((tool) => [tool.name, schemaOf(tool)]),
);

const handler = createMcpHandler(
  ({ authInfo }) => serverOf(authInfo?.extra?.[EXCHANGE] as Exchange),
  // Nothing is announced later, so no client can wait for it.
  { legacy: "reject", maxSubscriptions: 0 },
);

/**
 * The reply to a message: of MCP 2026-07-28 with its envelope, of 2025-11-25 and before without
 * one. Nothing is kept between messages. Each reply is JSON and no event stream (D-771).
 */
export async function answerMessage(exchange: Exchange): Promise<Response> {
  const { request, message } = exchange;
  const refusal = await refusalOfShape(message);
  if (refusal !== null) return refusal;
  const headers = new Headers(request.headers);
  // The body was parsed before, under whatever type it came, as at every endpoint of the API.
  headers.set("content-type", JSON_TYPE);
  // Every answer is JSON, whatever the client takes besides (D-773).
  headers.set("accept", `${JSON_TYPE}, text/event-stream`);
  const { method, signal, url } = request;
  const read = new Request(url, { method, headers, signal });
  if (await isLegacyRequest(read, message)) return await answerLegacy(exchange, read);
  const authInfo = { token: "", clientId: "", scopes: [], extra: { [EXCHANGE]: exchange } };
  return await handler.fetch(read, { parsedBody: message, authInfo });
}

/**
 * The reply to a message without an envelope. The handler of the library would begin an event
 * stream before a tool has its result, and then no status could say that the key was revoked.
 */
async function answerLegacy(exchange: Exchange, request: Request): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  const server = serverOf(exchange);
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, { parsedBody: exchange.message });
  } finally {
    await server.close();
  }
}

/** An error that names the fields of a request that are wrong; null if none is. */
async function refusalOfShape(message: unknown): Promise<Response | null> {
  if (!isJSONRPCRequest(message)) return null;
  const { id, method } = message;
  const { issues } = (await SHAPES.get(method)?.["~standard"].validate(message)) ?? {};
  if (issues === undefined) return null;
  const faults = issues
    .slice(0, FAULTS_MAX)
    .map((issue) => `${issue.path?.join(".")}: ${issue.message}`);
  const error = { code: ProtocolErrorCode.InvalidParams, message: faults.join("; ") };
  return Response.json({ jsonrpc: "2.0", id, error }, { status: ERRORS.invalid_parameter.status });
}

function serverOf(exchange: Exchange): ToolServer {
  const server = new ToolServer(
    { name: project.name, title: exchange.title, version: project.version },
    {
      capabilities: { tools: {} },
      cacheHints: { "tools/list": { ttlMs: LIST_TTL_MS, cacheScope: "private" } },
      instructions:
        "Each call of a tool is paid from the account's balance; its description has the price, " +
        "its result the cost in `svc`.",
    },
  );
  server.setRequestHandler("tools/list", () => ({ tools: listed(exchange) }));
  server.setRequestHandler("tools/call", ({ params }, context) => {
    const { name, arguments: args = {} } = params;
    // The client is asked once for a call: a client that comes back without credit is refused.
    const opensPages =
      server.getClientCapabilities()?.elicitation?.url !== undefined &&
      context.mcpReq.inputResponses === undefined;
    return callTool(exchange, { name, args, opensPages });
  });
  return server;
}

/** True for a message that the library passes to the handler of tools. */
export function callsTool(message: unknown): boolean {
  return isJSONRPCRequest(message) && isSpecType.CallToolRequest(message);
}

interface ToolCall {
  readonly name: string;
  readonly args: Arguments;
  /** True if the client can open a page for its user. */
  readonly opensPages: boolean;
}

async function callTool(exchange: Exchange, { name, args, opensPages }: ToolCall) {
  const response = await exchange.call(name, args);
  const { result, refusal } = await toolReply(response, calledTool(name, args));
  const { topUpUrl } = exchange;
  const isForPage = refusal !== null && refusal.retryAfter === null;
  if (!isForPage || topUpUrl === null || !TOP_UP_CODES.has(refusal.code)) return result;
  if (opensPages) return offerTopUp(refusal.message, topUpUrl);
  const content = [...result.content, { type: "text" as const, text: `Add credit: ${topUpUrl}` }];
  return { ...result, content };
}

/** Asks the client to open the page for credit; afterwards it sends the call again. */
function offerTopUp(message: string, url: string): InputRequiredResult {
  return inputRequired({ inputRequests: { [TOP_UP]: inputRequired.elicitUrl({ message, url }) } });
}

/** The tools that the key's scopes, the account's tier and this installation allow. */
function listed({ view, offer }: Exchange): Tool[] {
  if (view === null) throw new Error("Tools are listed for an account that was not looked at");
  const allowed = MCP_TOOLS.filter(({ service, isServed }) => {
    if (isServed?.(offer) === false) return false;
    if (service === null) return true;
    const { scope } = SERVICES[service];
    return view.key.scopes.includes(scope) && view.tier.services.includes(scope);
  });
  return allowed.map((tool) => toolOf(tool, offer));
}

function toolOf(tool: McpTool, offer: ToolOffer): Tool {
  const { name, title, readsOnly } = tool;
  const inputSchema = SCHEMAS.get(name) ?? schemaOf(tool);
  return {
    name,
    title,
    description: tool.description(offer),
    inputSchema,
    annotations: {
      title,
      readOnlyHint: readsOnly,
      destructiveHint: false,
      idempotentHint: readsOnly,
      openWorldHint: tool.service !== null,
    },
  };
}

function schemaOf({ properties, required }: McpTool): Tool["inputSchema"] {
  const schema = Type.Object({ ...properties }, { additionalProperties: false });
  return { ...new SchemaWriter().write({ ...schema, required: [...required] }), type: "object" };
}
