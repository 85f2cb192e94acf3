/** A point that calls wait at until the test opens it. */
export interface Gate {
  /** How many calls came to it. */
  readonly arrivals: number;
  /** Waits until it is open. */
  pass(): Promise<void>;
  open(): void;
}

export function closedGate(): Gate {
  const { promise, resolve } = Promise.withResolvers<void>();
  let arrivals = 0;
  return {
    get arrivals() {
      return arrivals;
    },
    pass: () => {
      arrivals += 1;
      return promise;
    },
    open: () => resolve(),
  };
}
