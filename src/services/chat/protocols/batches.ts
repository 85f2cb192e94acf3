// A stream of batches with callbacks. One promise per layer and chunk would cost more than the work
// for the chunk itself.

import type { ChatBatch } from "./provider.ts";

/** Receives the batches of a stream. Each `pull` leads to exactly one of these calls. */
export interface BatchTaker {
  onBatch(batch: ChatBatch): void;
  onEnd(): void;
  onFailure(error: unknown): void;
}

/** A stream that is pulled with callbacks. It is also an iterator, for code that needs no speed. */
export abstract class Batches implements AsyncIterableIterator<ChatBatch> {
  /** Requests the next batch, which may arrive at once. Wait for the answer to the last pull. */
  abstract pull(taker: BatchTaker): void;

  /** Ends the stream early. */
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

/** Converts any stream of batches. */
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
    // Nobody needs the errors of a cancelled stream.
    this.#iterator.return?.().catch(() => {});
  }
}
