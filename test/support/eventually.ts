/** Asks until it is so; fails loudly when it does not become so in time. */
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
