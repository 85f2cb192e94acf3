/** A request that got no whole response. The message names no address. */
export class HttpError extends Error {
  override readonly name = "HttpError";

  constructor(
    /** As operating systems name it, or one of ours. */
    readonly code: string,
    message: string,
    /** True if there was no connection for the request. No request can cause such an error. */
    readonly isUnsent = false,
  ) {
    super(message);
  }
}

/** The server sent what is no HTTP/1.1 response. */
export function malformed(message: string): HttpError {
  return new HttpError("EBADRESPONSE", message);
}

export function hungUp(): HttpError {
  return new HttpError("ECONNRESET", "The server closed the connection");
}
