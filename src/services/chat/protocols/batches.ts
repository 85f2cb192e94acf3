// A streamed reply as batches, and the conversion of iterators.

import type { Pull, Taker } from "../../../core/taker.ts";
import type { ChatBatch } from "./provider.ts";

/** A stream of batches. The stream is also an iterator, for code that needs no speed. */
export abstract class Batches implements Pull<ChatBatch>, AsyncIterableIterator<ChatBatch> {
  abstract pull(taker: Taker<ChatBatch>): void;

  /** Ends the stream early. */
  abstract cancel(): void;

  next(): Promise<IteratorResult<ChatBatch>> {
    return new Promise((resolve, reject) => {
      this.pull({
        take: (value) => resolve({ done: false, value }),
        end: () => resolve(END),
        fail: reject,
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

  override pull(taker: Taker<ChatBatch>): void {
    this.#iterator.next().then(
      ({ done, value }) => (done ? taker.end() : taker.take(value)),
      (error) => taker.fail(error),
    );
  }

  override cancel(): void {
    // The errors of a cancelled stream have no reader.
    this.#iterator.return?.().catch(() => {});
  }
}
