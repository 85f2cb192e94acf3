// The numbers that rows refer to accounts and keys by.

import { LRUCache } from "lru-cache";
import { arrayText, type Database } from "./database.ts";
import type { JournalItem, Numbers } from "./prepared-entry.ts";

/** Of accounts, and of keys: those used longest ago are read again. */
export const NUMBERS_MAX = 100_000;

export class RowNumbers {
  readonly #accounts: LRUCache<string, number>;
  readonly #keys: LRUCache<string, number>;

  constructor(
    readonly database: Pick<Database, "sql">,
    max = NUMBERS_MAX,
  ) {
    this.#accounts = new LRUCache({ max });
    this.#keys = new LRUCache({ max });
  }

  /**
   * The numbers of all accounts and keys of these entries, as far as Postgres has them. They never
   * change, so each is read once, as long as it is remembered.
   */
  async of(items: readonly JournalItem[]): Promise<Numbers> {
    const { sql } = this.database;
    const accounts = new Set<string>();
    const keys = new Set<string>();
    for (const { entry } of items) {
      if (entry === null) continue;
      accounts.add(entry.account);
      if (entry.key !== "") keys.add(entry.key);
    }
    return {
      accounts: await learn(
        this.#accounts,
        accounts,
        (ids) => sql`SELECT id, number FROM accounts WHERE id = ANY(${ids}::text::text[])`,
      ),
      keys: await learn(
        this.#keys,
        keys,
        (ids) => sql`SELECT id, number FROM keys WHERE id = ANY(${ids}::text::text[])`,
      ),
    };
  }
}

/** What is found goes into a map of its own: entries of one batch may be more than are kept. */
async function learn(
  known: LRUCache<string, number>,
  ids: ReadonlySet<string>,
  read: (ids: string) => Promise<readonly Record<string, unknown>[]>,
): Promise<ReadonlyMap<string, number>> {
  const numbers = new Map<string, number>();
  const unknown: string[] = [];
  for (const id of ids) {
    const number = known.get(id);
    if (number === undefined) unknown.push(withoutNul(id));
    else numbers.set(id, number);
  }
  if (unknown.length === 0) return numbers;
  for (const row of await read(arrayText(unknown))) {
    const [id, number] = [String(row.id), Number(row.number)];
    known.set(id, number);
    numbers.set(id, number);
  }
  return numbers;
}

/** Postgres has no NUL in text; no id has one, so what is asked for instead is not found. */
function withoutNul(id: string): string {
  return id.replaceAll("\0", "");
}
