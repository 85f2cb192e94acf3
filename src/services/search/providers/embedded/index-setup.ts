// What the thread of the embedded index is started with, and what it tells of its own accord.

import type { ShippedSource } from "./shipped-documents.ts";

export interface IndexSetup {
  /** The folder of its data files. */
  readonly directory: string;
  readonly source: ShippedSource;
  /** The file with this machine's copy of the operator's documents; null where there is none. */
  readonly copy: string | null;
}

/** Sent when the index is open, and whenever it changes whether any document has a date. */
export interface IndexEvent {
  readonly hasDates: boolean;
}
