// Opens accounts for applications, and gives accounts names.

import { and, eq, ne } from "drizzle-orm";
import type { RandomBytes } from "../../core/ids.ts";
import { type AccountRow, type AlsoInTransaction, insertAccount } from "../accounts/accounts.ts";
import type { Database } from "../servers/database.ts";
import { accounts } from "../tables/account-schema.ts";
import { memberships, people } from "../tables/people-schema.ts";
import { type SignUpOrigin, takeGrant } from "./sign-up.ts";

interface NewOwnAccount {
  readonly personId: string;
  readonly email: string;
  readonly name: string;
  /** The number of accounts for applications that a person may own and that are not closed. */
  readonly most: number;
  /**
   * A person who opened an account from here before has the allowance of that account alone. Null
   * if an operator opens the account.
   */
  readonly origin: Pick<SignUpOrigin, "marks" | "isDisposable"> | null;
}

interface OpeningTerms {
  readonly random: RandomBytes;
  readonly now: Date;
  readonly also: AlsoInTransaction;
}

/** Opens an account for applications, owned by the person; null if they own enough of them. */
export async function openApplicationAccount(
  { db }: Database,
  { personId, email, name, most, origin }: NewOwnAccount,
  { random, now, also }: OpeningTerms,
): Promise<AccountRow | null> {
  return await db.transaction(async (tx) => {
    await tx.select({ id: people.id }).from(people).where(eq(people.id, personId)).for("update");
    const owned = await tx
      .select({ number: accounts.number })
      .from(memberships)
      .innerJoin(accounts, eq(accounts.number, memberships.account))
      .where(
        and(
          eq(memberships.person, personId),
          eq(memberships.role, "owner"),
          eq(accounts.surface, "application"),
          ne(accounts.state, "closed"),
        ),
      );
    if (owned.length >= most) return null;
    const row = await insertAccount(tx, { surface: "application", email, name }, { random, now });
    const { number: account } = row;
    const grant = origin === null ? "granted" : await takeGrant(tx, origin, { account, now });
    if (grant !== "granted") {
      await tx.update(accounts).set({ signUpGrant: grant }).where(eq(accounts.number, account));
    }
    await tx
      .insert(memberships)
      .values({ account, person: personId, role: "owner", joinedAt: now });
    await also(tx, account);
    return row;
  });
}

/** Gives an account another name. No access document has the name, so no version is raised. */
export async function renameAccount(
  { db }: Database,
  { number, name }: Pick<AccountRow, "number"> & { readonly name: string },
  also: AlsoInTransaction,
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.update(accounts).set({ name }).where(eq(accounts.number, number));
    await also(tx, number);
  });
}
