/** Work under way, by its name: callers at the same time share it, and its failure. */
export class OpenWork<Result> {
  readonly #open = new Map<string, Promise<Result>>();

  /** Returns the work of this name that is under way, or else begins it. */
  share(name: string, begin: () => Promise<Result>): Promise<Result> {
    const open = this.#open.get(name);
    if (open !== undefined) return open;
    const work = begin().finally(() => this.#open.delete(name));
    this.#open.set(name, work);
    return work;
  }
}
