// Classifies errors of Postgres and its driver by their codes.

/** The driver's own codes, and classes 08, 53 and 57: connection, resources, operator. */
const UNAVAILABLE = /^(CONNECTION_|CONNECT_|(08|53|57)[0-9A-Z]{3}$)/;
/** State of the transaction, such as read-only; deadlocks; locks that took too long; the disk. */
const TEMPORARY = /^((25|40|58)[0-9A-Z]{3}|55P03)$/;
/**
 * The places where Postgres finds that a prepared statement is gone, or no longer fits its table,
 * as after a migration. The driver prepares it again at the next try; a transaction has no next
 * try.
 */
const STALE: ReadonlySet<unknown> = new Set(["FetchPreparedStatement", "RevalidateCachedQuery"]);
/** If one of these system calls fails, no connection exists, not even a file of a socket. */
const CONNECTING: ReadonlySet<unknown> = new Set(["connect", "getaddrinfo"]);
/** The codes of a connection that ended; other codes of reading and writing belong to files. */
const ENDED = /^(ECONN[A-Z]+|EHOST[A-Z]+|ENET[A-Z]+|EPIPE|ETIMEDOUT)$/;
/** No class begins with the E of a system's code, such as EPERM. */
const SQLSTATE = /^[0-9FHPX][0-9A-Z]{4}$/;

/** SQLSTATE, or the driver's code; "" for an error of any other kind. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** True if Postgres did not answer, has no resources, or is shutting down: a retry can succeed. */
export function isUnavailable(error: unknown): boolean {
  return UNAVAILABLE.test(codeOf(error)) || isOfSocket(error);
}

/** Errors of sockets name a system call; those of `fetch`, which no store uses, do not. */
function isOfSocket(error: unknown): boolean {
  if (!(error instanceof Error && "syscall" in error)) return false;
  return CONNECTING.has(error.syscall) || ENDED.test(codeOf(error));
}

/** True also if Postgres answered, but could not run the statement now: a retry can succeed. */
export function isTemporary(error: unknown): boolean {
  return isUnavailable(error) || TEMPORARY.test(codeOf(error)) || isStale(error);
}

function isStale(error: unknown): boolean {
  return error instanceof Error && "routine" in error && STALE.has(error.routine);
}

/** True if Postgres sent this error. */
export function isAnswered(error: unknown): error is Error {
  return error instanceof Error && SQLSTATE.test(codeOf(error));
}

/** True if Postgres refused the statement itself: a retry would fail as well. */
export function isRejected(error: unknown): error is Error {
  return isAnswered(error) && !isTemporary(error);
}

const UNIQUE_VIOLATION = "23505";
const INVALID_PARAMETER = "22023";

/** True if a value is one that no statement of this kind takes, such as an unknown time zone. */
export function isInvalidParameter(error: unknown): boolean {
  return codeOf(error) === INVALID_PARAMETER;
}

/** True if a row with the same unique key exists already. */
export function isDuplicate(error: unknown): boolean {
  return codeOf(thrownByDriver(error)) === UNIQUE_VIOLATION;
}

const DEADLOCK = "40P01";

/** True if Postgres ended the transaction, because others waited for it and it for them. */
export function isDeadlock(error: unknown): boolean {
  return codeOf(thrownByDriver(error)) === DEADLOCK;
}

const LOCK_NOT_AVAILABLE = "55P03";

/** True if a statement waited for a lock for longer than its `lock_timeout`. */
export function isLocked(error: unknown): boolean {
  return codeOf(thrownByDriver(error)) === LOCK_NOT_AVAILABLE;
}

/** The SQLSTATE of an unknown table, and of an unknown column. */
const UNKNOWN_NAMES: ReadonlySet<string> = new Set(["42P01", "42703"]);

/** True if Postgres does not know a table or column: most often `farebox migrate` did not run. */
export function isUnknownName(error: unknown): boolean {
  return UNKNOWN_NAMES.has(codeOf(thrownByDriver(error)));
}

/** The error of the driver, which drizzle wraps in its own. */
function thrownByDriver(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? error.cause : error;
}
