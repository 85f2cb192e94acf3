// What the Gateway's routes are given.

import type { Mailroom } from "../calls/mailroom.ts";
import type { ChatDeps } from "../http/chat/answer-chat.ts";

export interface GatewayDeps extends ChatDeps {
  readonly mail: Mailroom;
}
