/**
 * Resolves as `work` does, or rejects with `late()` if `work` takes longer than `ms`. The work goes
 * on.
 */
export async function within<Value>(
  ms: number,
  work: Promise<Value>,
  late: () => Error,
): Promise<Value> {
  const limit = Promise.withResolvers<never>();
  const timer = setTimeout(() => limit.reject(late()), ms);
  try {
    return await Promise.race([work, limit.promise]);
  } finally {
    clearTimeout(timer);
  }
}
