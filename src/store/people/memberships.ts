// The members of accounts and their roles. A change that takes a role from a member locks the
// account's row, so that two owners cannot leave an account without an owner at the same time.

import { and, asc, eq, gt, isNull } from "drizzle-orm";
import { mayAct, type Role } from "../../core/access/roles.ts";
import { hashToken } from "../../core/console-tokens.ts";
import { moveMails } from "../accounts/account-mails.ts";
import type { AccountRow, AlsoInTransaction } from "../accounts/accounts.ts";
import { lockAccount } from "../ledger/operations.ts";
import type { Database } from "../servers/database.ts";
import type { Transaction } from "../servers/transaction.ts";
import { accounts } from "../tables/account-schema.ts";
import { invitations, memberships, people } from "../tables/people-schema.ts";

type Person = Readonly<typeof people.$inferSelect>;
type Membership = Readonly<typeof memberships.$inferSelect>;
type Invitation = Readonly<typeof invitations.$inferSelect>;

export interface MemberRow
  extends Pick<Person, "email" | "name">,
    Pick<Membership, "role" | "joinedAt"> {
  readonly personId: string;
}

export type InvitationRow = Pick<Invitation, "id" | "email" | "role" | "invitedBy" | "expiresAt">;

export interface NewInvitation extends InvitationRow {
  /** The number of the account. */
  readonly account: number;
  readonly token: string;
  /** Whoever sends it, whose address at that moment is `invitedBy`; null for the operator. */
  readonly personId: string | null;
}

type Account = Pick<AccountRow, "number">;

/** The reasons for refusing a change of a membership. */
export type MembershipProblem = "no_member" | "last_owner" | "owner_only";

/** The people of an account, in the order in which they joined. */
export async function listMembers({ db }: Database, { number }: Account): Promise<MemberRow[]> {
  return await db
    .select({
      personId: people.id,
      email: people.email,
      name: people.name,
      role: memberships.role,
      joinedAt: memberships.joinedAt,
    })
    .from(memberships)
    .innerJoin(people, eq(people.id, memberships.person))
    .where(eq(memberships.account, number))
    .orderBy(asc(memberships.joinedAt), asc(people.id));
}

/** Invitations that can still be accepted. */
export async function listInvitations(
  { db }: Database,
  { number }: Account,
  now: Date,
): Promise<InvitationRow[]> {
  return await db
    .select()
    .from(invitations)
    .where(and(eq(invitations.account, number), isOpen(), gt(invitations.expiresAt, now)))
    .orderBy(asc(invitations.createdAt));
}

interface MemberChange {
  /** The number of the account. */
  readonly account: number;
  readonly personId: string;
  /** Null removes the person from the account. */
  readonly role: Role | null;
  /** The role of the person who makes the change; null if people change themselves. */
  readonly by: Role | null;
  readonly now: Date;
}

/** Functions that run in the transaction of a change, and can undo it by an error. */
interface AlsoChanged {
  readonly changed: (tx: Transaction, email: string) => Promise<void>;
  /** Called for each invitation that ended with the role of its sender, with its address. */
  readonly withdrawn: (tx: Transaction, email: string) => Promise<void>;
}

/**
 * Changes a role or ends a membership, and ends the invitations that the member may no longer send
 * (D-342). Returns null, or why it was not done.
 */
export async function changeMember(
  { db }: Database,
  { account, personId, role, by, now }: MemberChange,
  also: AlsoChanged,
): Promise<MembershipProblem | null> {
  const isMember = and(eq(memberships.account, account), eq(memberships.person, personId));
  return await db.transaction(async (tx) => {
    await lockAccount(tx, account);
    const [member] = await tx
      .select({ role: memberships.role, email: people.email })
      .from(memberships)
      .innerJoin(people, eq(people.id, memberships.person))
      .where(isMember);
    if (member === undefined) return "no_member";
    if (member.role === role) return null;
    const isAboutOwner = member.role === "owner" || role === "owner";
    if (by !== null && by !== "owner" && isAboutOwner) return "owner_only";
    if (member.role === "owner" && (await countOwners(tx, account)) === 1) return "last_owner";
    // Before the change: people who change their own role still have it.
    await also.changed(tx, member.email);
    if (role === null) await tx.delete(memberships).where(isMember);
    else await tx.update(memberships).set({ role }).where(isMember);
    if (member.role === "owner") await moveMailsToOwner(tx, account, member.email);
    const ended = await endInvitationsBy(tx, account, { ...member, role, now });
    for (const email of ended) await also.withdrawn(tx, email);
    return null;
  });
}

