// The types of processes.mjs for the tests.

export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface Child {
  readonly name: string;
  readonly record: { readonly pid: number; readonly born: string };
  readonly exited: Promise<Exit>;
  /** Null while it runs. */
  exit(): Exit | null;
  stop(timeoutMs?: number): Promise<void>;
  kill9(): Promise<void>;
}

export interface LaunchOptions {
  readonly name: string;
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly logFile?: string | null;
}

/** Starts a command that cannot outlive this process. */
export function launch(options: LaunchOptions): Child;

/** A free loopback port. */
export function freePort(): Promise<number>;

/** The end of a log, for a message about why its process ended. */
export function lastWords(file: string, lines?: number): string;

/** A temporary folder that goes away with this process, however that ends. */
export function temporaryFolder(prefix: string): { readonly path: string; remove(): void };
