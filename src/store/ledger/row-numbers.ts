// The numbers by which rows refer to accounts and keys.

import { LRUCache } from "lru-cache";
import { arrayText, type Database } from "../servers/database.ts";
import type { JournalItem, Numbers } from "./prepared-entry.ts";

/** The most accounts, and the most keys, to remember; the least recently used are forgotten. */
export const NUMBERS_MAX = 100_000;

/** Loads and remembers the numbers of accounts and keys. */
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
   * The numbers of all accounts and keys of these entries that Postgres has. On one server a number
   * never changes, so one that is remembered is not read again.
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
      accounts: await load(
        this.#accounts,
        accounts,
        (ids) => sql`SELECT id, number FROM accounts WHERE id = ANY(${ids}::text::text[])`,
      ),
      keys: await load(
        this.#keys,
        keys,
        (ids) => sql`SELECT id, number FROM keys WHERE id = ANY(${ids}::text::text[])`,
      ),
    };
  }
}

/** Returns a separate map, because one batch may have more entries than are remembered. */
async function load(
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

/** Postgres does not accept NUL in text. No id contains NUL, so the shortened id is not found. */
function withoutNul(id: string): string {
  return id.replaceAll("\0", "");
}
