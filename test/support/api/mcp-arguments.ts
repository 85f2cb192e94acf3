// The arguments with which each tool of agents is served: those of the examples of its endpoint.

import { type Arguments, MCP_TOOLS, type McpTool } from "../../../src/mcp/mcp-tools.ts";
import { GATEWAY } from "../../../src/routes.ts";

/** Arguments of a tool, one set for each example of its endpoint that the tool can express. */
export function exampleArguments({ requestOf, properties }: McpTool): readonly Arguments[] {
  // Enough for a tool to name its endpoint.
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
