/**
 * Waits until `isSo`, and fails after `withinMs`: a limit for what never happens, which no busy
 * machine reaches.
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

/** Lets everything run that is ready, so many times: for what must not happen. */
export async function eventLoopTurns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
