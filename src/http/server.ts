// How the server listens, and how long a connection may be quiet.

import type { Server } from "bun";

/** Bun closes a connection that is quiet for so long, unless a call on it is being worked on. */
const IDLE_SECONDS = 30;

/** Options of `listen` that both surfaces need. */
export const LISTEN_OPTIONS = {
  idleTimeout: IDLE_SECONDS,
  // Our own limits answer with a body (413); Bun's own refusal has none.
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  development: false,
} as const;

export type BunServer = Server<unknown>;

/** Lets a call be quiet for longer: it has its own time limits. */
export function allowQuiet(server: BunServer | null, request: Request): void {
  server?.timeout(request, 0);
}

/** Ends that; else the connection would be kept for ever once the call is over. */
export function endQuiet(server: BunServer | null, request: Request): void {
  server?.timeout(request, IDLE_SECONDS);
}
