// Sets how the server listens, and how long a connection may be idle.

import type { Server } from "bun";
import type { Clock } from "../core/clock.ts";
import type { Deadline, Expiring } from "../core/deadlines.ts";

/**
 * Bun closes a connection that is idle for this long, unless the answer to a call on it has yet to
 * begin. The time is longer than proxies keep a connection, so that the proxies close it (D-442),
 * and longer than a stream may be silent (D-442).
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

/** The part of the server that answering a request uses. */
export type RequestServer = Pick<BunServer, "requestIP" | "timeout">;

/** The address at the other end of the connection; "" for a request without a connection. */
export function peerOf(server: RequestServer | null, request: Request): string {
  return server?.requestIP(request)?.address ?? "";
}

interface ConnectionRequest {
  readonly server: RequestServer | null;
  readonly request: Request;
}

/** A connection that is quiet for less than this needs no longer limit. */
const QUIET_MS = 60_000;

/** Lets a connection be idle for longer until the answer to a call begins. */
export class QuietConnection implements Expiring {
  readonly #server: RequestServer | null;
  readonly #request: Request;
  readonly #deadline: Deadline;
  #isLong = false;

  constructor(clock: Pick<Clock, "deadline">, { server, request }: ConnectionRequest) {
    this.#server = server;
    this.#request = request;
    this.#deadline = clock.deadline(QUIET_MS, this);
  }

  expire(): void {
    this.#isLong = true;
    this.#server?.timeout(this.#request, 0);
  }

  /**
   * Ends the longer limit when the answer begins: otherwise the connection would stay open forever
   * after the call.
   */
  end(): void {
    this.#deadline.end();
    if (this.#isLong) this.#server?.timeout(this.#request, IDLE_SECONDS);
  }
}
