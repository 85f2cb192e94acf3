// People, their sessions, and the accounts they belong to, as the console reads them.

import { and, asc, desc, eq, gt, inArray, isNull, lt, ne, or, sql } from "drizzle-orm";
import type { Role } from "../../core/access/roles.ts";
import type { Language } from "../../core/languages.ts";
import { moveMails } from "../accounts/account-mails.ts";
import type { AccountRow } from "../accounts/accounts.ts";
import type { Database } from "../servers/database.ts";
import { despiteDeadlocks } from "../servers/deadlocks.ts";
import { isDuplicate } from "../servers/sql-errors.ts";
import type { Queries, Transaction } from "../servers/transaction.ts";
import { accounts } from "../tables/account-schema.ts";
import {
  invitations,
  memberships,
  people,
  personCredentials,
  sessions,
  twoFactors,
  verifications,
} from "../tables/people-schema.ts";

type Person = Readonly<typeof people.$inferSelect>;

export interface PersonRow
  extends Pick<Person, "id" | "email" | "name" | "isOperator" | "twoFactorEnabled" | "language"> {
  readonly hasPasskey: boolean;
  /** True if the person has any second factor: an app or a passkey. */
  readonly hasFactor: boolean;
}

// The columns by their names: in a query of one table, columns are written without their table.
const HAS_PASSKEY = sql<boolean>`EXISTS (SELECT 1 FROM passkeys WHERE person = people.id)`;
const PERSON = {
  id: people.id,
  email: people.email,
  name: people.name,
  isOperator: people.isOperator,
  twoFactorEnabled: people.twoFactorEnabled,
  language: people.language,
  hasPasskey: HAS_PASSKEY,
  hasFactor: sql<boolean>`(two_factor_enabled OR ${HAS_PASSKEY})`,
};

/** An account that a person belongs to. */
export interface OwnAccount {
  readonly account: AccountRow;
  readonly role: Role;
}

export type SessionRow = Readonly<
  Pick<typeof sessions.$inferSelect, "id" | "userAgent" | "country" | "createdAt" | "expiresAt">
>;

export class PeopleStore {
  constructor(readonly database: Database) {}

  async find(id: string): Promise<PersonRow | null> {
    const [row] = await this.database.db.select(PERSON).from(people).where(eq(people.id, id));
    return row ?? null;
  }

  async findByEmail(email: string): Promise<PersonRow | null> {
    const [row] = await this.database.db
      .select(PERSON)
      .from(people)
      .where(eq(people.email, email.toLowerCase()));
    return row ?? null;
  }

  /** Null if there is no such account, or the person does not belong to it. */
  async membership(personId: string, accountId: string): Promise<OwnAccount | null> {
    const [row] = await this.database.db
      .select({ account: accounts, role: memberships.role })
      .from(memberships)
      .innerJoin(accounts, eq(accounts.number, memberships.account))
      .where(and(eq(memberships.person, personId), eq(accounts.id, accountId)));
    return row ?? null;
  }

  /** The accounts of a person, oldest first. */
  async accountsOf(personId: string): Promise<OwnAccount[]> {
    return await this.database.db
      .select({ account: accounts, role: memberships.role })
      .from(memberships)
      .innerJoin(accounts, eq(accounts.number, memberships.account))
      .where(eq(memberships.person, personId))
      .orderBy(asc(accounts.number));
  }

  /** The live sessions of a person, newest first. */
  async sessionsOf(personId: string, now: Date): Promise<SessionRow[]> {
    return await this.database.db
      .select()
      .from(sessions)
      .where(and(eq(sessions.userId, personId), gt(sessions.expiresAt, now)))
      .orderBy(desc(sessions.createdAt));
  }

  /** True if a person has this session, once no end of it is being stored. */
  async hasSession(personId: string, sessionId: string): Promise<boolean> {
    const found = await sessionIn(this.database.db, personId, sessionId).for("share");
    return found.length > 0;
  }

  /** The same as a transaction sees it, without a lock that would keep the session from ending. */
  async hasSessionIn(tx: Transaction, personId: string, sessionId: string): Promise<boolean> {
    return (await sessionIn(tx, personId, sessionId)).length > 0;
  }

