// The line about a change, written in the change's own transaction, with who made it.

import type { ConsoleFrameDeps, PersonContext } from "../http/console-endpoint.ts";
import type { AlsoInTransaction } from "../store/accounts.ts";
import { type Actor, recordActivity } from "../store/activity.ts";

type Context = Pick<PersonContext<ConsoleFrameDeps>, "person" | "client" | "deps">;

/** The person of a request, as a line names them. */
export function actorOf({ person, client }: Context): Actor {
  const { email: name, personId } = person;
  return { name, personId, country: client.country, ipHash: client.ipHash };
}

/** Writes that the person of a request did `action`; `about` says to what, in words. */
export function noted(context: Context, action: string, about: string): AlsoInTransaction {
  const now = new Date(context.deps.clock.now());
  return (tx, account) => {
    return recordActivity(tx, account, { actor: actorOf(context), action, about }, now);
  };
}
