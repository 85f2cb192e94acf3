/**
 * Returns the message of an error that may be logged or stored. Errors of statements have the
 * values in their message, such as addresses of people and tokens: these errors give only
 * the message of their cause, and their statement.
 */
export function messageOf(error: Error): string {
  if (!("query" in error && "params" in error)) return error.message;
  const why = error.cause instanceof Error ? error.cause.message : "it failed";
  return `${why}, in the statement: ${error.query}`;
}

/** The message of whatever was thrown. */
export function thrownMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The error at the end of the chain of causes. */
export function rootOf(error: unknown): unknown {
  let root = error;
  while (root instanceof Error && root.cause instanceof Error) root = root.cause;
  return root;
}

/** The message of whatever was thrown, with the one of its cause in brackets. */
export function messageWithCause(error: unknown): string {
  const message = thrownMessage(error);
  const cause = error instanceof Error ? error.cause : null;
  return cause instanceof Error ? `${message} (${cause.message})` : message;
}
