// Runs `npm start` as a process of a test, with a home folder that is removed after the test.

import { join } from "node:path";
import { temporaryFolder } from "../../../scripts/local/processes.mjs";
import { testDataDirectory } from "../stores/services.ts";

const PROJECT = join(import.meta.dir, "../../..");

export interface Launcher extends AsyncDisposable {
  readonly home: string;
  readonly pid: number;
  /** The output so far, stdout and stderr. */
  output(): string;
  /** Resolves with the exit code. */
  readonly exited: Promise<number>;
  stop(): Promise<number>;
}

export interface LauncherOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** True if npm runs it, as for a person: `pid` is then that of npm. */
  readonly byNpm?: boolean;
}

/** Makes a folder for a home, which is removed with the test. */
export function launcherHome(): { readonly path: string } & Disposable {
  const folder = temporaryFolder("farebox-start-");
  return { path: folder.path, [Symbol.dispose]: () => folder.remove() };
}

/** Runs `scripts/start.mjs`; ending it also ends every process that it started. */
export function launchFarebox(home: string, options: LauncherOptions = {}): Launcher {
  const { args = [], byNpm = false } = options;
  const command = byNpm ? ["npm", "start", "--"] : ["node", join(PROJECT, "scripts/start.mjs")];
  const child = Bun.spawn([...command, ...args], {
    cwd: PROJECT,
    env: {
      PATH: process.env.PATH ?? "",
      HOME: process.env.HOME ?? "",
      FAREBOX_HOME: home,
      FAREBOX_DATA: testDataDirectory(),
      ...options.env,
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  let printed = "";
  const reading = [child.stdout, child.stderr].map(async (stream) => {
    for await (const chunk of stream.pipeThrough(new TextDecoderStream())) printed += chunk;
  });
  const exited = Promise.all([child.exited, ...reading]).then(([code]) => code);
  const stop = () => {
    child.kill("SIGTERM");
    return exited;
  };
  return {
    home,
    pid: child.pid,
    output: () => printed,
    exited,
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop();
    },
  };
}
