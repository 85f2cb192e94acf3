// The part of a logger that the program uses; pino has this shape.

export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const REPEATED_EVERY_MS = 10_000;

/**
 * For errors that repeat many times a second: writes the first at once, then one in ten seconds,
 * with the number of those before it that were not written.
 */
export function seldom<What>(
  now: () => number,
  write: (fields: { readonly err: What; readonly omitted: number }) => void,
): (error: What) => void {
  let writtenMs = Number.NEGATIVE_INFINITY;
  let omitted = 0;
  return (err) => {
    const nowMs = now();
    // The clock may have been set back.
    if (Math.abs(nowMs - writtenMs) < REPEATED_EVERY_MS) {
      omitted += 1;
      return;
    }
    write({ err, omitted });
    writtenMs = nowMs;
    omitted = 0;
  };
}
