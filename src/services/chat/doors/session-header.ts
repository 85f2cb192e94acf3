// Reads the name of a conversation out of the headers of a request.

import type { ChatCatalogue } from "../models/catalogue.ts";
import type { ChatRequest } from "../protocols/provider.ts";

/** A longer name counts by its beginning. */
const LENGTH_MAX = 256;

/** The request with the caller's name for the conversation, if a configured header has one. */
export function withSession(
  request: ChatRequest,
  headers: Headers,
  { sessionHeaders }: Pick<ChatCatalogue, "sessionHeaders">,
): ChatRequest {
  for (const name of sessionHeaders) {
    const value = headers.get(name);
    if (value !== null && value !== "") return { ...request, session: value.slice(0, LENGTH_MAX) };
  }
  return request;
}
