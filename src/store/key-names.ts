// The names of an account's keys by their numbers, which the log and its sums have.

import type { Database } from "./database.ts";

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
