// The messages to and from the thread of the embedded index.

import type { IndexHit, IndexQuery } from "./search-index.ts";
import type { ShippedSource } from "./shipped-documents.ts";

/** Opens the index, once. */
export interface IndexStart {
  readonly type: "start";
  readonly directory: string;
  readonly source: ShippedSource;
}

export interface IndexQuestion {
  readonly type: "question";
  readonly id: number;
  readonly query: IndexQuery;
}

export type IndexAnswer =
  | { readonly type: "hits"; readonly id: number; readonly hits: readonly IndexHit[] }
  | { readonly type: "failed"; readonly id: number; readonly reason: string };

export type IndexMessage =
  | IndexAnswer
  | { readonly type: "ready"; readonly documents: number }
  /** Sent whenever it changes whether any document has a date. */
  | { readonly type: "dates"; readonly hasDates: boolean }
  | {
      readonly type: "log";
      readonly level: "info" | "warn" | "error";
      readonly fields: object;
      readonly message: string;
    };
