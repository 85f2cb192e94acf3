// Adds the line about a change and its person to the activity, in the transaction of the change.

import { mayAct, type Role } from "../core/access/roles.ts";
import { ConsoleError } from "../core/console-errors.ts";
import type { ConsoleFrameDeps, PersonContext } from "../http/console/console-endpoint.ts";
import type { AlsoInTransaction } from "../store/accounts/accounts.ts";
import { type Actor, recordActivity } from "../store/accounts/activity.ts";
import type { Transaction } from "../store/servers/transaction.ts";

type PersonPart = Pick<PersonContext<ConsoleFrameDeps>, "person" | "client" | "deps">;

/** `role` is the role by which the frame let the person in, if the change is about an account. */
type ActingPerson = PersonPart & { readonly role?: Role };

/** The person of a request, for a line of the activity. */
export function actorOf({ person, client }: PersonPart): Actor {
  const { email: name, personId } = person;
  return { name, personId, country: client.country, ipHash: client.ipHash };
}

/**
 * Writes that the person of a request did `action`; `about` names its subject in words. Undoes the
 * change if the person has meanwhile lost the session, or the role by which the frame let them in
 * (D-522).
 */
export function noted(context: ActingPerson, action: string, about: string): AlsoInTransaction {
  const write = alsoNoted(context, action, about);
  return async (tx, account) => {
    await requireSession(context, tx);
    await requireRole(context, tx, account);
    await write(tx, account);
  };
}

/**
 * Writes only the line, about a consequence of a change or a change that can no longer be undone.
 */
export function alsoNoted(context: ActingPerson, action: string, about: string): AlsoInTransaction {
  const at = new Date(context.deps.clock.now());
  return (tx, account) => {
    return recordActivity(tx, account, { actor: actorOf(context), action, about, at });
  };
}

/** @throws ConsoleError if the session of the request has ended meanwhile */
export async function requireSession(
  { deps, person }: Pick<PersonPart, "deps" | "person">,
  tx: Transaction,
): Promise<void> {
  if (await deps.people.hasSession(tx, person)) return;
  throw new ConsoleError("not_signed_in", "You have just been signed out");
}

async function requireRole(
  { deps, person, role }: ActingPerson,
  tx: Transaction,
  account: number,
): Promise<void> {
  if (role === undefined) return;
  const present = await deps.people.roleIn(tx, person.personId, account);
  if (present !== null && mayAct(present, role)) return;
  throw new ConsoleError("role_required", "Your role in this account has just been changed");
}
