// Why a route did not serve.

/**
 * A route that did not serve; the next one may. The message is for the operator's log: nothing that
 * the upstream said stands in it, since that may quote the prompt.
 */
export class RouteFailure extends Error {
  override readonly name = "RouteFailure";

  /**
   * `blamesServer` is false where the server is well, and may serve the next request;
   * `retryAfterSeconds` is when the server says that it will.
   */
  constructor(
    message: string,
    readonly blamesServer = true,
    readonly retryAfterSeconds: number | null = null,
  ) {
    super(message);
  }
}
