// The types of processes.mjs for the tests.

export interface Child {
  readonly name: string;
  readonly record: { readonly pid: number; readonly born: string };
  readonly exited: Promise<{ code: number | null; signal: string | null }>;
  stop(timeoutMs?: number): Promise<void>;
  kill9(): Promise<void>;
}

/** A temporary folder that goes away with this process, however that ends. */
export function temporaryFolder(prefix: string): { readonly path: string; remove(): void };
