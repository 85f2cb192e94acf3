// Keys of the playground end by time or with their session, also when their process is gone.

import { and, eq, isNull, lt, notExists, or, type SQL, sql } from "drizzle-orm";
import { accounts, keys } from "./account-schema.ts";
import type { AccountRef } from "./accounts.ts";
import type { Database } from "./database.ts";
import { raiseVersion } from "./operations.ts";
import { sessions } from "./people-schema.ts";

/**
 * Revokes every key of the playground whose time or session has ended. Returns their accounts, of
 * which Redis must still be told.
 */
export async function revokeEndedKeys({ db }: Database, now: Date): Promise<AccountRef[]> {
  const ended = endedBy(now);
  const owners = await db
    .selectDistinct({ number: accounts.number, id: accounts.id, bucket: accounts.bucket })
    .from(keys)
    .innerJoin(accounts, eq(accounts.number, keys.account))
    .where(ended);
  for (const { number } of owners) {
    await db.transaction(async (tx) => {
      // The account first, as everywhere: the opposite order could deadlock.
      await raiseVersion(tx, number);
      await tx
        .update(keys)
        .set({ revokedAt: now })
        .where(and(eq(keys.account, number), ended));
    });
  }
  return owners;

  function endedBy(time: Date): SQL | undefined {
    const session = db
      .select({ found: sql`1` })
      .from(sessions)
      .where(eq(sessions.id, keys.session));
    const hasEnded = or(lt(keys.expiresAt, time), notExists(session));
    return and(sql`${keys.expiresAt} IS NOT NULL`, isNull(keys.revokedAt), hasEnded);
  }
}
