/** What `work` resolves to, or rejects with `late()` if that takes longer. The work goes on. */
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
