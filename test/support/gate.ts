/** Holds calls until the test opens the gate. */
export interface Gate {
  /** The number of calls that have arrived. */
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
