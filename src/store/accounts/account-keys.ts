// Single keys of an account, for changes that its people make.

import { and, eq, isNull, sql } from "drizzle-orm";
import type { KeyChange } from "../../core/access/key-limits.ts";
import { lockAccount, raiseVersion } from "../ledger/operations.ts";
import type { Database } from "../servers/database.ts";
import { keys } from "../tables/account-schema.ts";
import { type AccountRow, type AlsoInTransaction, type KeyRow, keyRow } from "./accounts.ts";
import { refuseTooManyPatterns } from "./key-limits.ts";

type KeyOwner = Pick<AccountRow, "number">;

/** A key of this account; null also for a key of another one. */
export async function findKey(
  { db }: Database,
  { number }: KeyOwner,
  keyId: string,
): Promise<KeyRow | null> {
  const [row] = await db
    .select()
    .from(keys)
    .where(and(eq(keys.account, number), eq(keys.id, keyId)));
  return row === undefined ? null : keyRow(row);
}

/** The name of a key; null if no key has this id. */
export async function keyName({ db }: Database, keyId: string): Promise<string | null> {
  const [row] = await db.select({ name: keys.name }).from(keys).where(eq(keys.id, keyId));
  return row?.name ?? null;
}

/** A key, and its new name or limits. A missing one stays as it is. */
export interface ChangedKey extends KeyChange {
  /** The number of the account. */
  readonly account: number;
  readonly keyId: string;
  readonly name?: string;
}

/**
 * Changes a key of this account; false if it is revoked.
 * @throws TooManyKeys
 */
export async function changeKey(
  { db }: Database,
  { account, keyId, isDisabled, models, tags, ...columns }: ChangedKey,
  also?: AlsoInTransaction,
): Promise<boolean> {
  return await db.transaction(async (tx) => {
    await lockAccount(tx, account);
    if (models !== undefined) await refuseTooManyPatterns(tx, account, { keyId, models });
    const change = {
      // Drizzle leaves columns that are undefined as they are.
      ...columns,
      ...(isDisabled !== undefined && {
        disabledAt: isDisabled ? sql`coalesce(${keys.disabledAt}, now())` : null,
      }),
      ...(tags !== undefined && { tags: [...tags] }),
      ...(models !== undefined && { models: models === null ? null : [...models] }),
    };
    const changed = await tx
      .update(keys)
      .set(change)
      .where(and(eq(keys.account, account), eq(keys.id, keyId), isNull(keys.revokedAt)))
      .returning({ id: keys.id });
    if (changed.length === 0) return false;
    await raiseVersion(tx, account);
    await also?.(tx, account);
    return true;
  });
}
