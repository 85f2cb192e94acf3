import { pino } from "pino";
import type { Log } from "../core/log.ts";

/** JSON lines on stdout: of an error only what tells what happened, never what it was about. */
export function createLog(process: "api" | "worker" | "sandbox", level: string): Log {
  return pino({ level, base: { process }, serializers: { err: describe } });
}

// Errors of the drivers carry the command they failed in, with its arguments: passwords, addresses.
function describe(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack, cause } = error;
  const code = "code" in error ? { code: String(error.code) } : {};
  const inner = cause === undefined ? {} : { cause: describe(cause) };
  return { type: name, message, stack, ...code, ...inner };
}
