// The first account of a person, and the free credit that an inbox, a network and a device get once
// (DESIGN section 7). The whole sign-up is one transaction, which a repeat does not change.

import { eq } from "drizzle-orm";
import { firstAccountName } from "../../core/account-name.ts";
import type { RandomBytes } from "../../core/ids.ts";
import { type OfferedLanguages, offeredLanguage } from "../../core/languages.ts";
import {
  type AccountRef,
  bookFreeCredit,
  insertAccount,
  type SignUpGrant,
} from "../accounts/accounts.ts";
import { type Actor, recordActivity } from "../accounts/activity.ts";
import type { Database } from "../servers/database.ts";
import type { Transaction } from "../servers/transaction.ts";
import { accounts } from "../tables/account-schema.ts";
import { memberships, people, signUpGrants } from "../tables/people-schema.ts";

/** One thing that gets free credit once, or the allowance of one account, as a keyed hash. */
export interface GrantMark {
  readonly kind: "inbox" | "network" | "device";
  readonly hash: string;
}

/** The marks of a person's address, network and device at sign-up. */
export interface SignUpOrigin {
  /** One mark of each kind for each secret that still counts. */
  readonly marks: readonly GrantMark[];
  readonly isDisposable: boolean;
  readonly actor: Actor;
}

interface SignUpDeps {
  readonly database: Database;
  readonly random: RandomBytes;
}

interface NewOwner {
  readonly personId: string;
  readonly now: Date;
  /** The account is named in the one that the person keeps, or in the first one. */
  readonly languages: OfferedLanguages;
}

/** One of the marks has had free credit. Undoes the marks of this attempt. */
class AlreadyGranted extends Error {}

/**
 * Opens the first account of a person whose inbox is verified, with free credit where it is due.
 * Null if that was done before, or the person was invited to an account and needs none yet.
 */
export async function openFirstAccount(
  { database, random }: SignUpDeps,
  { personId, now, languages }: NewOwner,
  origin: (email: string) => SignUpOrigin,
): Promise<AccountRef | null> {
  const [known] = await database.db
    .select({ openedAt: people.openedAt })
    .from(people)
    .where(eq(people.id, personId));
  if (known === undefined || known.openedAt !== null) return null;
  return await database.db.transaction(async (tx) => {
    const [person] = await tx.select().from(people).where(eq(people.id, personId)).for("update");
    if (person === undefined || person.openedAt !== null || !person.emailVerified) return null;
    const { email } = person;
    const from = origin(email);
    const { actor } = from;
    const owner = person.name === "" ? email.slice(0, email.indexOf("@")) : person.name;
    const language = offeredLanguage(person.language, languages) ?? languages[0];
    const name = firstAccountName(owner, language);
    const row = await insertAccount(tx, { surface: "gateway", email, name }, { random, now });
    const grant = await takeGrant(tx, from, { account: row.number, now });
    if (grant === "granted") await bookFreeCredit(tx, row.number, { now });
    await tx.update(accounts).set({ signUpGrant: grant }).where(eq(accounts.number, row.number));
    await tx.insert(memberships).values({
      account: row.number,
      person: personId,
      role: "owner",
      joinedAt: now,
    });
    const line = { actor, action: "account_opened", about: name, at: now };
    await recordActivity(tx, row.number, line);
    await tx.update(people).set({ openedAt: now }).where(eq(people.id, personId));
    return { id: row.id, bucket: row.bucket };
  });
}

/**
 * Takes the marks for the free credit, or the free plan, of an account: all of them or none.
 * Another transaction with one of these marks waits for this transaction.
 */
export async function takeGrant(
  tx: Transaction,
  { marks, isDisposable }: Pick<SignUpOrigin, "marks" | "isDisposable">,
  { account, now }: { readonly account: number; readonly now: Date },
): Promise<SignUpGrant> {
  if (isDisposable) return "disposable_inbox";
  // In one order everywhere, so that two sign-ups cannot wait for each other.
  const rows = [...marks]
    .sort((a, b) => (`${a.kind}${a.hash}` < `${b.kind}${b.hash}` ? -1 : 1))
    .map((mark) => ({ ...mark, account, createdAt: now }));
  try {
    await tx.transaction(async (inner) => {
      for (const row of rows) {
        const taken = await inner
          .insert(signUpGrants)
          .values(row)
          .onConflictDoNothing()
          .returning({ hash: signUpGrants.hash });
        if (taken.length === 0) throw new AlreadyGranted();
      }
    });
    return "granted";
  } catch (error) {
    if (error instanceof AlreadyGranted) return "used_elsewhere";
    throw error;
  }
}
