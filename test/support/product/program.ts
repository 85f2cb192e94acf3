// A program of the product as a process of the operating system: started on the leash of
// scripts/local/processes.mjs, killed, started again, its output kept in one file over all its
// lives.

import { closeSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Child, lastWords, launch } from "../../../scripts/local/processes.mjs";

const PROJECT = join(import.meta.dir, "../../..");
const READY_MS = 30_000;
const LOOK_MS = 20;
/** Both programs log it last of all, but for one line, when they have started. */
const READY = "Metrics are served";

export interface ProgramOptions {
  readonly name: string;
  /** The file to run, seen from the project's folder. */
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
}

/** What one start has besides. */
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
  /** True once the present run was told to end, or if it was started to end by itself. */
  #isEnding = false;
  #logStart = 0;
  /** Where its present run serves its metrics. */
  #servedPort: number | null = null;

  constructor(readonly options: ProgramOptions) {}

  get isRunning(): boolean {
    return this.#child !== null && this.#child.exit() === null;
  }

  /** True if it ended by itself, and was not started for that. */
  get hasDied(): boolean {
    return this.#child !== null && !this.isRunning && !this.#isEnding;
  }

  get pid(): number {
    return this.#running().record.pid;
  }

  /** How the present run ends. */
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

  /** SIGTERM, and the wait for its end; by force after the time. */
  async stop(timeoutMs?: number): Promise<void> {
    this.#isEnding = true;
    if (this.isRunning) await this.#running().stop(timeoutMs);
  }

  /** What it has logged, in all its runs. */
  get log(): readonly LogLine[] {
    return linesOf(logText(this.options.logFile));
  }

  /** A figure of its metrics now; null when it does not tell one of this name. */
  async metric(name: string): Promise<number | null> {
    return (await this.metrics())(name);
  }

  /** Reads its metrics once; what it returns finds a figure among them. */
  async metrics(): Promise<(name: string) => number | null> {
    const text = await this.metricsText();
    return (name) => {
      const row = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, "m").exec(text);
      return row === null ? null : Number(row[1]);
    };
  }

  /** Its metrics as Prometheus reads them. */
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

/** The log from a byte on; empty before there is one. */
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

/** Whole lines of JSON; a runtime that dies writes others. */
function linesOf(text: string): LogLine[] {
  return text.split("\n").flatMap((line) => {
    if (!line.startsWith("{") || !line.endsWith("}")) return [];
    return [JSON.parse(line) as LogLine];
  });
}
