// Defines streams that hand over their pieces by method calls. One promise per layer and piece
// would cost more than the work for the piece.

/**
 * Receives the pieces of a stream. Each `pull` leads to exactly one of these calls, possibly before
 * it returns. `More` are further arguments: a piece of bytes keeps its range, so it is not copied.
 */
export interface Taker<Piece, More extends readonly unknown[] = []> {
  take(piece: Piece, ...more: More): void;
  /** The stream has no more pieces. */
  end(): void;
  /** The stream cannot continue. */
  fail(error: unknown): void;
}

/** A stream that hands over its pieces one by one. */
export interface Pull<Piece, More extends readonly unknown[] = []> {
  /** Requests the next piece. Wait for the answer to the last `pull`. */
  pull(taker: Taker<Piece, More>): void;
}
