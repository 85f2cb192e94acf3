// Lets callers at the same time share work, or wait for it together.

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

/** The work of a batch of items: as many results as items, in their order. */
type Batch<Item, Result> = (items: readonly Item[]) => Promise<readonly Result[]>;

interface WaitingItem<Item, Result> {
  readonly item: Item;
  readonly done: PromiseWithResolvers<Result>;
}

/** Items that arrive while a batch is under way wait, and are the next batch together. */
export class Batches<Item, Result> {
  readonly #batch: Batch<Item, Result>;
  readonly #itemsMax: number;
  #waiting: WaitingItem<Item, Result>[] = [];
  #isWorking = false;

  constructor(itemsMax: number, batch: Batch<Item, Result>) {
    this.#itemsMax = itemsMax;
    this.#batch = batch;
  }

  /** The result of this item. A batch that fails fails for its own items, not for the next ones. */
  add(item: Item): Promise<Result> {
    const done = Promise.withResolvers<Result>();
    this.#waiting.push({ item, done });
    if (!this.#isWorking) void this.#work();
    return done.promise;
  }

  async #work(): Promise<void> {
    this.#isWorking = true;
    while (this.#waiting.length > 0) {
      const taken = this.#waiting.splice(0, this.#itemsMax);
      try {
        const results = await this.#batch(taken.map(({ item }) => item));
        // As many results as items: their order is their only name.
        for (const [at, { done }] of taken.entries()) done.resolve(results[at] as Result);
      } catch (error) {
        for (const { done } of taken) done.reject(error);
      }
    }
    this.#isWorking = false;
  }
}
