/** A request that got no whole response. The message names no address. */
export class HttpError extends Error {
  override readonly name = "HttpError";

  constructor(
    /** The name that operating systems give the error, or one of ours. */
    readonly code: string,
    message: string,
    /** True if there was no connection for the request. No request can cause such an error. */
    readonly isUnsent = false,
  ) {
    super(message);
  }
}

/** The error for bytes of a server that are not an HTTP/1.1 response. */
export function malformed(message: string): HttpError {
  return new HttpError("EBADRESPONSE", message);
}

export function hungUp(): HttpError {
  return new HttpError("ECONNRESET", "The server closed the connection");
}
