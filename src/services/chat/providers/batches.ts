// A stream of batches that hands each one to a callback: with a promise for every layer that a
// chunk passes, the promises would cost more than the chunk.

import type { ChatBatch } from "./provider.ts";

/** Takes what a stream brings. Each `pull` is answered by exactly one of these. */
export interface BatchTaker {
  onBatch(batch: ChatBatch): void;
  onEnd(): void;
  onFailure(error: unknown): void;
}

/** A stream that is pulled with callbacks; it is an iterator too, for all that need no speed. */
export abstract class Batches implements AsyncIterableIterator<ChatBatch> {
  /** Asks for the next batch, which may come at once. The pull before must have been answered. */
  abstract pull(taker: BatchTaker): void;

  /** Ends the stream before its time. */
  abstract cancel(): void;

  next(): Promise<IteratorResult<ChatBatch>> {
    return new Promise((resolve, reject) => {
      this.pull({
        onBatch: (value) => resolve({ done: false, value }),
        onEnd: () => resolve(END),
        onFailure: reject,
      });
    });
  }

  async return(): Promise<IteratorResult<ChatBatch>> {
    this.cancel();
    return END;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

const END: IteratorResult<ChatBatch> = { done: true, value: undefined };

/** Any stream of batches as one that can be pulled. */
export function pullable(batches: AsyncIterable<ChatBatch>): Batches {
  return batches instanceof Batches
    ? batches
    : new IteratedBatches(batches[Symbol.asyncIterator]());
}

class IteratedBatches extends Batches {
  readonly #iterator: AsyncIterator<ChatBatch>;

  constructor(iterator: AsyncIterator<ChatBatch>) {
    super();
    this.#iterator = iterator;
  }

  override pull(taker: BatchTaker): void {
    this.#iterator.next().then(
      ({ done, value }) => (done ? taker.onEnd() : taker.onBatch(value)),
      (error) => taker.onFailure(error),
    );
  }

  override cancel(): void {
    // A stream that is given up has nothing more to tell.
    this.#iterator.return?.().catch(() => {});
  }
}