/** Ends the open invitations by a member that their new role does not allow. */
async function endInvitationsBy(
  tx: Transaction,
  account: number,
  { email, role, now }: { readonly email: string; readonly role: Role | null; readonly now: Date },
): Promise<readonly string[]> {
  if (role === "owner") return [];
  const mayInvite = role !== null && mayAct(role, "admin");
  const ended = await tx
    .update(invitations)
    .set({ endedAt: now })
    .where(
      and(
        eq(invitations.account, account),
        eq(invitations.invitedBy, email),
        isOpen(),
        mayInvite ? eq(invitations.role, "owner") : undefined,
      ),
    )
    .returning({ email: invitations.email });
  return ended.map((invitation) => invitation.email);
}

/** Mails about an account that went to a former owner go to the owner who joined first. */
async function moveMailsToOwner(tx: Transaction, number: number, former: string): Promise<void> {
  const [owner] = await tx
    .select({ email: people.email })
    .from(memberships)
    .innerJoin(people, eq(people.id, memberships.person))
    .where(and(eq(memberships.account, number), eq(memberships.role, "owner")))
    .orderBy(asc(memberships.joinedAt))
    .limit(1);
  if (owner !== undefined) await moveMails(tx, number, { from: former, to: owner.email });
}

async function countOwners(tx: Transaction, account: number): Promise<number> {
  const owners = await tx
    .select({ person: memberships.person })
    .from(memberships)
    .where(and(eq(memberships.account, account), eq(memberships.role, "owner")));
  return owners.length;
}

/** Stores an invitation. An earlier one of the same inbox to the account ends. */
export async function addInvitation(
  { db }: Database,
  { token, personId, ...invitation }: NewInvitation,
  { now, also }: { readonly now: Date; readonly also: AlsoInTransaction },
): Promise<"added" | "member"> {
  const { account } = invitation;
  return await db.transaction(async (tx) => {
    await lockAccount(tx, account);
    const [member] = await tx
      .select({ person: memberships.person })
      .from(memberships)
      .innerJoin(people, eq(people.id, memberships.person))
      .where(and(eq(memberships.account, account), eq(people.email, invitation.email)));
    if (member !== undefined) return "member";
    const ofInbox = eq(invitations.email, invitation.email);
    await tx
      .update(invitations)
      .set({ endedAt: now })
      .where(and(eq(invitations.account, account), ofInbox, isOpen()));
    const tokenHash = hashToken(token);
    const invitedBy = (personId && (await addressIn(tx, personId))) ?? invitation.invitedBy;
    await tx.insert(invitations).values({ ...invitation, invitedBy, tokenHash });
    await also(tx, account);
    return "added";
  });
}

/** A person's address, which stays the same until the transaction ends. */
async function addressIn(tx: Transaction, personId: string): Promise<string | null> {
  const [person] = await tx
    .select({ email: people.email })
    .from(people)
    .where(eq(people.id, personId))
    .for("share");
  return person?.email ?? null;
}

/** Ends an invitation. False if the account has no open invitation with this id. */
export async function withdrawInvitation(
  { db }: Database,
  { account, id, now }: { readonly account: number; readonly id: string; readonly now: Date },
  also: (tx: Transaction, email: string) => Promise<void>,
): Promise<boolean> {
  return await db.transaction(async (tx) => {
    const [ended] = await tx
      .update(invitations)
      .set({ endedAt: now })
      .where(and(eq(invitations.account, account), eq(invitations.id, id), isOpen()))
      .returning();
    if (ended === undefined) return false;
    await also(tx, ended.email);
    return true;
  });
}

interface Accepting {
  readonly token: string;
  readonly person: { readonly personId: string; readonly email: string };
  readonly now: Date;
}

/**
 * Makes the person a member, if the invitation is open and to the person's own verified inbox. Null
 * in every other case. Members keep the role that they have; `also` gets the role that counts.
 */
export async function acceptInvitation(
  { db }: Database,
  { token, person, now }: Accepting,
  also: (tx: Transaction, account: number, role: Role) => Promise<void>,
): Promise<AccountRow | null> {
  return await db.transaction(async (tx) => {
    const [ended] = await tx
      .update(invitations)
      .set({ endedAt: now })
      .where(
        and(
          eq(invitations.tokenHash, hashToken(token)),
          eq(invitations.email, person.email),
          gt(invitations.expiresAt, now),
          isOpen(),
        ),
      )
      .returning();
    if (ended === undefined) return null;
    const { account } = ended;
    const { personId } = person;
    await tx
      .insert(memberships)
      .values({ account, person: personId, role: ended.role, joinedAt: now })
      .onConflictDoNothing();
    const [member] = await tx
      .select({ role: memberships.role })
      .from(memberships)
      .where(and(eq(memberships.account, account), eq(memberships.person, personId)));
    await also(tx, account, member?.role ?? ended.role);
    const [row] = await tx.select().from(accounts).where(eq(accounts.number, account));
    return row ?? null;
  });
}

function isOpen() {
  return isNull(invitations.endedAt);
}
