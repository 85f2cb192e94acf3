// Changes the people of an account: invites, withdraws an invitation, changes a role, removes. The
// console does it for a member, the command line for the operator.

import type { Role } from "../core/access/roles.ts";
import { ConsoleError } from "../core/console-errors.ts";
import { newToken } from "../core/console-tokens.ts";
import { newId, type RandomBytes } from "../core/ids.ts";
import { LIMIT_WINDOW_MS } from "../core/service-mail.ts";
import type { AccountRow, AlsoInTransaction } from "../store/accounts/accounts.ts";
import {
  addInvitation,
  changeMember,
  type MembershipProblem,
  withdrawInvitation,
} from "../store/people/memberships.ts";
import type { Database } from "../store/servers/database.ts";
import type { IdentityMails } from "./identity-mails.ts";

const INVITATION_MS = 7 * 24 * 60 * 60 * 1_000;

/** The member or operator who makes a change. */
export interface TeamActor {
  /** The name that invited people read. */
  readonly name: string;
  /** Null for the operator, who is no member. */
  readonly personId: string | null;
  /** Limits the changes of the person; the operator has the rights of an owner. */
  readonly role: Role;
  /** Writes the line about the change, in its transaction. @throws ConsoleError to undo it */
  readonly noted: (action: string, about: string) => AlsoInTransaction;
  /** Writes the line about a consequence of the change. */
  readonly alsoNoted: (action: string, about: string) => AlsoInTransaction;
}

export interface TeamDeps {
  readonly database: Database;
  readonly random: RandomBytes;
  readonly mails: Pick<IdentityMails, "invitation">;
  readonly now: () => number;
}

/** The account whose team is changed, and the actor of the change. */
interface TeamChange<Actor = TeamActor> {
  readonly account: AccountRow;
  readonly by: Actor;
}

interface Invitation extends TeamChange {
  readonly email: string;
  readonly role: Role;
}

/**
 * Invites a person by mail.
 * @throws ConsoleError if the person belongs to the account already
 */
export async function inviteToAccount(
  { database, random, mails, now: clock }: TeamDeps,
  { account, by, email, role }: Invitation,
): Promise<string> {
  if (role === "owner" && by.role !== "owner") throw problem("owner_only");
  const token = newToken(random);
  const now = new Date(clock());
  const id = newId("invitation", random);
  const invitation = {
    account: account.number,
    id,
    email,
    role,
    token,
    invitedBy: by.name,
    personId: by.personId,
    expiresAt: new Date(now.getTime() + INVITATION_MS),
  };
  const noted = by.noted("person_invited", `${email} as ${role}`);
  const about = { to: email, token, invitedBy: by.name, account: account.name ?? account.id, role };
  const also: AlsoInTransaction = async (tx, number) => {
    await noted(tx, number);
    // An invitation without a mail could not be accepted, and the invitation before would have
    // ended.
    if (!(await mails.invitation(tx, about))) throw tooManyMails(email);
  };
  if ((await addInvitation(database, invitation, { now, also })) === "member") {
    throw new ConsoleError("already_member", `${email} belongs to this account already`);
  }
  return id;
}

function tooManyMails(email: string): ConsoleError {
  return new ConsoleError(
    "too_many_attempts",
    `${email} has had as many invitations as one inbox may in an hour. Try again later`,
    LIMIT_WINDOW_MS / 1_000,
  );
}

/** Ends an open invitation. @throws ConsoleError if no open invitation has this id */
export async function withdrawFromAccount(
  { database, now }: TeamDeps,
  { account, by, id }: TeamChange<Pick<TeamActor, "noted">> & { readonly id: string },
): Promise<void> {
  const invitation = { account: account.number, id, now: new Date(now()) };
  const done = await withdrawInvitation(database, invitation, (tx, email) =>
    by.noted("invitation_withdrawn", email)(tx, account.number),
  );
  if (!done) throw new ConsoleError("invitation_not_found", `There is no open invitation ${id}`);
}

interface MemberChange extends TeamChange<Omit<TeamActor, "name" | "personId">> {
  readonly personId: string;
  /** Null removes the person from the account. */
  readonly role: Role | null;
  /** True if people end their own membership. */
  readonly isOwn?: true;
}

/** Changes a role or ends a membership. @throws ConsoleError that names the rule it breaks */
export async function changeTeam(
  { database, now }: Pick<TeamDeps, "database" | "now">,
  { account, by, personId, role, isOwn }: MemberChange,
): Promise<void> {
  const action = role !== null ? "role_changed" : isOwn ? "person_left" : "person_removed";
  const right = isOwn ? null : by.role;
  const change = { account: account.number, personId, role, by: right, now: new Date(now()) };
  const found = await changeMember(database, change, {
    changed(tx, email) {
      const about = role === null ? email : `${email} is ${role}`;
      return by.noted(action, about)(tx, account.number);
    },
    withdrawn: (tx, email) => by.alsoNoted("invitation_withdrawn", email)(tx, account.number),
  });
  if (found !== null) throw problem(found);
}

const WORDS: Readonly<Record<MembershipProblem, string>> = {
  no_member: "The account has no such member",
  last_owner: "An account needs an owner: make somebody else an owner first",
  owner_only: "Only an owner may make, change or remove an owner",
};

function problem(found: MembershipProblem): ConsoleError {
  return new ConsoleError(found === "no_member" ? "person_not_found" : found, WORDS[found]);
}
