// Defines the failures of a route that did not serve.

import type { ApiError } from "../core/errors.ts";

/**
 * A route that did not serve; the next one may. The message is for the operator's log. The message
 * never contains the upstream's words, because those may quote the prompt.
 */
export class RouteFailure extends Error {
  override readonly name = "RouteFailure";

  /**
   * `blames`: the server if it answered badly, the connection if no answer came, or `nobody` if the
   * server is healthy. `retryAfterSeconds`: the delay after which the server says that it will
   * serve again.
   */
  constructor(
    message: string,
    readonly blames: "server" | "connection" | "nobody" = "server",
    readonly retryAfterSeconds: number | null = null,
  ) {
    super(message);
  }
}

/** A server that refuses the operator: the key is wrong, or the account has no credit. */
export class AccessFailure extends RouteFailure {}

/**
 * A server whose reply says that it cannot serve this one request. If every server replies so, the
 * caller receives the refusal.
 */
export class UnableFailure extends RouteFailure {
  constructor(readonly refusal: ApiError) {
    super("The server cannot serve this request", "nobody");
  }
}
