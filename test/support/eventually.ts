/** The pauses between two looks: at first short, then a tenth of the time waited so far. */
const LOOK_MS = { least: 5, most: 100 };

/**
 * Waits until `isSo` returns true, and fails after `withinMs`. The limit is so long that a busy
 * machine does not reach it.
 */
export async function eventually(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  withinMs = 60_000,
): Promise<void> {
  const startMs = performance.now();
  while (!(await isSo())) {
    const waitedMs = performance.now() - startMs;
    if (waitedMs > withinMs) throw new Error(`It never happened that ${what}`);
    await Bun.sleep(Math.min(Math.max(waitedMs / 10, LOOK_MS.least), LOOK_MS.most));
  }
}

/** Runs everything that is ready, this many times: for tests that an event does not happen. */
export async function eventLoopTurns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
