// The line about a change, written in the change's own transaction, with who made it.

import { mayAct, type Role } from "../core/access/roles.ts";
import { ConsoleError } from "../core/console-errors.ts";
import type { ConsoleFrameDeps, PersonContext } from "../http/console/console-endpoint.ts";
import type { AlsoInTransaction } from "../store/accounts/accounts.ts";
import { type Actor, recordActivity } from "../store/accounts/activity.ts";
import type { Transaction } from "../store/servers/transaction.ts";

type PersonPart = Pick<PersonContext<ConsoleFrameDeps>, "person" | "client" | "deps">;

/** `role` is the one by which the frame let the person in, if the change is about an account. */
type Context = PersonPart & { readonly role?: Role };

/** The person of a request, as a line names them. */
export function actorOf({ person, client }: PersonPart): Actor {
  const { email: name, personId } = person;
  return { name, personId, country: client.country, ipHash: client.ipHash };
}

/**
 * Writes that the person of a request did `action`; `about` says to what, in words. Undoes the
 * change if they have meanwhile lost the session or the role by which they were let in (D-380).
 */
export function noted(context: Context, action: string, about: string): AlsoInTransaction {
  const write = alsoNoted(context, action, about);
  return async (tx, account) => {
    await requireSession(context, tx);
    await requireRole(context, tx, account);
    await write(tx, account);
  };
}

/** The line alone, about what followed from a change or can no longer be undone. */
export function alsoNoted(context: Context, action: string, about: string): AlsoInTransaction {
  const at = new Date(context.deps.clock.now());
  return (tx, account) => {
    return recordActivity(tx, account, { actor: actorOf(context), action, about, at });
  };
}

/** @throws ConsoleError if the session of a request has ended meanwhile */
export async function requireSession(
  { deps, person }: Pick<PersonPart, "deps" | "person">,
  tx: Transaction,
): Promise<void> {
  if (await deps.people.hasSession(tx, person)) return;
  throw new ConsoleError("not_signed_in", "You have just been signed out");
}

async function requireRole(
  { deps, person, role }: Context,
  tx: Transaction,
  account: number,
): Promise<void> {
  if (role === undefined) return;
  const present = await deps.people.roleIn(tx, person.personId, account);
  if (present !== null && mayAct(present, role)) return;
  throw new ConsoleError("role_required", "Your role in this account has just been changed");
}
