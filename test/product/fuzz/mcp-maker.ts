// Makes messages for /mcp: in each version of the protocol, of many methods, and calls of every
// tool, with headers that fit them or not.

import { type TSchema, Type } from "../../../src/http/schema.ts";
import { MCP_TOOLS, type McpTool } from "../../../src/mcp/mcp-tools.ts";
import { exampleArguments } from "../../support/api/mcp-arguments.ts";
import { MCP_VERSIONS, mcpMessage } from "../../support/api/mcp-messages.ts";
import type { Random } from "../../support/random.ts";
import type { Draft } from "./request-mutations.ts";
import { objectFor, type ValueOptions } from "./schema-values.ts";

const METHODS = [
  "tools/list",
  "tools/list",
  "tools/list",
  "initialize",
  "ping",
  "server/discover",
  "resources/list",
  "prompts/list",
  "logging/setLevel",
  "subscriptions/listen",
  "notifications/initialized",
  "notifications/cancelled",
  "x",
] as const;
const IDS = [1, 1, 1, 0, -5, 2 ** 53 - 1, "a", "", "x".repeat(64)] as const;
/** Headers in place of those that fit; an empty one is left out. */
const HEADERS = [
  ["accept", ""],
  ["accept", "application/json"],
  ["accept", "*/*"],
  ["mcp-protocol-version", ""],
  ["mcp-protocol-version", "1999-01-01"],
  ["mcp-protocol-version", "2025-03-26"],
  ["mcp-protocol-version", "2026-07-28"],
  ["mcp-protocol-version", "2025-11-25"],
  ["mcp-method", ""],
  ["mcp-method", "tools/list"],
  ["mcp-name", ""],
  ["mcp-name", "search"],
  ["mcp-name", "=?base64?%%%?="],
  ["mcp-session-id", "an unknown session"],
  ["last-event-id", "7"],
  ["idempotency-key", "fuzzed"],
  ["origin", "https://evil.example"],
  ["origin", "null"],
  ["origin", "http://localhost:3000"],
] as const;

/** The parts of a request to /mcp that only this endpoint has. */
export type McpDraft = Pick<Draft, "headers" | "json">;

export function mcpDraft(options: ValueOptions): McpDraft {
  const { random } = options;
  const version = random.pick(MCP_VERSIONS);
  const isCall = random.next() < 0.8;
  const method = isCall ? "tools/call" : random.pick(METHODS);
  const isNotification = method.startsWith("notifications/") || random.next() < 0.02;
  const { body, headers } = mcpMessage({
    version,
    method,
    id: isNotification ? null : random.pick(IDS),
    ...(isCall && { params: callOf(options) }),
  });
  const fitting = Object.entries(headers);
  return {
    headers: random.next() < 0.12 ? withFault(fitting, random) : fitting,
    json: random.next() < 0.02 ? [body, body] : body,
  };
}

function callOf(options: ValueOptions): Record<string, unknown> {
  const { random } = options;
  const tool = random.pick(MCP_TOOLS);
  const examples = exampleArguments(tool);
  const isExample = random.next() < 0.6 && examples.length > 0;
  const args = isExample ? random.pick(examples) : objectFor(schemaOf(tool), options);
  const name = random.next() < 0.97 ? tool.name : random.pick(["", "chat", "__proto__"]);
  return { name, ...(random.next() < 0.97 && { arguments: args }) };
}

function schemaOf({ properties, required }: McpTool): TSchema {
  return { ...Type.Object({ ...properties }), required: [...required] };
}

function withFault(headers: Draft["headers"], random: Random): Draft["headers"] {
  const [name, value] = random.pick(HEADERS);
  const others = headers.filter(([other]) => other !== name);
  return value === "" ? others : [...others, [name, value]];
}
