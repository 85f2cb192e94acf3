// What the Gateway's routes are given.

import type { ChatDeps } from "../http/chat/answer-chat.ts";

export type GatewayDeps = ChatDeps;
