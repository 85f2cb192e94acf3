// What the routes of the Application API are given.

import type { ChatDeps } from "../http/chat/answer-chat.ts";

export type ApplicationDeps = ChatDeps;
