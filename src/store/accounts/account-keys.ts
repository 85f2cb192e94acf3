// Single keys of an account, for changes that its people make.

import { and, eq, isNull } from "drizzle-orm";
import { lockAccount, raiseVersion } from "../ledger/operations.ts";
import type { Database } from "../servers/database.ts";
import { keys } from "../tables/account-schema.ts";
import { type AccountRow, type AlsoInTransaction, type KeyRow, keyRow } from "./accounts.ts";

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

/** A key and its new name. */
interface NamedKey {
  /** The number of the account. */
  readonly account: number;
  readonly keyId: string;
  readonly name: string;
}

/** Gives a key of this account another name; false if it is revoked. */
export async function renameKey(
  { db }: Database,
  { account, keyId, name }: NamedKey,
  also?: AlsoInTransaction,
): Promise<boolean> {
  return await db.transaction(async (tx) => {
    await lockAccount(tx, account);
    const renamed = await tx
      .update(keys)
      .set({ name })
      .where(and(eq(keys.account, account), eq(keys.id, keyId), isNull(keys.revokedAt)))
      .returning({ id: keys.id });
    if (renamed.length === 0) return false;
    await raiseVersion(tx, account);
    await also?.(tx, account);
    return true;
  });
}
