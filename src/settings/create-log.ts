import { writeSync } from "node:fs";
import { pino } from "pino";
import { type Log, SeldomLog } from "../core/log.ts";
import { messageOf } from "../core/text/error-message.ts";
import { LogOutput } from "./log-output.ts";

/** Of errors that are many in one, as many are logged. */
const ERRORS_SHOWN = 5;
/** So far down causes are logged: one may lead back to its own effect. */
const CAUSES_SHOWN = 5;

/** How often, and after what time each, a full pipe is tried again: a second in all. */
const FULL_PIPE = { tries: 100, waitMs: 10 };
const STDOUT = 1;

type ProcessName = "api" | "worker" | "sandbox";

/**
 * JSON lines on stdout: of an error only what tells what happened, never what it was about. Those
 * that repeat are bounded.
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
 * The same for the line after which a process ends: it is written at once. Bun loses what a pipe
 * has not taken of the others, so one of them may be cut off in the middle.
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
      // Any other error means that nobody reads the log.
      if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) return;
      Bun.sleepSync(FULL_PIPE.waitMs);
    }
  }
}

// Errors of the drivers carry the command they failed in, with its arguments: passwords, addresses.
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

/** The stack begins with the error's own message, which may hold what must not be logged. */
function stackOf({ name, message, stack }: Error, safe: string): string | undefined {
  if (safe === message) return stack;
  const frames = stack?.split("\n").filter((line) => /^\s+at /.test(line)) ?? [];
  return [`${name}: ${safe}`, ...frames].join("\n");
}
