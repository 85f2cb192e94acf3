// The words of others in the canary test, which the product must keep nowhere.

import { randomBytes } from "node:crypto";

/** A word that occurs nowhere else. */
export function canary(name: string): string {
  return `canary${name}${randomBytes(9).toString("hex")}`;
}

function decimals(): string {
  return String(BigInt(`0x${randomBytes(6).toString("hex")}`))
    .padStart(13, "1")
    .slice(0, 13);
}

/** Words that callers, their end users and the servers of others use, each at one place. */
export const SECRETS = {
  prompt: canary("Prompt"),
  system: canary("System"),
  completion: canary("Completion"),
  toolArguments: canary("Arguments"),
  toolAnswer: canary("ToolAnswer"),
  toolSchema: canary("Schema"),
  upstreamError: canary("Upstream"),
  badJson: canary("BadJson"),
  badField: canary("BadField"),
  unknownModel: canary("Model"),
  path: canary("Path"),
  query: canary("Query"),
  search: canary("Search"),
  searchDomain: canary("domain").toLowerCase(),
  searchField: canary("SearchField"),
  searchKey: canary("SearchKey"),
  toolQuery: canary("ToolQuery"),
  toolPage: canary("ToolPage"),
  toolCity: canary("ToolCity"),
  toolKey: canary("ToolKey"),
  result: canary("Result"),
  resultPage: canary("page").toLowerCase(),
  header: canary("Header"),
  wrongKey: canary("WrongKey"),
  mapsQuery: canary("MapsQuery"),
  mapsAnswer: canary("MapsAnswer"),
  mapsAction: canary("MapsAction"),
  mapsValue: canary("MapsValue"),
  mapsName: canary("MapsName"),
  mapsStop: canary("MapsStop"),
  // No other number has these digits by chance.
  latitude: `51.${decimals()}`,
  longitude: `7.${decimals()}`,
  mailAddress: canary("Mailto").toLowerCase(),
  mailSubject: canary("Subject"),
  mailText: canary("Text"),
  mailHtml: canary("Html"),
  mailName: canary("Name").slice(0, 40),
  mailReply: canary("Reply").toLowerCase(),
  mailKey: canary("Idempotency"),
  quoted: canary("Quoted"),
  quotedField: canary("QuotedField"),
  quotedPath: canary("QuotedPath"),
  quotedQuery: canary("QuotedQuery"),
  chatKey: canary("ChatKey"),
  streamKey: canary("StreamKey"),
  repeated: canary("Repeated"),
  endUser: canary("EndUser"),
  namedEndUser: canary("NamedEndUser"),
  poorEndUser: canary("PoorEndUser"),
  mcp: canary("mcp"),
  hookReply: canary("HookReply"),
} as const;
