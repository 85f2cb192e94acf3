// How the server listens, and how long a connection may be idle.

import type { Server } from "bun";

/**
 * Bun closes a connection that is idle for this long, unless the answer to a call on it has yet to
 * begin. It is longer than proxies keep theirs, so that they are the ones to close (D-442), and
 * longer than a stream may be silent (D-485).
 */
const IDLE_SECONDS = 150;

/** Options of `listen` that both surfaces need. */
export const LISTEN_OPTIONS = {
  idleTimeout: IDLE_SECONDS,
  // Our own limits reply with a body (413); Bun's own refusal has none.
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  development: false,
} as const;

export type BunServer = Server<unknown>;

/** What answering a request needs of the server. */
export type RequestServer = Pick<BunServer, "requestIP" | "timeout">;

/** The address at the other end of the connection; "" where a request came over none. */
export function peerOf(server: RequestServer | null, request: Request): string {
  return server?.requestIP(request)?.address ?? "";
}

/** Lets a connection be idle for longer until the answer to a call begins. */
export function allowQuiet(server: RequestServer | null, request: Request): void {
  server?.timeout(request, 0);
}

/** Ends that; otherwise the connection would stay open forever after the call. */
export function endQuiet(server: RequestServer | null, request: Request): void {
  server?.timeout(request, IDLE_SECONDS);
}
