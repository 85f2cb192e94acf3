// Describes the start of the embedded index's thread, and the events that this thread sends
// unasked.

import type { ShippedSource } from "./shipped-documents.ts";

export interface IndexSetup {
  /** The folder of the index's data files. */
  readonly directory: string;
  readonly source: ShippedSource;
  /**
   * The file with this machine's copy of the operator's documents; null on a machine without such a
   * copy.
   */
  readonly copy: string | null;
}

/**
 * Sent when the index is open, and whenever `hasDates` changes: it is true if any document has a
 * date.
 */
export interface IndexEvent {
  readonly hasDates: boolean;
}
