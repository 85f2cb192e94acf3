// Turns the API's reply to a tool's call into the result that the agent reads.

import type { CallToolResult } from "@modelcontextprotocol/server";
import type { CalledTool } from "./mcp-tools.ts";

type Content = CallToolResult["content"][number];

/** A refusal of the API, as far as a tool's caller needs it. */
export interface ToolRefusal {
  readonly code: string;
  readonly message: string;
  /** The seconds of `Retry-After`; null for a refusal without that header. */
  readonly retryAfter: number | null;
}

/** The reply to a tool's call, read whole. */
export interface ToolReply {
  readonly result: CallToolResult;
  /** Null for a success. */
  readonly refusal: ToolRefusal | null;
}

interface ErrorBody {
  readonly error: Pick<ToolRefusal, "code" | "message">;
}

/** An object in a reply of the API, which always contains the cost of the call. */
interface Paid {
  readonly svc: object;
}

/**
 * Reads a reply of the API. The body of a success is also the structured content, with the cost in
 * `svc`. Structured content is an object, so that of a list is its `results` and the cost of all; a
 * picture is image content, with `svc` from the headers. A refusal is a tool error with the API's
 * code and message (MCP 2026-07-28, tools, error handling), and with the seconds of `Retry-After`.
 * Arguments that were left out are named in `svc.ignored`, and in a text for the agent.
 */
export async function toolReply(response: Response, called: CalledTool): Promise<ToolReply> {
  const { headers } = response;
  if (headers.get("content-type")?.startsWith("image/") === true) {
    return success(svcOf(headers), [await pictureOf(response)], called);
  }
  const text = await response.text();
  const body: unknown = JSON.parse(text);
  if (!response.ok) return errorReply(body as ErrorBody, headers, called);
  // The text of the API has the digits of amounts as they are written there.
  if (!Array.isArray(body)) return success(body as Paid, [textOf(text)], called);
  const paid = { results: body, ...svcOf(headers) };
  return success(paid, [textOf(JSON.stringify(paid))], called);
}

function errorReply({ error }: ErrorBody, headers: Headers, called: CalledTool): ToolReply {
  const { code } = error;
  // In a list that is the whole body, the API names a field by its index alone.
  const isInList = called.list !== null && error.message.startsWith("[");
  const message = isInList ? called.list + error.message : error.message;
  const svc = svcWith(svcOf(headers).svc, called);
  const wait = headers.get("retry-after");
  const retryAfter = wait === null ? null : Number(wait);
  const shown = { code, message, ...(retryAfter !== null && { retry_after: retryAfter }) };
  const texts = [`${code}: ${message}`, ...(wait === null ? [] : [`Try again in ${wait} s`])];
  const result: CallToolResult = {
    isError: true,
    content: [...texts.map(textOf), ...noteOf(called)],
    structuredContent: { error: shown, svc },
    _meta: { svc },
  };
  return { result, refusal: { code, message, retryAfter } };
}

function success(body: Paid, content: Content[], called: CalledTool): ToolReply {
  const svc = svcWith(body.svc, called);
  return {
    result: {
      content: [...content, ...noteOf(called)],
      structuredContent: { ...body, svc },
      _meta: { svc },
    },
    refusal: null,
  };
}

function svcWith(svc: object, { ignored }: CalledTool): object {
  return ignored.length === 0 ? svc : { ...svc, ignored };
}

/** Tells the agent about arguments that were left out. Clients show it the content alone. */
function noteOf({ ignored }: CalledTool): Content[] {
  if (ignored.length === 0) return [];
  return [textOf(`Ignored, because the tool has no such arguments: ${ignored.join(", ")}`)];
}

function textOf(text: string): Content {
  return { type: "text", text };
}

async function pictureOf(response: Response): Promise<Content> {
  const mimeType = response.headers.get("content-type") ?? "";
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { type: "image", data: bytes.toBase64(), mimeType };
}

/** The cost of a reply whose body does not have it, or of a refusal. */
function svcOf(headers: Headers): Paid {
  return {
    svc: {
      request_id: headers.get("x-request-id"),
      cost_usd: Number(headers.get("x-svc-cost-usd")),
    },
  };
}
