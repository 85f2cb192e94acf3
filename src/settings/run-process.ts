// Runs the API or the worker as a process: reads its settings, makes its log, and ends it by a
// signal or an error.

import type { Log, SeldomLog } from "../core/log.ts";
import { StartError } from "../core/start-error.ts";
import { loadServerConfig, type ServerConfig } from "./config.ts";
import { createLastLog, createLog } from "./create-log.ts";

export interface Program {
  readonly name: "api" | "worker";
  /** The port of its metrics, unless an operator names one. */
  readonly metricsPort: number;
  /** Starts everything; returns a function that stops it. */
  readonly start: (config: ServerConfig, log: Log) => Promise<() => Promise<void>>;
}

/** Runs a program until SIGTERM or SIGINT. Never rejects: an error ends the process with 1. */
export async function runProcess(program: Program): Promise<void> {
  const { name, metricsPort, start } = program;
  let log: SeldomLog | null = null;
  try {
    const config = loadServerConfig(metricsPort);
    log = createLog(name, config.logLevel);
    logLostPromises(log);
    endOnLostErrors(log, createLastLog(name, config.logLevel));
    for (const warning of config.warnings) log.warn({}, warning);
    const signals = endOnSignals(log);
    signals.started(await start(config, log));
  } catch (error) {
    // The last line says why the process ends.
    log?.flush();
    if (error instanceof StartError) process.stderr.write(`${error.message}\n`);
    // Log the error in the log's own format: the runtime's output may contain a store's address.
    else createLastLog(name, "info").error({ err: error }, `The ${WORDS[name]} could not start`);
    process.exit(1);
  }
}

const WORDS = { api: "API", worker: "worker" } as const;

function logLostPromises(log: Log): void {
  process.on("unhandledRejection", (error) => log.error({ err: error }, "A promise was lost"));
}

function endOnLostErrors(usual: SeldomLog, log: Log): void {
  process.on("uncaughtException", (error) => {
    usual.flush();
    // The runtime would print the error with all its data, such as a statement's values.
    log.error({ err: error }, "An error was not caught: the process ends");
    process.exit(1);
  });
}

/** Ends the process on a signal: at once during the start, later in order, and only once. */
function endOnSignals(log: Log) {
  let stop: (() => Promise<void>) | null = null;
  let isStopping = false;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, () => {
      // During its start the process has taken no calls, and other processes continue its jobs. The
      // signal needs a handler, because the first process of a container has no default for it.
      if (stop === null) process.exit(0);
      if (isStopping) return;
      isStopping = true;
      log.info({ signal }, "Stopping: what is open ends, and nothing new is taken");
      stop().then(
        () => process.exit(0),
        (error) => {
          log.error({ err: error }, "The process did not end in order");
          process.exit(1);
        },
      );
    });
  }
  return {
    started: (end: () => Promise<void>) => {
      stop = end;
    },
  };
}
