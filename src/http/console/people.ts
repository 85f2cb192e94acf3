// Who is signed in, and what they may do: what the console's frame asks of identity and store.

import type { Role } from "../../core/access/roles.ts";
import type { AccountRow } from "../../store/accounts/accounts.ts";
import type { Transaction } from "../../store/servers/transaction.ts";

/** A person with a session. */
export interface SignedIn {
  readonly personId: string;
  readonly email: string;
  readonly name: string;
  readonly isOperator: boolean;
  /** Whether signing in asks for a second factor, or this session began with two. */
  readonly hasTwoFactor: boolean;
  /** Whether it began with a second factor, or a link that whoever runs the installation made. */
  readonly isStrong: boolean;
  /** Whether this session began at the provider of single sign-on. */
  readonly isBySso: boolean;
  readonly sessionId: string;
  /** When this session last proved who it is, by a password, a code or a link. */
  readonly provedAtMs: number;
}

/** A person's place in an account. */
export interface Membership {
  readonly account: AccountRow;
  readonly role: Role;
}

export interface People {
  /** The person whose session these headers carry; null if there is none. */
  signedIn(headers: Headers): Promise<SignedIn | null>;
  /** Null if there is no such account, or the person does not belong to it. */
  membership(personId: string, accountId: string): Promise<Membership | null>;
  /** Whether the session is there, as the transaction of a change sees it. */
  hasSession(tx: Transaction, person: Pick<SignedIn, "personId" | "sessionId">): Promise<boolean>;
  /** The role as the transaction of a change sees it; null if the person has none any longer. */
  roleIn(tx: Transaction, personId: string, account: number): Promise<Role | null>;
  /** Whether a session is there and an operator's, as the transaction of a change sees it. */
  isOperatorIn(tx: Transaction, sessionId: string): Promise<boolean>;
}
