// What all tests of a file share: opened before its first test, closed after the last, in reverse.

import { afterAll } from "bun:test";
import { temporaryFolder } from "../../scripts/local/processes.mjs";

let opened: AsyncDisposableStack | null = null;

/** Closes it after the last test of the file. */
export async function shared<T extends AsyncDisposable>(opening: T | Promise<T>): Promise<T> {
  return ofFile().use(await opening);
}

/** Runs it after the last test of the file. */
export function atEnd(close: () => void | Promise<void>): void {
  ofFile().defer(close);
}

/** The path of a new folder, which is there until the last test of the file has run. */
export function sharedFolder(name: string): string {
  const { path, remove } = temporaryFolder(`farebox-test-${name}-`);
  atEnd(remove);
  return path;
}

/** A server of the test's own, which stops after the last test of the file. */
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
