/**
 * Waits until `isSo` returns true, and fails after `withinMs`. The limit is so long that a busy
 * machine does not reach it.
 */
export async function eventually(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  withinMs = 10_000,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`It never happened that ${what}`);
    await Bun.sleep(5);
  }
}

/** Runs everything that is ready, this many times: for tests that something does not happen. */
export async function eventLoopTurns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
