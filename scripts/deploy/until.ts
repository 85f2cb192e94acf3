// Waits for a condition of containers.

const LOOK_MS = 500;
const WAIT_MS_MAX = 180_000;

/**
 * Waits until something holds.
 * @throws {Error} naming it, after the time
 */
export async function until(
  what: string,
  holds: () => Promise<boolean>,
  waitMsMax = WAIT_MS_MAX,
): Promise<void> {
  for (const endMs = performance.now() + waitMsMax; performance.now() < endMs; ) {
    if (await holds()) return;
    await Bun.sleep(LOOK_MS);
  }
  throw new Error(`After ${waitMsMax / 1_000} s it does not hold that ${what}`);
}
