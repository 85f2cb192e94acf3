// People as the operator makes them: with a verified inbox, and links to sign in with.

import { eq } from "drizzle-orm";
import type { Role } from "../../core/access/roles.ts";
import { hashToken } from "../../core/console-tokens.ts";
import { newId, newSuffix, type RandomBytes } from "../../core/ids.ts";
import { OPERATOR, recordActivity } from "../accounts/activity.ts";
import type { Database } from "../servers/database.ts";
import { accounts } from "../tables/account-schema.ts";
import { memberships, people, verifications } from "../tables/people-schema.ts";

interface KnownPerson {
  readonly email: string;
  readonly name: string;
  readonly isOperator: boolean;
  /** False if the first sign-in must not open an account: the person belongs to one. */
  readonly opensAccount: boolean;
}

/** Returns the id of the person with this inbox; makes the person if needed. */
export async function ensurePerson(
  { db }: Database,
  { email, name, isOperator, opensAccount }: KnownPerson,
  { random, now }: { readonly random: RandomBytes; readonly now: Date },
): Promise<string> {
  const [row] = await db
    .insert(people)
    .values({
      id: newId("person", random),
      email: email.toLowerCase(),
      name,
      isOperator,
      emailVerified: true,
      openedAt: opensAccount ? null : now,
      createdAt: now,
    })
    .onConflictDoUpdate({
      target: people.email,
      set: isOperator ? { isOperator } : { emailVerified: true },
    })
    .returning({ id: people.id });
  if (row === undefined) throw new Error(`The person ${email} was not stored`);
  return row.id;
}

/** Makes a person an operator or not. False if no person has this address. */
export async function setOperator(
  { db }: Database,
  email: string,
  isOperator: boolean,
): Promise<boolean> {
  const changed = await db
    .update(people)
    .set({ isOperator })
    .where(eq(people.email, email.toLowerCase()))
    .returning({ id: people.id });
  return changed.length > 0;
}

/** True if there is an operator. */
export async function hasOperator({ db }: Database): Promise<boolean> {
  const [row] = await db
    .select({ id: people.id })
    .from(people)
    .where(eq(people.isOperator, true))
    .limit(1);
  return row !== undefined;
}

/** Stores a link that signs the person in once. The token is stored under `name`. */
export async function addSignInLink(
  { db }: Database,
  { personId, name, expiresAt }: { personId: string; name: string; expiresAt: Date },
  random: RandomBytes,
): Promise<void> {
  const identifier = hashToken(name);
  const id = newSuffix(random);
  await db.insert(verifications).values({ id, identifier, value: personId, expiresAt });
}

/** Makes a person a member of an account, unless they are one. */
export async function ensureMember(
  { db }: Database,
  { personId, accountId, role }: { personId: string; accountId: string; role: Role },
  now: Date,
): Promise<void> {
  await db.transaction(async (tx) => {
    const [account] = await tx.select().from(accounts).where(eq(accounts.id, accountId));
    if (account === undefined) throw new Error(`There is no account ${accountId}`);
    const added = await tx
      .insert(memberships)
      .values({ account: account.number, person: personId, role, joinedAt: now })
      .onConflictDoNothing()
      .returning({ role: memberships.role });
    if (added.length === 0) return;
    const [person] = await tx
      .select({ email: people.email })
      .from(people)
      .where(eq(people.id, personId));
    const about = `${person?.email} as ${role}`;
    const line = { actor: OPERATOR, action: "person_joined", about, at: now };
    await recordActivity(tx, account.number, line);
  });
}
