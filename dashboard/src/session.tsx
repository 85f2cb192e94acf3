// The signed-in person, their open account, and the values that the browser remembers.

import { useSuspenseQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { MeReply } from "../../src/console/people/me-schema.ts";
import { meQuery } from "./api/queries.ts";

export type Account = MeReply["accounts"][number];

const LAST_ACCOUNT = "farebox-account";

/** The person who is signed in; pages inside the frame always have one. */
export function useMe(): MeReply {
  return useSuspenseQuery(meQuery).data;
}

/** The account of this address. */
export function useAccount(): Account {
  const { accounts } = useMe();
  const { account } = useParams({ strict: false });
  const open = accounts.find(({ id }) => id === account);
  if (open === undefined) throw new Error(`${account} is none of this person's accounts`);
  return open;
}

/** The account to open where the address names none: the last one, or the first. */
export function accountToOpen({ accounts }: MeReply): Account | null {
  const last = remembered(LAST_ACCOUNT);
  return accounts.find(({ id }) => id === last) ?? accounts[0] ?? null;
}

export function rememberAccount(id: string): void {
  remember(LAST_ACCOUNT, id);
}

/** Reads a value that this browser keeps; null if the browser keeps nothing. */
export function remembered(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function remember(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Private windows may refuse; the next visit then begins with the first account.
  }
}

export function forget(name: string): void {
  try {
    localStorage.removeItem(name);
  } catch {
    // A private window may refuse to remove a value; it did not keep that value either.
  }
}
