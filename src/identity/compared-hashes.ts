// Which hashes of passwords a request has found right: to compare one again takes long.

import { AsyncLocalStorage } from "node:async_hooks";

export class ComparedHashes {
  readonly #right = new AsyncLocalStorage<Set<string>>();

  /** Remembers which hashes are found right during `work`. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    return await this.#right.run(new Set(), work);
  }

  noteRight(hash: string): void {
    this.#right.getStore()?.add(hash);
  }

  wasRight(hash: string): boolean {
    return this.#right.getStore()?.has(hash) === true;
  }
}
