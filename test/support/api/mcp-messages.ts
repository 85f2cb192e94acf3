// Makes and sends messages of the Model Context Protocol by hand: also those that no client library
// would send.

export const MCP_VERSIONS = ["2026-07-28", "2025-11-25", "2025-06-18"] as const;
export type McpVersion = (typeof MCP_VERSIONS)[number];

/** From this version on a message carries an envelope, and headers repeat parts of it. */
const WITH_ENVELOPE: McpVersion = "2026-07-28";
const META = "io.modelcontextprotocol";
const CLIENT = { name: "test", version: "1" };

type Fields = Readonly<Record<string, unknown>>;

/** The parts of a message, whose form depends on the version. */
export interface MessageParts {
  readonly version: McpVersion;
  readonly method: string;
  readonly params?: Fields;
  /** Null for a notification; by default 1. */
  readonly id?: string | number | null;
}

/** A JSON-RPC message, and the headers that its version asks for. */
export interface McpMessage {
  /** An object, or the text of a body. */
  readonly body: object | string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The message in the form of its version. */
export function mcpMessage({ version, method, params = {}, id = 1 }: MessageParts): McpMessage {
  const headers = {
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": version,
  };
  const body = { jsonrpc: "2.0", ...(id !== null && { id }), method };
  if (version !== WITH_ENVELOPE) return { body: { ...body, params }, headers };
  const _meta = {
    [`${META}/protocolVersion`]: version,
    [`${META}/clientCapabilities`]: {},
    [`${META}/clientInfo`]: CLIENT,
  };
  return {
    body: { ...body, params: { ...params, _meta } },
    headers: {
      ...headers,
      "mcp-method": method,
      ...(typeof params.name === "string" && { "mcp-name": params.name }),
    },
  };
}

/** The result of a tool's call. */
export interface ToolResult {
  readonly isError?: boolean;
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: {
    readonly error?: {
      readonly code: string;
      readonly message: string;
      readonly retry_after?: number;
    };
    readonly svc?: {
      readonly request_id: string;
      readonly cost_usd: number;
      readonly receipt?: string;
    };
    readonly id?: string;
    readonly status?: string;
  };
  readonly _meta?: { readonly svc?: unknown };
}

/** A JSON-RPC reply, or an error of the API in its place. */
export interface McpReply {
  readonly jsonrpc?: "2.0";
  readonly id?: string | number | null;
  readonly result?: ToolResult;
  /** The code is a number of JSON-RPC, or a name of the API. */
  readonly error?: { readonly code: number | string; readonly message: string };
}

/** The reply in the text of an answer; null for an empty one. */
export function mcpReplyIn(text: string): McpReply | null {
  return text === "" ? null : (JSON.parse(text) as McpReply);
}

export interface McpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly reply: McpReply | null;
  /** The code of an error: of the API, of a tool, or of JSON-RPC; null for a success. */
  readonly code: number | string | null;
}

/** Sends a message, with the key if there is one. */
export async function postMcp(
  url: string,
  key: string | null,
  { body, headers }: McpMessage,
): Promise<McpAnswer> {
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const reply = mcpReplyIn(await response.text());
  const code = reply?.error?.code ?? reply?.result?.structuredContent?.error?.code ?? null;
  return { status: response.status, headers: response.headers, reply, code };
}

/** The message that calls a tool. */
export function toolCall(version: McpVersion, name: string, args: Fields): McpMessage {
  return mcpMessage({ version, method: "tools/call", params: { name, arguments: args } });
}
