// The names of an account's keys by their numbers, which the log and its sums have.

import type { Database } from "../servers/database.ts";

export interface KeyName {
  readonly id: string;
  readonly name: string;
  readonly lastFour: string;
}

/** All keys of an account, revoked ones too. */
export async function readKeyNames(
  { sql }: Database,
  account: number,
): Promise<ReadonlyMap<number, KeyName>> {
  const rows = await sql`
    SELECT number, id, name, last_four FROM keys WHERE account = ${account} ORDER BY number`;
  return new Map(
    rows.map(({ number, id, name, last_four }) => [
      Number(number),
      { id: String(id), name: String(name), lastFour: String(last_four) },
    ]),
  );
}

/** No key has this number: a filter by it finds nothing. */
const NO_KEY = -1;

/** The number of the key with this id, for a filter; of an unknown key one that finds nothing. */
export function keyNumber(keys: ReadonlyMap<number, KeyName>, id: string): number {
  for (const [number, key] of keys) if (key.id === id) return number;
  return NO_KEY;
}
