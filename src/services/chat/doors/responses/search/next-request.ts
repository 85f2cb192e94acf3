// Builds the request of the next round: the earlier one with the model's output and the results of
// its searches.

import { isObject, type Json } from "../../../../../core/text/json.ts";
import type { ChatRequest } from "../../../protocols/provider.ts";
import type { RoundReply } from "./round-reply.ts";
import { SEARCH_NAME, type Searched } from "./search-words.ts";

/** The request with the model's output and the results of its searches. */
export function nextRequest(
  request: ChatRequest,
  reply: RoundReply,
  results: readonly Searched[],
): ChatRequest {
  const { own, parameters } = request;
  const outputs = reply.searches.map(({ id }, index) => ({ id, told: results[index]?.told ?? "" }));
  const told = outputs.map(({ id: tool_call_id, told: content }) => ({
    role: "tool" as const,
    tool_call_id,
    content,
  }));
  return {
    ...request,
    messages: [...request.messages, reply.message, ...told],
    // A forced search was made: forcing it again would never end.
    parameters: "tool_choice" in parameters ? { ...parameters, tool_choice: "auto" } : parameters,
    ...(own !== undefined && { own: nextOwn(own, reply, outputs) }),
  };
}

type Own = NonNullable<ChatRequest["own"]>;

interface Output {
  readonly id: string;
  readonly told: string;
}

function nextOwn(own: Own, reply: RoundReply, outputs: readonly Output[]): Own {
  const { input, tool_choice: choice } = own.body;
  const before = Array.isArray(input) ? (input as Json[]) : [{ role: "user", content: input }];
  const items = reply.items;
  const told = outputs.map(({ id: call_id, told: output }) => ({
    type: "function_call_output",
    call_id,
    output,
  }));
  const hidden = items.filter(({ type }) => type === "reasoning");
  return {
    ...own,
    body: {
      ...own.body,
      input: [...before, ...items, ...told],
      ...(choice !== undefined && { tool_choice: unforced(choice) }),
    },
    hiddenTokensMax:
      (own.hiddenTokensMax ?? 0) +
      hidden.reduce((sum, item) => sum + Buffer.byteLength(JSON.stringify(item)), 0),
  };
}

/** A forced search was made; the tools that the caller allows stay the same. */
function unforced(choice: unknown): unknown {
  return isAllowed(choice) ? { ...choice, mode: "auto" } : "auto";
}

function isAllowed(choice: unknown): choice is Json & { readonly tools: readonly Json[] } {
  return isObject(choice) && choice.type === "allowed_tools" && Array.isArray(choice.tools);
}

/** The request whose model cannot search any more. */
export function withoutSearch(request: ChatRequest): ChatRequest {
  const { own, parameters } = request;
  const left = without(parameters.tools);
  return {
    ...request,
    // A server may refuse calls in a conversation without any tool.
    parameters:
      left.length === 0 ? { ...parameters, tool_choice: "none" } : { ...parameters, tools: left },
    ...(own !== undefined && { own: { ...own, body: ownWithoutSearch(own.body) } }),
  };
}

function ownWithoutSearch(body: Own["body"]): Own["body"] {
  const left = without(body.tools);
  const { tool_choice: choice } = body;
  const allowed = isAllowed(choice) ? without(choice.tools) : null;
  if (left.length === 0 || allowed?.length === 0) return { ...body, tool_choice: "none" };
  if (allowed === null) return { ...body, tools: left };
  return { ...body, tools: left, tool_choice: { ...(choice as Json), tools: allowed } };
}

function without(tools: unknown): readonly Json[] {
  const all = Array.isArray(tools) ? (tools as Json[]) : [];
  return all.filter(({ name, function: called }) => {
    const own = called as { readonly name?: unknown } | undefined;
    return (name ?? own?.name) !== SEARCH_NAME;
  });
}
