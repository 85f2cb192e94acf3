import { jsonBody } from "../../../src/http/body/json-body.ts";
import { ChatBody } from "../../../src/services/chat/doors/completions/chat-body.ts";
import {
  type ChatInput,
  toChatInput,
} from "../../../src/services/chat/doors/completions/chat-request.ts";

const body = jsonBody(ChatBody, { bytesMax: 1024 });

/** Reads the text of a chat body as the Gateway does. */
export function readChat(text: string): ChatInput {
  const fields = body.check(body.parse(text));
  return toChatInput(fields, fields.model);
}
