// Caches the password hashes that a request has verified, because verifying one is slow.

import { AsyncLocalStorage } from "node:async_hooks";

export class ComparedHashes {
  readonly #right = new AsyncLocalStorage<Set<string>>();

  /** Remembers the hashes that were verified during `work`. */
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
