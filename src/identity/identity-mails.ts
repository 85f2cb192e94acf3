// Sends the mails that people get about signing in; in development their proofs are shown instead.

import { AsyncLocalStorage } from "node:async_hooks";
import type { ReadBrand } from "../core/brand/brand.ts";
import { type ServiceMailKind, type ServiceMailParts, serviceMail } from "../core/service-mail.ts";
import { addServiceMail } from "../store/mail/outbox.ts";
import type { Database } from "../store/servers/database.ts";
import type { Transaction } from "../store/servers/transaction.ts";

/** The proof in a mail: the address behind its button, or its code. */
export interface MailedProof {
  readonly link?: string;
  readonly code?: string;
}

interface IdentityMailsDeps {
  readonly database: Database;
  readonly now: () => number;
  readonly brand: ReadBrand;
  /** The address of the dashboard, without a slash at its end. */
  readonly dashboard: string;
}

interface MailParts extends Omit<ServiceMailParts, "brand"> {
  readonly to: string;
  /** The proof in the mail; by default the address behind its button. */
  readonly proof?: MailedProof;
}

interface InvitationTerms {
  readonly to: string;
  readonly token: string;
  readonly invitedBy: string;
  readonly account: string;
  readonly role: string;
}

const IGNORE = "If this was not you, you can ignore this mail: nothing happens without it.";

export class IdentityMails {
  readonly #seen = new AsyncLocalStorage<{ proof: MailedProof | null }>();

  constructor(readonly deps: IdentityMailsDeps) {}

  /** Runs `work`, and returns the proof of the mail that it caused. */
  async watch<T>(work: () => Promise<T>): Promise<{ result: T; proof: MailedProof | null }> {
    const seen: { proof: MailedProof | null } = { proof: null };
    const result = await this.#seen.run(seen, work);
    return { result, proof: seen.proof };
  }

  async verification(to: string, token: string): Promise<void> {
    await this.#send("verification", {
      to,
      subject: "Confirm your address",
      paragraphs: [
        "You asked for an account with this address. Confirm it, and your account is open.",
        `The link works for 24 hours. ${IGNORE}`,
      ],
      button: { label: "Confirm this address", url: this.#link("verify", token) },
    });
  }

  /** Answers a sign-up with an inbox that has an account already. */
  async alreadyKnown(to: string): Promise<void> {
    await this.#send("verification", {
      to,
      subject: "You already have an account",
      paragraphs: [
        "You asked for an account with this address, but it has one. Sign in, or set a new " +
          "password if you no longer know yours.",
        IGNORE,
      ],
      button: { label: "Sign in", url: `${this.deps.dashboard}/sign-in` },
    });
  }

  async code(to: string, code: string): Promise<void> {
    await this.#send("one_time_code", {
      to,
      subject: `${code} is your code`,
      paragraphs: [
        "Enter this code where you asked for it. It works once, for five minutes.",
        `Give it to nobody; we never ask for it. ${IGNORE}`,
      ],
      facts: [["Code", code]],
      proof: { code },
    });
  }

  async passwordReset(to: string, token: string): Promise<void> {
    await this.#send("password_reset", {
      to,
      subject: "Set a new password",
      paragraphs: [
        "Somebody asked to set a new password for this address.",
        `The link works for one hour, once. ${IGNORE}`,
      ],
      button: { label: "Set a new password", url: this.#link("reset", token) },
    });
  }

  async changeEmail(to: string, token: string): Promise<void> {
    await this.#send("verification", {
      to,
      subject: "Confirm your new address",
      paragraphs: [
        "You asked to sign in with this address from now on. Confirm it while you are signed in.",
        `The link works for one hour. ${IGNORE}`,
      ],
      button: { label: "Use this address", url: this.#link("change-email", token) },
    });
  }

  /**
   * Adds the mail in the transaction of the invitation. False if the inbox has had too many
   * invitations.
   */
  async invitation(
    tx: Transaction,
    { to, token, invitedBy, account, role }: InvitationTerms,
  ): Promise<boolean> {
    return await this.#add(tx, "invitation", {
      to,
      subject: `${invitedBy} invites you`,
      paragraphs: [
        `${invitedBy} invites you to the account "${account}".`,
        "Sign in or sign up with this address to accept. The link works for seven days.",
      ],
      facts: [["Role", role]],
      button: { label: "See the invitation", url: this.#link("invitation", token) },
    });
  }

  /**
   * Informs a person that how they sign in has changed. `first` is a step before setting a new
   * password, with "and" after it.
   */
  async notice(to: string, what: string, first = ""): Promise<void> {
    await this.#send("security_notice", {
      to,
      subject: what,
      paragraphs: [
        `${what}. If this was you, there is nothing to do.`,
        `If it was not, ${first}set a new password now, which also ends all sessions.`,
      ],
      button: { label: "Set a new password", url: `${this.deps.dashboard}/forgot` },
    });
  }

  /** Informs a person's former address, which can do nothing more about it. */
  async formerAddress(to: string, what: string): Promise<void> {
    await this.#send("security_notice", {
      to,
      subject: what,
      paragraphs: [
        `${what}. If this was you, there is nothing to do.`,
        "If it was not, tell whoever runs this service at once: the address that this mail went " +
          "to no longer signs in, and no link to a new password is sent to it.",
      ],
    });
  }

  /**
   * Returns the address of a page that asks before it redeems the token: mail scanners open links.
   * The token is in the part that browsers send to no server, so that no access log has it.
   */
  #link(page: string, token: string): string {
    return `${this.deps.dashboard}/${page}#token=${encodeURIComponent(token)}`;
  }

  async #send(kind: ServiceMailKind, parts: MailParts): Promise<void> {
    await this.deps.database.db.transaction((tx) => this.#add(tx, kind, parts));
  }

  /** False if the inbox has had too many mails of this kind. */
  async #add(
    tx: Transaction,
    kind: ServiceMailKind,
    { to, proof, ...parts }: MailParts,
  ): Promise<boolean> {
    const { now, brand } = this.deps;
    const mail = { ...serviceMail({ ...parts, brand: brand() }), kind, to, account: null };
    const added = await addServiceMail(tx, mail, new Date(now()));
    const seen = this.#seen.getStore();
    if (seen !== undefined && added === "added") {
      seen.proof = proof ?? (parts.button === undefined ? {} : { link: parts.button.url });
    }
    return added !== "limited";
  }
}
