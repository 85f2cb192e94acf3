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
