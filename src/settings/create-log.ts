import { writeSync } from "node:fs";
import { pino } from "pino";
import { type Log, SeldomLog } from "../core/log.ts";
import { messageOf } from "../core/text/error-message.ts";
import { LogOutput } from "./log-output.ts";

/** The most errors of an aggregate error that are logged. */
const ERRORS_SHOWN = 5;
/** The depth to which causes are logged: a cause may lead back to its own effect. */
const CAUSES_SHOWN = 5;

/** A full pipe is tried this often, with this wait between the tries: a second in total. */
const FULL_PIPE = { tries: 100, waitMs: 10 };
const STDOUT = 1;

type ProcessName = "api" | "worker" | "sandbox";

/**
 * Writes JSON lines to stdout: of an error, only the fault and never the data that it concerns.
 * Repeated lines are bounded.
 */
export function createLog(name: ProcessName, level: string): SeldomLog {
  const onLost = (lines: number) => log.error({ lines }, "Log lines were lost: nobody took them");
  const lines: Log = pino(optionsOf(name, level), new LogOutput(process.stdout, onLost));
  const log = new SeldomLog(lines, {
    after(delayMs, run) {
      const timer = setTimeout(run, delayMs).unref();
      return () => clearTimeout(timer);
    },
  });
  process.on("exit", () => log.flush());
  return log;
}

/**
 * Creates the log for the last line before a process ends. Bun loses the waiting part of earlier
 * lines, so one of these may be cut off: the last line begins on a line of its own.
 */
export function createLastLog(name: ProcessName, level: string): Log {
  return pino(optionsOf(name, level), { write: (line) => writeNow(`\n${line}`) });
}

function optionsOf(name: ProcessName, level: string) {
  return {
    level,
    base: { process: name },
    serializers: { err: (error: unknown) => describe(error) },
  };
}

function writeNow(line: string): void {
  let left = Buffer.from(line);
  for (let tries = 0; tries < FULL_PIPE.tries && left.length > 0; tries += 1) {
    try {
      left = left.subarray(writeSync(STDOUT, left));
    } catch (error) {
      // Any other error means that the log has no reader.
      if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) return;
      Bun.sleepSync(FULL_PIPE.waitMs);
    }
  }
}

// Leaves out the command that drivers put into their errors, with its arguments: passwords,
// addresses.
function describe(error: unknown, levels = CAUSES_SHOWN): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const below = (one: unknown) => describe(one, levels - 1);
  const { name, cause } = error;
  const message = messageOf(error);
  const code = "code" in error ? { code: String(error.code) } : {};
  const isLast = levels === 0;
  const inner = cause === undefined || isLast ? {} : { cause: below(cause) };
  const all: readonly unknown[] = error instanceof AggregateError && !isLast ? error.errors : [];
  const parts = all.length === 0 ? {} : { errors: all.slice(0, ERRORS_SHOWN).map(below) };
  return { type: name, message, stack: stackOf(error, message), ...code, ...inner, ...parts };
}

/** The stack begins with the error's own message, which may hold data that must not be logged. */
function stackOf({ name, message, stack }: Error, safe: string): string | undefined {
  if (safe === message) return stack;
  const frames = stack?.split("\n").filter((line) => /^\s+at /.test(line)) ?? [];
  return [`${name}: ${safe}`, ...frames].join("\n");
}
