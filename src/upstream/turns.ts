// Gives accounts their turns one after the other, however many items one account adds (D-545).

export class Turns<Item> {
  /** The waiting items by account. The account whose turn is next comes first. */
  readonly #waiting = new Map<string, Item[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(account: string, item: Item): void {
    const items = this.#waiting.get(account);
    if (items === undefined) this.#waiting.set(account, [item]);
    else items.push(item);
    this.#size += 1;
  }

  /** Removes the next item; after that its account goes last. Undefined if nothing waits. */
  take(): Item | undefined {
    for (const [account, items] of this.#waiting) {
      const item = items.shift();
      this.#waiting.delete(account);
      if (items.length > 0) this.#waiting.set(account, items);
      this.#size -= 1;
      return item;
    }
    return undefined;
  }

  /** Removes an item, if it still waits. */
  remove(account: string, item: Item): void {
    const items = this.#waiting.get(account);
    const at = items?.indexOf(item) ?? -1;
    if (items === undefined || at < 0) return;
    items.splice(at, 1);
    if (items.length === 0) this.#waiting.delete(account);
    this.#size -= 1;
  }
}
