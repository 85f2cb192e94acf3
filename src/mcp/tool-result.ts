// Turns the API's reply to a tool's call into the result that the agent reads.

import type { CallToolResult } from "@modelcontextprotocol/server";

type Content = CallToolResult["content"][number];

/** A refusal of the API, as far as a tool's caller needs it. */
export interface ToolRefusal {
  readonly code: string;
  readonly message: string;
}

/** The reply to a tool's call, read whole. */
export interface ToolReply {
  readonly result: CallToolResult;
  /** Null for a success. */
  readonly refusal: ToolRefusal | null;
}

interface ErrorBody {
  readonly error: ToolRefusal;
}

/** An object in a reply of the API, which always contains the cost of the call. */
interface Paid {
  readonly svc: object;
}

/**
 * Reads a reply of the API. The body of a success is also the structured content, with the cost in
 * `svc`. Structured content is an object, so that of a list is its `results` and the cost of all; a
 * picture is image content, with `svc` from the headers. A refusal is a tool error with the API's
 * code and message (MCP 2026-07-28, tools, error handling).
 */
export async function toolReply(response: Response): Promise<ToolReply> {
  const { headers } = response;
  if (headers.get("content-type")?.startsWith("image/") === true) {
    return success(svcOf(headers), [await pictureOf(response)]);
  }
  const text = await response.text();
  const body: unknown = JSON.parse(text);
  if (!response.ok) return errorReply((body as ErrorBody).error, svcOf(headers));
  // The text of the API has the digits of amounts as they are written there.
  if (!Array.isArray(body)) return success(body as Paid, [{ type: "text", text }]);
  const paid = { results: body, ...svcOf(headers) };
  return success(paid, [{ type: "text", text: JSON.stringify(paid) }]);
}

function errorReply({ code, message }: ToolRefusal, paid: Paid): ToolReply {
  const result: CallToolResult = {
    isError: true,
    content: [{ type: "text", text: `${code}: ${message}` }],
    structuredContent: { error: { code, message }, ...paid },
    _meta: { ...paid },
  };
  return { result, refusal: { code, message } };
}

function success(body: Paid, content: Content[]): ToolReply {
  const { svc } = body;
  return {
    result: { content, structuredContent: { ...body }, _meta: { svc } },
    refusal: null,
  };
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
