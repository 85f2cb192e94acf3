// Calls every tool of agents with a word in one argument after the other, for tests that search for
// the word in all that a product keeps.

import type { Arguments } from "../../../src/mcp/mcp-tools.ts";
import { TOOL_CALLS } from "../api/mcp-arguments.ts";
import {
  MCP_VERSIONS,
  type McpAnswer,
  type McpMessage,
  type McpVersion,
  mcpMessage,
  postMcp,
  toolCall,
} from "../api/mcp-messages.ts";

export interface McpSpeaker {
  readonly url: string;
  readonly key: string;
  /** Lower-case letters and digits: a domain has no others. */
  readonly word: string;
  /** The headers of each message. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Sends the word in every argument, and in the parts of messages around arguments. Returns the ends
 * of the tools' calls, by tool and argument: the code of an error, or null for a success.
 */
export async function speakMcp(
  speaker: McpSpeaker,
): Promise<ReadonlyMap<string, McpAnswer["code"]>> {
  const { url, key, word, headers: own } = speaker;
  const send = ({ body, headers }: McpMessage) =>
    postMcp(url, key, { body, headers: { ...own, ...headers } });
  const ends = new Map<string, McpAnswer["code"]>();
  for (const version of MCP_VERSIONS) {
    for (const [{ name, properties }, example] of TOOL_CALLS) {
      for (const argument of Object.keys(properties)) {
        const args: Arguments = { ...example, [argument]: valueWith(word, argument) };
        const { code } = await send(toolCall(version, name, args));
        ends.set(`${name} ${argument}`, code);
      }
    }
    for (const message of aroundArguments(version, word)) await send(message);
  }
  await send({ body: `{"jsonrpc": "2.0", "method": "${word}`, headers: {} });
  return ends;
}

/** A value for an argument of this name, served if the argument can have any words. */
function valueWith(word: string, argument: string): unknown {
  switch (argument) {
    case "to":
    case "reply_to":
      return `${word}@example.test`;
    case "from_name":
      return word.slice(0, 40);
    case "include_domains":
    case "exclude_domains":
      return [`${word}.example`];
    case "searches":
      return [{ query: word }, { query: word, exclude_domains: [`${word}.example`] }];
    case "path":
      return `/v1/${word}`;
    case "body":
      return { model: "echo", messages: [{ role: "user", content: word }] };
    default:
      return `${word} ${argument}`;
  }
}

/** Messages with the word in their other parts. */
function aroundArguments(version: McpVersion, word: string): McpMessage[] {
  const account = { version, method: "tools/call", params: { name: "account" } };
  const { body, headers } = mcpMessage(account);
  const clientInfo = { name: word, version: word };
  const hello = { protocolVersion: version, capabilities: { [word]: {} }, clientInfo };
  return [
    toolCall(version, word, { [word]: word }),
    toolCall(version, "account", { [word]: word }),
    mcpMessage({ version, method: word }),
    mcpMessage({ version, method: "initialize", params: hello }),
    mcpMessage({ version, method: "tools/list", params: { cursor: word } }),
    mcpMessage({ version, method: "notifications/cancelled", params: { reason: word }, id: null }),
    mcpMessage({ ...account, id: word }),
    { body, headers: { ...headers, "mcp-session-id": word } },
    { body, headers: { ...headers, "mcp-name": word } },
    { body, headers: { ...headers, "mcp-protocol-version": word } },
  ];
}
