// The activity of an account: a line for each change by a person. The line is written in the
// transaction of the change, so neither is ever stored without the other.

import { and, desc, eq, lt } from "drizzle-orm";
import type { StoredRow } from "../../core/records.ts";
import type { Database } from "../servers/database.ts";
import type { Transaction } from "../servers/transaction.ts";
import { activity } from "../tables/people-schema.ts";

/** The author of a change, and the place that the request came from. */
export interface Actor {
  /** The person's address, `operator` or `system`. */
  readonly name: string;
  readonly personId: string | null;
  readonly country: string | null;
  readonly ipHash: string | null;
}

/** The operator at a terminal, without a session of a person. */
export const OPERATOR: Actor = { name: "operator", personId: null, country: null, ipHash: null };

/** A line about a change. */
export interface ActivityLine {
  readonly actor: Actor;
  /** A word such as `key_created`. */
  readonly action: string;
  /** The changed thing, in words. */
  readonly about: string;
  readonly at: Date;
}

/** Writes a line about an account. */
export async function recordActivity(
  tx: Transaction,
  account: number,
  { actor, action, about, at }: ActivityLine,
): Promise<void> {
  const { name, personId: person, country, ipHash } = actor;
  const who = { actor: name, person, country, ipHash };
  await tx.insert(activity).values({ account, at, action, about, ...who });
}

/** The newest lines, or those before a number. */
export async function listActivity(
  { db }: Database,
  account: number,
  { before, count }: { readonly before: number | null; readonly count: number },
): Promise<readonly StoredRow[]> {
  const older = before === null ? undefined : lt(activity.number, before);
  return await db
    .select()
    .from(activity)
    .where(and(eq(activity.account, account), older))
    .orderBy(desc(activity.number))
    .limit(count);
}
