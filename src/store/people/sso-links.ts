// Links people with subjects of providers of single sign-on. A subject is the provider's own id of
// a person, which stays the same when the person's address changes.

import { and, eq, isNotNull, like, type SQL } from "drizzle-orm";
import { newId, newSuffix, type RandomBytes } from "../../core/ids.ts";
import type { Database } from "../servers/database.ts";
import { despiteDeadlocks } from "../servers/deadlocks.ts";
import { isDuplicate } from "../servers/sql-errors.ts";
import { people, personCredentials, sessions } from "../tables/people-schema.ts";
import { endProofsIn } from "./people.ts";

/** Somebody, as a provider knows them. */
export interface SsoIdentity {
  readonly issuer: string;
  readonly subject: string;
}

export type SsoPerson = Readonly<Pick<typeof people.$inferSelect, "id" | "email" | "isOperator">>;

export interface SsoLink extends SsoIdentity {
  readonly createdAt: Date;
}

const PREFIX = "sso ";
const PERSON = { id: people.id, email: people.email, isOperator: people.isOperator };

export class SsoLinks {
  constructor(readonly database: Database) {}

  /** The person who is linked to this subject, or null. */
  async find({ issuer, subject }: SsoIdentity): Promise<SsoPerson | null> {
    const [row] = await this.database.db
      .select(PERSON)
      .from(personCredentials)
      .innerJoin(people, eq(people.id, personCredentials.userId))
      .where(
        and(
          eq(personCredentials.providerId, PREFIX + issuer),
          eq(personCredentials.accountId, subject),
        ),
      );
    return row ?? null;
  }

  /** Links a person. False if the person has another link to this provider, or the link another. */
  async link(
    personId: string,
    { issuer, subject }: SsoIdentity,
    { random, now }: { readonly random: RandomBytes; readonly now: Date },
  ): Promise<boolean> {
    const added = await this.database.db
      .insert(personCredentials)
      .values({
        id: newSuffix(random),
        userId: personId,
        providerId: PREFIX + issuer,
        accountId: subject,
        createdAt: now,
      })
      .onConflictDoNothing()
      .returning({ id: personCredentials.id });
    return added.length > 0;
  }

  /**
   * Makes a person with a link, who is no operator and gets no account. Null if a person has the
   * address or the link already.
   */
  async addPerson(
    identity: SsoIdentity,
    { email, name }: { readonly email: string; readonly name: string },
    { random, now }: { readonly random: RandomBytes; readonly now: Date },
  ): Promise<SsoPerson | null> {
    const { issuer, subject } = identity;
    try {
      return await this.database.db.transaction(async (tx) => {
        const [person] = await tx
          .insert(people)
          .values({
            id: newId("person", random),
            email,
            name,
            emailVerified: true,
            openedAt: now,
            createdAt: now,
          })
          .returning(PERSON);
        if (person === undefined) throw new Error(`The person ${email} was not stored`);
        const id = newSuffix(random);
        const link = { id, userId: person.id, providerId: PREFIX + issuer, accountId: subject };
        await tx.insert(personCredentials).values({ ...link, createdAt: now });
        return person;
      });
    } catch (error) {
      if (isDuplicate(error)) return null;
      throw error;
    }
  }

  /** The links of a person. */
  async list(personId: string): Promise<SsoLink[]> {
    const rows = await this.database.db.select().from(personCredentials).where(linksOf(personId));
    return rows.map(({ providerId, accountId, createdAt }) => ({
      issuer: providerId.slice(PREFIX.length),
      subject: accountId,
      createdAt,
    }));
  }

  /** True if a person has a link to this provider, once no removal of it is being stored. */
  async isLinked(personId: string, issuer: string): Promise<boolean> {
    const { id, userId, providerId } = personCredentials;
    const [row] = await this.database.db
      .select({ id })
      .from(personCredentials)
      .where(and(eq(userId, personId), eq(providerId, PREFIX + issuer)))
      .for("share");
    return row !== undefined;
  }

  /**
   * Removes the links of a person, and ends the sessions that began with one, and sign-ins that
   * wait for the second factor.
   */
  async removeAll(personId: string): Promise<void> {
    const remove = () =>
      this.database.db.transaction(async (tx) => {
        await tx.delete(personCredentials).where(linksOf(personId));
        await tx
          .delete(sessions)
          .where(and(eq(sessions.userId, personId), isNotNull(sessions.ssoIssuer)));
        await endProofsIn(tx, personId);
      });
    await despiteDeadlocks(remove);
  }
}

function linksOf(personId: string): SQL | undefined {
  const { userId, providerId } = personCredentials;
  return and(eq(userId, personId), like(providerId, `${PREFIX}%`));
}
