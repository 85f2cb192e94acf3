// What people did to an account. A line is written in the transaction of the change, so there is
// neither a change without a line nor a line without a change.

import { and, desc, eq, lt } from "drizzle-orm";
import type { Transaction } from "../ledger/operations.ts";
import type { Database } from "../servers/database.ts";
import { activity } from "../tables/people-schema.ts";

/** Who changes something, and from where. */
export interface Actor {
  /** The person's address, `operator` or `system`. */
  readonly name: string;
  readonly personId: string | null;
  readonly country: string | null;
  readonly ipHash: string | null;
}

/** The operator at a terminal, who is no person that signed in. */
export const OPERATOR: Actor = { name: "operator", personId: null, country: null, ipHash: null };

export interface ActivityEntry {
  readonly at: Date;
  readonly actor: string;
  readonly action: string;
  readonly about: string;
  readonly country: string | null;
}

export interface ActivityPage {
  readonly entries: readonly ActivityEntry[];
  /** Where the next page begins; null on the last page. */
  readonly next: number | null;
}

const PAGE_SIZE = 50;

/** Writes a line. `action` is a word such as `key_created`; `about` says of what. */
export async function recordActivity(
  tx: Transaction,
  account: number,
  { actor, action, about }: { readonly actor: Actor; readonly action: string; about: string },
  now: Date,
): Promise<void> {
  const { name, personId: person, country, ipHash } = actor;
  const who = { actor: name, person, country, ipHash };
  await tx.insert(activity).values({ account, at: now, action, about, ...who });
}

/** The newest lines, or those before the one that the last page named. */
export async function listActivity(
  { db }: Database,
  account: number,
  before: number | null,
): Promise<ActivityPage> {
  const older = before === null ? undefined : lt(activity.number, before);
  const rows = await db
    .select()
    .from(activity)
    .where(and(eq(activity.account, account), older))
    .orderBy(desc(activity.number))
    .limit(PAGE_SIZE + 1);
  const entries = rows.slice(0, PAGE_SIZE);
  return { entries, next: rows.length > PAGE_SIZE ? (entries.at(-1)?.number ?? null) : null };
}
