// How the server listens, and how long a connection may be idle.

import type { Server } from "bun";
import type { StreamConnection } from "./sse.ts";

/**
 * Bun closes a connection that is idle for this long, unless a call on it is in progress. It is
 * longer than proxies keep theirs, so that they are the ones to close (D-442).
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

/** Lets a connection be idle for longer during a call, which has its own time limits. */
export function allowQuiet(server: RequestServer | null, request: Request): void {
  server?.timeout(request, 0);
}

/** Ends that; otherwise the connection would stay open forever after the call. */
export function endQuiet(server: RequestServer | null, request: Request): void {
  server?.timeout(request, IDLE_SECONDS);
}

/** The connection of a call that is streamed. A stream keeps it, and nothing more of its call. */
export class StreamedCall implements StreamConnection {
  constructor(
    readonly server: RequestServer | null,
    readonly request: Request,
  ) {}

  streamEnded(): void {
    endQuiet(this.server, this.request);
  }
}
