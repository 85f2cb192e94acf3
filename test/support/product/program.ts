// Runs a program of the product as a process of the operating system: started on the leash of
// scripts/local/processes.mjs, killed, started again, with its output in one file over all its
// runs.

import { closeSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Child, lastWords, launch } from "../../../scripts/local/processes.mjs";

const PROJECT = join(import.meta.dir, "../../..");
const READY_MS = 120_000;
const LOOK_MS = 20;
/** Both programs log this line last but one when they have started. */
const READY = "Metrics are served";

export interface ProgramOptions {
  readonly name: string;
  /** The file to run, relative to the project's folder. */
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
}

/** Further options of one start. */
export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly preload?: string;
}

export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export class Program {
  #child: Child | null = null;
  /** True once the present run was asked to end, or if it was started to end by itself. */
  #isEnding = false;
  #logStart = 0;
  /** The port on which the present run serves its metrics. */
  #servedPort: number | null = null;

  constructor(readonly options: ProgramOptions) {}

  get isRunning(): boolean {
    return this.#child !== null && this.#child.exit() === null;
  }

  /** True if it ended by itself, and was not started to do so. */
  get hasDied(): boolean {
    return this.#child !== null && !this.isRunning && !this.#isEnding;
  }

  get pid(): number {
    return this.#running().record.pid;
  }

  /** The end of the present run. */
  get exited(): Child["exited"] {
    return this.#running().exited;
  }

  /** Starts it and waits until it serves. */
  async start(more: StartOptions = {}): Promise<void> {
    if (this.isRunning) throw new Error(`${this.options.name} runs already`);
    const { name, file, env, logFile } = this.options;
    this.#logStart = sizeOf(logFile);
    const preload = more.preload === undefined ? [] : ["--preload", more.preload];
    const child = launch({
      name,
      command: [process.execPath, ...preload, file],
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env, ...more.env },
      cwd: PROJECT,
      logFile,
    });
    this.#child = child;
    this.#isEnding = more.preload !== undefined;
    for (const endMs = performance.now() + READY_MS; performance.now() < endMs; ) {
      this.#servedPort = this.#metricsPort();
      if (this.#servedPort !== null) return;
      if (child.exit() !== null) throw new Error(`${name} ended:\n${lastWords(logFile)}`);
      await Bun.sleep(LOOK_MS);
    }
    await child.kill9();
    throw new Error(`${name} did not start:\n${lastWords(logFile)}`);
  }

  /** Ends it as a crash would. */
  async kill9(): Promise<void> {
    this.#isEnding = true;
    await this.#running().kill9();
  }

  /** Sends SIGTERM and waits for the end; kills after the time. */
  async stop(timeoutMs?: number): Promise<void> {
    this.#isEnding = true;
    if (this.isRunning) await this.#running().stop(timeoutMs);
  }

  /** The log of all its runs. */
  get log(): readonly LogLine[] {
    return linesOf(logText(this.options.logFile));
  }

  /** The present value of one of its metrics; null if it has no metric of this name. */
  async metric(name: string): Promise<number | null> {
    return (await this.metrics())(name);
  }

  /** Reads its metrics once; returns a function that finds a value among them. */
  async metrics(): Promise<(name: string) => number | null> {
    const text = await this.metricsText();
    return (name) => {
      const row = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, "m").exec(text);
      return row === null ? null : Number(row[1]);
    };
  }

  /** The metrics of the program in the form that Prometheus reads. */
  async metricsText(): Promise<string> {
    const reply = await fetch(`http://127.0.0.1:${this.#servedPort}/metrics`);
    return await reply.text();
  }

  #running(): Child {
    if (this.#child === null) throw new Error(`${this.options.name} was never started`);
    return this.#child;
  }

  #metricsPort(): number | null {
    const lines = linesOf(logText(this.options.logFile, this.#logStart));
    const port = lines.find(({ msg }) => msg === READY)?.port;
    return typeof port === "number" ? port : null;
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** The log from a byte on; empty before the log exists. */
function logText(file: string, start = 0): string {
  const size = sizeOf(file);
  if (size <= start) return "";
  const bytes = Buffer.alloc(size - start);
  const log = openSync(file, "r");
  try {
    return bytes.toString("utf8", 0, readSync(log, bytes, 0, bytes.length, start));
  } finally {
    closeSync(log);
  }
}

/** The whole lines of JSON; a runtime that dies writes other lines. */
function linesOf(text: string): LogLine[] {
  return text.split("\n").flatMap((line) => {
    if (!line.startsWith("{") || !line.endsWith("}")) return [];
    return [JSON.parse(line) as LogLine];
  });
}
