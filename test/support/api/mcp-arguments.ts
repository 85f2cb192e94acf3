// The accounts and arguments with which each tool of agents is served: the arguments are those in
// the examples of the tool's endpoint.

import { SCOPES } from "../../../src/core/access/services.ts";
import { type Arguments, MCP_TOOLS, type McpTool } from "../../../src/mcp/mcp-tools.ts";
import { GATEWAY } from "../../../src/routes.ts";
import { type AccountTerms, daysAgo } from "../stores/accounts.ts";

/** Terms of an account that may call every tool, and can pay. */
export const ALL_TOOLS: AccountTerms = { scopes: SCOPES, paid: "100", paidAt: daysAgo(40) };

/** Arguments of a tool, one set for each example of its endpoint that the tool can express. */
export function exampleArguments({ requestOf, properties }: McpTool): readonly Arguments[] {
  // Enough arguments for the tool to name its endpoint.
  const { path, query: own } = requestOf("searches" in properties ? { searches: [] } : {});
  const examples = GATEWAY.find((one) => one.path === path)?.examples ?? [];
  return examples.flatMap(({ body, query }): Arguments[] => {
    if (Array.isArray(body)) return [{ searches: body }];
    const parameters = new URLSearchParams(query);
    if (own !== undefined && parameters.get("action") !== own.get("action")) return [];
    const fields = Object.entries(body ?? Object.fromEntries(parameters));
    return [Object.fromEntries(fields.filter(([name]) => Object.hasOwn(properties, name)))];
  });
}

/** Each tool with arguments that are served. */
export const TOOL_CALLS: readonly (readonly [McpTool, Arguments])[] = MCP_TOOLS.map((tool) => [
  tool,
  exampleArguments(tool)[0] ?? {},
]);
