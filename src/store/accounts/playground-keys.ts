// Keys of the playground end by time or with their session, also when their process is gone.

import { and, eq, isNull, lt, notExists, or, type SQL, sql } from "drizzle-orm";
import { raiseVersion } from "../ledger/operations.ts";
import type { Database } from "../servers/database.ts";
import { accounts, keys } from "../tables/account-schema.ts";
import { sessions } from "../tables/people-schema.ts";
import type { AccountRef } from "./accounts.ts";

/**
 * Revokes every key of the playground whose time or session has ended. Returns the accounts of
 * these keys: the caller must write their access documents to Redis.
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
