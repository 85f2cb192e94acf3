// Defines the rows of remembered.ts.

/** One collection in memory. */
export interface Remembered {
  /** The place of the collection in the code, as `file field`. */
  readonly holders: readonly string[];
  readonly what: string;
  readonly most: string;
  /** The maximum number of entries and the bytes of each, if they matter. */
  readonly count?: number;
  readonly bytes?: number;
  /** The effect of reaching the maximum; omitted if it cannot be reached. */
  readonly beyond?: string;
}

/** A number in the form of the table. */
export const number = (value: number): string => value.toLocaleString("en-US");
