import { jsonBody } from "../../../src/http/body/json-body.ts";
import { ChatBody } from "../../../src/services/chat/doors/completions/chat-body.ts";
import { toChatRequest } from "../../../src/services/chat/doors/completions/chat-request.ts";
import type { ChatRequest } from "../../../src/services/chat/protocols/provider.ts";

const body = jsonBody(ChatBody, { bytesMax: 1024 });

/** A chat as the Gateway reads it from the text of a body. */
export interface ReadChat {
  readonly request: ChatRequest;
}

/** Reads the text of a chat body as the Gateway does. */
export function readChat(text: string): ReadChat {
  return { request: toChatRequest(body.check(body.parse(text))) };
}
