// Defines the frame's view of people: the person of a session, and their role in an account.

import type { Role } from "../../core/access/roles.ts";
import type { AccountRow } from "../../store/accounts/accounts.ts";
import type { Transaction } from "../../store/servers/transaction.ts";

/** A person with a session. */
export interface SignedIn {
  readonly personId: string;
  readonly email: string;
  readonly name: string;
  readonly isOperator: boolean;
  /** True if signing in requires a second factor, or if this session began with two. */
  readonly hasTwoFactor: boolean;
  /**
   * True if the session began with a second factor, or with a link that the operator of the
   * installation made.
   */
  readonly isStrong: boolean;
  /** True if this session began at the provider of single sign-on. */
  readonly isBySso: boolean;
  readonly sessionId: string;
  /** The time of the last password, code or link in this session. */
  readonly provedAtMs: number;
}

/** A person's place in an account. */
export interface Membership {
  readonly account: AccountRow;
  readonly role: Role;
}

export interface People {
  /** The person whose session these headers carry; null without a session. */
  signedIn(headers: Headers): Promise<SignedIn | null>;
  /** Null if no such account exists, or if the person does not belong to it. */
  membership(personId: string, accountId: string): Promise<Membership | null>;
  /** True if the session exists in the transaction of a change. */
  hasSession(tx: Transaction, person: Pick<SignedIn, "personId" | "sessionId">): Promise<boolean>;
  /** The role in the transaction of a change; null if the person no longer has one. */
  roleIn(tx: Transaction, personId: string, account: number): Promise<Role | null>;
  /** True if the session exists in the transaction of a change and is an operator's. */
  isOperatorIn(tx: Transaction, sessionId: string): Promise<boolean>;
}
