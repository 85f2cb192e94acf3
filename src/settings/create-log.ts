import { pino } from "pino";
import { messageOf } from "../core/error-message.ts";
import type { Log } from "../core/log.ts";

/** Of errors that are many in one, as many are logged. */
const ERRORS_SHOWN = 5;

/** JSON lines on stdout: of an error only what tells what happened, never what it was about. */
export function createLog(process: "api" | "worker" | "sandbox", level: string): Log {
  return pino({ level, base: { process }, serializers: { err: describe } });
}

// Errors of the drivers carry the command they failed in, with its arguments: passwords, addresses.
function describe(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, cause } = error;
  const message = messageOf(error);
  const code = "code" in error ? { code: String(error.code) } : {};
  const inner = cause === undefined ? {} : { cause: describe(cause) };
  const all: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  const parts = all.length === 0 ? {} : { errors: all.slice(0, ERRORS_SHOWN).map(describe) };
  return { type: name, message, stack: stackOf(error, message), ...code, ...inner, ...parts };
}

/** The stack begins with the error's own message, which may hold what must not be logged. */
function stackOf({ name, message, stack }: Error, safe: string): string | undefined {
  if (safe === message) return stack;
  const frames = stack?.split("\n").filter((line) => /^\s+at /.test(line)) ?? [];
  return [`${name}: ${safe}`, ...frames].join("\n");
}
