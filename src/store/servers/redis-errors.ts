// Tells the errors of the clients of Redis by their names and messages: those of ioredis have no
// codes.

import { type RedisRefusal, redisRefusal } from "../../core/redis-refusals.ts";
import { rootOf } from "../../core/text/error-message.ts";

/** Errors without a connection: at once, or after the tries that a command has. */
const UNREACHABLE_NAMES: ReadonlySet<string> = new Set([
  "MaxRetriesPerRequestError",
  "ConnectionLost",
  "ClusterAllFailedError",
]);
/**
 * Messages with these beginnings: no connection, one lost amid its answers, no node of a Cluster.
 */
const UNREACHABLE_MESSAGES = [
  "Connection is closed.",
  "Command aborted due to connection close",
  "None of startup nodes is available",
  "Too many Cluster redirections.",
] as const;
/** The error of a script whose amounts Redis could not count exactly (prelude.lua). */
const NOT_AN_AMOUNT = "not an amount";
const LATE = "Command timed out";

/** The message to an operator about an operation that no repeat can apply. */
export const REFUSED_BY_REDIS =
  "Redis refuses it and never can take it, and all later changes of the balance wait for it";

/** The begin of a reply of Redis that does not know the user, or wants a password. */
const LOGIN = /^(WRONGPASS|NOAUTH|NOPERM) /;

/** True if Redis refuses the user, the password, or a command that the user has no right to. */
export function refusesLogin(error: Error): boolean {
  return error.name === "ReplyError" && LOGIN.test(error.message);
}

/**
 * True if Redis answers, and its script refuses the request: a repeat would be refused too.
 */
export function isRefusedByScript(error: unknown): boolean {
  const root = rootOf(error);
  if (!(root instanceof Error && root.name === "ReplyError")) return false;
  return redisFault(root) === null && !refusesLogin(root) && root.message.includes(NOT_AN_AMOUNT);
}

/** The reason why Redis refused a command that it may take later; null for any other error. */
export function redisFault(error: unknown): "unreachable" | "late" | RedisRefusal | null {
  if (!(error instanceof Error)) return null;
  const { name, message } = error;
  if (message === LATE) return "late";
  const isUnreachable =
    UNREACHABLE_NAMES.has(name) || UNREACHABLE_MESSAGES.some((start) => message.startsWith(start));
  return isUnreachable ? "unreachable" : redisRefusal(error);
}
