// Why a route did not serve.

/**
 * A route that did not serve; the next one may. The message is for the operator's log: nothing that
 * the upstream said stands in it, since that may quote the prompt.
 */
export class RouteFailure extends Error {
  override readonly name = "RouteFailure";

  /**
   * `blames`: the server that answered badly, the connection where no answer came, or nobody where
   * the server is well. `retryAfterSeconds` is when the server says that it serves again.
   */
  constructor(
    message: string,
    readonly blames: "server" | "connection" | "nobody" = "server",
    readonly retryAfterSeconds: number | null = null,
  ) {
    super(message);
  }
}
