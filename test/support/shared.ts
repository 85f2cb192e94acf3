// Shares resources among all tests of a file: opened before its first test, closed after the last,
// in reverse order.

import { afterAll } from "bun:test";
import { temporaryFolder } from "../../scripts/local/processes.mjs";

let opened: AsyncDisposableStack | null = null;

/** Closes the resource after the last test of the file. */
export async function shared<T extends AsyncDisposable>(opening: T | Promise<T>): Promise<T> {
  return ofFile().use(await opening);
}

/** Runs `close` after the last test of the file. */
export function atEnd(close: () => void | Promise<void>): void {
  ofFile().defer(close);
}

/** Makes a folder that exists until the last test of the file has run, and returns its path. */
export function sharedFolder(name: string): string {
  const { path, remove } = temporaryFolder(`farebox-test-${name}-`);
  atEnd(remove);
  return path;
}

/** Starts a server that stops after the last test of the file. */
export function sharedServer(fetch: (request: Request) => Response | Promise<Response>) {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch });
  atEnd(() => server.stop(true));
  return server;
}

function ofFile(): AsyncDisposableStack {
  if (opened !== null) return opened;
  const stack = new AsyncDisposableStack();
  opened = stack;
  afterAll(async () => {
    opened = null;
    await stack.disposeAsync();
  });
  return stack;
}
