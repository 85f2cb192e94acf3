// Runs a test's requests while the journal is flushed, as the workers do.

/** Returns the result of `work`; the flushes end with `work`. */
export async function flushing<T>(
  { flush }: { readonly flush: () => Promise<unknown> },
  work: () => Promise<T>,
): Promise<T> {
  let isOver = false;
  const loop = async () => {
    while (!isOver) await flush();
  };
  const flushes = loop();
  try {
    return await work();
  } finally {
    isOver = true;
    await flushes;
  }
}
