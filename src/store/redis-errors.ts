// Tells the errors of the clients of Redis by their names: those of ioredis have no codes.

/** When there is no connection: at once, or after the tries that a command has. */
const UNREACHABLE: ReadonlySet<string> = new Set(["MaxRetriesPerRequestError", "ConnectionLost"]);
const MESSAGES = { closed: "Connection is closed.", late: "Command timed out" } as const;

/** Why Redis gave no answer; null for any other error. */
export function redisFault(error: unknown): "unreachable" | "late" | null {
  if (!(error instanceof Error)) return null;
  if (UNREACHABLE.has(error.name) || error.message === MESSAGES.closed) return "unreachable";
  return error.message === MESSAGES.late ? "late" : null;
}
