// The names of an account's keys by their numbers, which the log and its sums have.

import { NO_TAG } from "../../core/usage-query.ts";
import type { Database } from "../servers/database.ts";

export interface KeyName {
  readonly id: string;
  readonly name: string;
  readonly lastFour: string;
  readonly tags: readonly string[];
}

/** All keys of an account, revoked ones too. */
export async function readKeyNames(
  { sql }: Database,
  account: number,
): Promise<ReadonlyMap<number, KeyName>> {
  const rows = await sql`
    SELECT number, id, name, last_four, tags FROM keys WHERE account = ${account} ORDER BY number`;
  return new Map(
    rows.map(({ number, id, name, last_four, tags }) => [
      Number(number),
      { id: String(id), name: String(name), lastFour: String(last_four), tags: tags.map(String) },
    ]),
  );
}

/** The id and the tags of keys, for a filter; one that is missing or null limits nothing. */
interface KeyFilter {
  readonly key?: string | null | undefined;
  readonly tag?: string | null | undefined;
}

/** Tags as one text, by which keys are grouped; empty without any. A tag has no comma. */
export function tagsText(tags: readonly string[]): string {
  return tags.toSorted().join(",");
}

/** True if a key has each of these tags, which commas separate; `none`: if it has no tag. */
function hasTags(tags: readonly string[], asked: string): boolean {
  if (asked === NO_TAG && tags.length === 0) return true;
  return asked.split(",").every((tag) => tags.includes(tag));
}

/**
 * The numbers of the keys with this id and these tags, for a filter; null if neither is given. An
 * unknown key or tag has no numbers, so a query finds nothing.
 */
export function keyNumbers(
  keys: ReadonlyMap<number, KeyName>,
  { key: id, tag }: KeyFilter,
): readonly number[] | null {
  if (id == null && tag == null) return null;
  const found = [...keys].filter(
    ([, key]) => (id == null || key.id === id) && (tag == null || hasTags(key.tags, tag)),
  );
  return found.map(([number]) => number);
}
