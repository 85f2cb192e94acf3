// Makes one-time links to sign in with, for an operator.

import { newToken } from "../core/console-tokens.ts";
import { MINUTE_MS } from "../core/durations.ts";
import type { RandomBytes } from "../core/ids.ts";
import { addSignInLink } from "../store/people/known-people.ts";
import type { Database } from "../store/servers/database.ts";
import { linkName } from "./auth-terms.ts";

export const LINK_MINUTES = 15;

interface SignInLink {
  readonly personId: string;
  readonly origin: string;
  /** The page that the link leads to; by default the dashboard of the person's own accounts. */
  readonly next?: string;
}

/**
 * Returns the address of a page that signs the person in once, by a button; it ends after 15
 * minutes.
 */
export async function makeSignInLink(
  database: Database,
  { personId, origin, next }: SignInLink,
  { random, now }: { readonly random: RandomBytes; readonly now: Date },
): Promise<string> {
  const token = newToken(random);
  const expiresAt = new Date(now.getTime() + LINK_MINUTES * MINUTE_MS);
  await addSignInLink(database, { personId, name: linkName(token), expiresAt }, random);
  const query = next === undefined ? "" : `?next=${encodeURIComponent(next)}`;
  return `${origin}/dashboard/link${query}#token=${token}`;
}
