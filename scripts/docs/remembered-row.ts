// The form of what remembered.ts lists.

/** One collection in memory. */
export interface Remembered {
  /** Its place in the code, as `file field`. */
  readonly holders: readonly string[];
  readonly what: string;
  readonly most: string;
  /** The maximum number of entries and the bytes of each, if they matter. */
  readonly count?: number;
  readonly bytes?: number;
  /** What happens at the maximum; missing if it cannot be reached. */
  readonly beyond?: string;
}

/** A number as the table has it. */
export const number = (value: number): string => value.toLocaleString("en-US");
