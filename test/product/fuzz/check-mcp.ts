// Checks the answers of /mcp: replies of JSON-RPC, in which a tool's refusal has one of our codes
// and costs nothing, and no answer tells of a fault of ours.

import { ERRORS, isErrorCode } from "../../../src/core/errors.ts";
import { usd } from "../../../src/core/money/money.ts";
import { type McpReply, mcpReplyIn, type ToolResult } from "../../support/api/mcp-messages.ts";
import type { Outcome } from "./check-answer.ts";
import type { FuzzRequest } from "./fuzz-request.ts";
import type { RawAnswer } from "./raw-client.ts";

const FREE = usd("0");
const INTERNAL_ERROR = -32603;
/** The answer to a client that subscribes: the server announces nothing. */
const NO_SUBSCRIPTIONS = "Subscription limit reached";
/** Names of our files, and of errors that only our own code throws. */
const LEAK = /node_modules|\.m?[jt]s:\d+|TypeError|ReferenceError|ECONN/;

/**
 * The outcome that the caller knows, by the request that the API made for a tool's call. Null for
 * an error in the form of the API. Throws an Error that names the fault of the answer.
 */
export function checkMcp(
  request: FuzzRequest,
  { status, headers, body }: RawAnswer,
): Outcome | null {
  const requestId = headers.get("x-request-id");
  const text = body.toString();
  const leak = LEAK.exec(text);
  if (leak !== null) throw new Error(`An answer of /mcp has '${leak[0]}'`);
  const reply = mcpReplyIn(text);
  if (reply === null) {
    if (status !== 202) throw new Error("Only a notification has no reply");
    return { status, requestId, cost: FREE };
  }
  if (reply.jsonrpc !== "2.0") return null;
  checkId(request, reply);
  const { error, result } = reply;
  if (error !== undefined) {
    const isOurs = error.code === INTERNAL_ERROR && error.message !== NO_SUBSCRIPTIONS;
    if (isOurs || !Number.isInteger(error.code) || error.message === "") {
      throw new Error(`A message was answered with the error ${JSON.stringify(error)}`);
    }
    return { status: status < 400 ? 400 : status, requestId, cost: FREE };
  }
  if (result === undefined || status !== 200) {
    throw new Error("A reply has neither result nor error");
  }
  if (result.content === undefined) return { status, requestId, cost: FREE };
  return outcomeOf(result);
}

/** A reply has the id of its message; an error may have none. */
function checkId({ body }: FuzzRequest, { id, error }: McpReply): void {
  if (error !== undefined && (id === null || id === undefined)) return;
  const sent = JSON.parse(new TextDecoder().decode(body ?? undefined)) as McpReply;
  if (sent.id !== id) throw new Error(`A reply has the id ${id}, which its message had not`);
}

/** The outcome of a tool's call, whose cost is in two places. */
function outcomeOf({ isError, content, structuredContent, _meta }: ToolResult): Outcome {
  const { error, svc, status } = structuredContent ?? {};
  if (svc === undefined) throw new Error("A tool's result has no svc");
  if (JSON.stringify(_meta?.svc) !== JSON.stringify(svc)) throw new Error("_meta has another svc");
  const [requestId, cost] = [svc.request_id, usd(svc.cost_usd.toFixed(9))];
  if (isError !== true) {
    if (content.length === 0) throw new Error("A tool's result has no content");
    const isQueued = status === "queued";
    return { status: isQueued ? 202 : 200, requestId, cost: isQueued ? null : cost };
  }
  const code = error?.code ?? "";
  if (!isErrorCode(code)) throw new Error(`'${code}' is no code`);
  if (content[0]?.text !== `${code}: ${error?.message}`) {
    throw new Error(`${code} has another text`);
  }
  if (ERRORS[code].status >= 500) throw new Error("Nothing explains a failure");
  if (cost !== FREE) throw new Error(`A refused tool says that it cost ${cost} nano-USD`);
  return { status: ERRORS[code].status, requestId, cost };
}