  /**
   * Ends one session of a person, and the person's proofs: the device of the session may be
   * trusted. False if the person has no such session.
   */
  async endSession(personId: string, sessionId: string): Promise<boolean> {
    return await this.#together(async (tx) => {
      const ended = await tx
        .delete(sessions)
        .where(and(eq(sessions.userId, personId), eq(sessions.id, sessionId)))
        .returning({ id: sessions.id });
      if (ended.length === 0) return false;
      await endProofsIn(tx, personId);
      return true;
    });
  }

  /** Ends all sessions of a person but one, and their proofs. */
  async endOtherSessions(personId: string, keptId: string): Promise<void> {
    await this.#together(async (tx) => {
      await tx.delete(sessions).where(and(eq(sessions.userId, personId), ne(sessions.id, keptId)));
      await endProofsIn(tx, personId);
    });
  }

  /** Notes that the person of a session has a passkey at hand, which is a second factor. */
  async markPasskeyIn(tx: Transaction, sessionId: string): Promise<void> {
    await tx.update(sessions).set({ byPasskey: true }).where(eq(sessions.id, sessionId));
  }

  /** Deletes the sessions that ended before this time. Returns how many. */
  async deleteEndedSessions(before: Date): Promise<number> {
    const ended = await this.database.db
      .delete(sessions)
      .where(lt(sessions.expiresAt, before))
      .returning({ id: sessions.id });
    return ended.length;
  }

  async rename(personId: string, name: string): Promise<void> {
    await this.database.db.update(people).set({ name }).where(eq(people.id, personId));
  }

  async setLanguage(personId: string, language: Language): Promise<void> {
    await this.database.db.update(people).set({ language }).where(eq(people.id, personId));
  }

  /** Sets the language of a person who has none yet. */
  async setFirstLanguage(personId: string, language: Language): Promise<void> {
    await this.database.db
      .update(people)
      .set({ language })
      .where(and(eq(people.id, personId), isNull(people.language)));
  }

  /** The role in the transaction of a change; null for a person who is no member. */
  async roleIn(tx: Transaction, personId: string, account: number): Promise<Role | null> {
    const [row] = await tx
      .select({ role: memberships.role })
      .from(memberships)
      .where(and(eq(memberships.person, personId), eq(memberships.account, account)));
    return row?.role ?? null;
  }

  /** The session facts of an operator, in the transaction of a change; null if it has ended. */
  async operatorIn(
    tx: Transaction,
    sessionId: string,
  ): Promise<{ readonly isOperator: boolean; readonly ssoGroup: string | null } | null> {
    const [row] = await tx
      .select({ isOperator: people.isOperator, ssoGroup: sessions.ssoGroup })
      .from(sessions)
      .innerJoin(people, eq(people.id, sessions.userId))
      .where(eq(sessions.id, sessionId));
    return row ?? null;
  }

  /**
   * The hash of a person's password, after changes that are being stored; null without a password.
   */
  async passwordHash(personId: string): Promise<string | null> {
    const { userId, providerId, password } = personCredentials;
    const [row] = await this.database.db
      .select({ password })
      .from(personCredentials)
      .where(and(eq(userId, personId), eq(providerId, "credential")))
      .for("share");
    return row?.password ?? null;
  }

  /** True while no code of a person's second factor is taken, after too many wrong ones. */
  async isFactorLocked(personId: string, now: Date): Promise<boolean> {
    const [row] = await this.database.db
      .select({ id: twoFactors.id })
      .from(twoFactors)
      .where(and(eq(twoFactors.userId, personId), gt(twoFactors.lockedUntil, now)));
    return row !== undefined;
  }

  /** Ends the links, codes and proofs by which this person could sign in. Sessions stay. */
  async endProofs(personId: string): Promise<void> {
    await despiteDeadlocks(() => endProofsIn(this.database.db, personId));
  }

  /**
   * Gives a person another verified address, and ends their proofs. Mails about accounts that they
   * own go there too, if they went to the address before. False if another person has it.
   */
  async changeEmail(personId: string, email: string): Promise<boolean> {
    try {
      return await this.#together(async (tx) => {
        // Locked before the person, in the order in which changes of a team take their locks.
        const owned = await tx
          .select({ number: accounts.number })
          .from(accounts)
          .where(inArray(accounts.number, ownedBy(tx, personId)))
          .orderBy(asc(accounts.number))
          .for("update");
        const [before] = await tx
          .select()
          .from(people)
          .where(eq(people.id, personId))
          .for("update");
        if (before === undefined) return false;
        for (const { number } of owned)
          await moveMails(tx, number, { from: before.email, to: email });
        // Before the address changes, because a mailed code is stored under the old address.
        await endProofsIn(tx, personId);
        await tx.update(people).set({ email }).where(eq(people.id, personId));
        // Invitations have the address of their sender, and end with the sender's role.
        await tx
          .update(invitations)
          .set({ invitedBy: email })
          .where(and(eq(invitations.invitedBy, before.email), isNull(invitations.endedAt)));
        return true;
      });
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  /** Notes that the person of a session has just proved who they are. */
  async prove(sessionId: string, now: Date): Promise<void> {
    await this.database.db
      .update(sessions)
      .set({ provedAt: now })
      .where(eq(sessions.id, sessionId));
  }

  /** Runs work in one transaction that locks rows in another order than better-auth does. */
  #together<Value>(work: (tx: Transaction) => Promise<Value>): Promise<Value> {
    return despiteDeadlocks(() => this.database.db.transaction(work));
  }
}

function sessionIn(queries: Queries, personId: string, sessionId: string) {
  return queries
    .select({ id: sessions.id })
    .from(sessions)
    .where(and(eq(sessions.userId, personId), eq(sessions.id, sessionId)));
}

function ownedBy(tx: Transaction, personId: string) {
  return tx
    .select({ account: memberships.account })
    .from(memberships)
    .where(and(eq(memberships.person, personId), eq(memberships.role, "owner")));
}

/** The beginning of the name under which a mailed sign-in code is stored; the address follows. */
export const SIGN_IN_CODE = "sign-in-otp-";

/**
 * Ends the proofs by which a person could sign in: mailed and made links, mailed codes, sign-ins
 * that wait for the second factor, and devices that need none (D-551). Each proof has the person's
 * id as its value, except for the code that was mailed to the person's address.
 */
export async function endProofsIn(queries: Queries, personId: string): Promise<void> {
  const name = sql`convert_to(${SIGN_IN_CODE} || ${people.email}, 'UTF8')`;
  const code = sql`(SELECT encode(sha256(${name}), 'hex') FROM ${people}
    WHERE ${people.id} = ${personId})`;
  await queries
    .delete(verifications)
    .where(or(eq(verifications.value, personId), eq(verifications.identifier, code)));
}
