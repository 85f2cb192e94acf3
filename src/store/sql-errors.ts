// What an error of Postgres or of its driver says by its code.

/** The driver's own codes, and classes 08, 53 and 57: connection, resources, operator. */
const AWAY = /^(CONNECTION_|CONNECT_|E[A-Z]+$|08|53|57)/;
const SQLSTATE = /^[0-9A-Z]{5}$/;

/** SQLSTATE, or the driver's code; "" for an error of any other kind. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** True when Postgres did not answer, or said that it is going: what failed is tried again. */
export function isAway(error: unknown): boolean {
  return AWAY.test(codeOf(error));
}

/** True when Postgres answered, and refuses the statement. */
export function isRefused(error: unknown): error is Error {
  return error instanceof Error && SQLSTATE.test(codeOf(error)) && !isAway(error);
}
