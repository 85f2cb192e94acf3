// What all tests of a file share: opened before its first test, closed after the last, in reverse.

import { afterAll } from "bun:test";

let opened: AsyncDisposableStack | null = null;

/** Closes it after the last test of the file. */
export async function shared<T extends AsyncDisposable>(opening: T | Promise<T>): Promise<T> {
  return ofFile().use(await opening);
}

/** Runs it after the last test of the file. */
export function atEnd(close: () => void | Promise<void>): void {
  ofFile().defer(close);
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
