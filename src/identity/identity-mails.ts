// Sends the mails that people get about signing in; in development their proofs are shown instead.

import { AsyncLocalStorage } from "node:async_hooks";
import type { Role } from "../core/access/roles.ts";
import type { ReadBrand } from "../core/brand/brand.ts";
import { type Language, languageOf } from "../core/languages.ts";
import { type MailContentOf, type MailTexts, mailOfReader } from "../core/mails/mail-texts.ts";
import type { ServiceMailKind } from "../core/service-mail.ts";
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

interface Mail {
  readonly to: string;
  /** The person's present address if it is another one. */
  readonly reader?: string;
  readonly content: MailContentOf;
  /** The proof in the mail, or the address behind its button. */
  readonly proof: MailedProof;
}

interface InvitationTerms {
  readonly to: string;
  readonly token: string;
  readonly invitedBy: string;
  readonly account: string;
  readonly role: Role;
}

/** The sentence of a change in the ways to sign in, by the texts of a language. */
export type Notice = (notices: MailTexts["notices"]) => string;

interface Seen {
  /** The language of the request that causes mails; null for a command. */
  readonly language: Language | null;
  proof: MailedProof | null;
}

export class IdentityMails {
  readonly #seen = new AsyncLocalStorage<Seen>();

  constructor(readonly deps: IdentityMailsDeps) {}

  /**
   * Runs `work`, and returns the proof of the mail that it caused. Readers without a language of
   * their own get that of the request with these headers.
   */
  async watch<T>(
    headers: Headers | null,
    work: () => Promise<T>,
  ): Promise<{ result: T; proof: MailedProof | null }> {
    const offered = this.deps.brand().languages;
    const language = headers === null ? null : languageOf(headers, offered);
    const seen: Seen = { language, proof: null };
    const result = await this.#seen.run(seen, work);
    return { result, proof: seen.proof };
  }

  async verification(to: string, token: string): Promise<void> {
    const url = this.#link("verify", token);
    await this.#send("verification", {
      to,
      proof: { link: url },
      content: ({ verification: words }) => ({
        subject: words.subject,
        paragraphs: words.paragraphs,
        button: { label: words.button, url },
      }),
    });
  }

  /** Answers a sign-up with an inbox that has an account already. */
  async alreadyKnown(to: string): Promise<void> {
    const url = `${this.deps.dashboard}/sign-in`;
    await this.#send("verification", {
      to,
      proof: { link: url },
      content: ({ alreadyKnown: words, buttons }) => ({
        ...words,
        button: { label: buttons.signIn, url },
      }),
    });
  }

  async code(to: string, code: string): Promise<void> {
    await this.#send("one_time_code", {
      to,
      proof: { code },
      content: ({ code: words, facts }) => ({
        subject: words.subject(code),
        paragraphs: words.paragraphs,
        facts: [[facts.code, code]],
      }),
    });
  }

  async passwordReset(to: string, token: string): Promise<void> {
    const url = this.#link("reset", token);
    await this.#send("password_reset", {
      to,
      proof: { link: url },
      content: ({ passwordReset: words, buttons }) => ({
        ...words,
        button: { label: buttons.newPassword, url },
      }),
    });
  }

  async changeEmail(to: string, token: string): Promise<void> {
    const url = this.#link("change-email", token);
    await this.#send("verification", {
      to,
      proof: { link: url },
      content: ({ changeEmail: words }) => ({
        subject: words.subject,
        paragraphs: words.paragraphs,
        button: { label: words.button, url },
      }),
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
    const url = this.#link("invitation", token);
    return await this.#add(tx, "invitation", {
      to,
      proof: { link: url },
      content: ({ invitation: words, facts }) => ({
        subject: words.subject(invitedBy),
        paragraphs: words.paragraphs(invitedBy, account),
        facts: [[facts.role, words.roles[role]]],
        button: { label: words.button, url },
      }),
    });
  }

  /**
   * Informs a person of a change in how they sign in. After a new passkey, the mail tells the
   * person to remove the passkey first: a new password alone would not lock its owner out.
   */
  async notice(to: string, what: Notice, isPasskey = false): Promise<void> {
    const url = `${this.deps.dashboard}/forgot`;
    await this.#send("security_notice", {
      to,
      proof: { link: url },
      content: ({ notices, noticeParagraphs, buttons }) => ({
        subject: what(notices),
        paragraphs: noticeParagraphs(what(notices), isPasskey),
        button: { label: buttons.newPassword, url },
      }),
    });
  }

  /**
   * Informs a person's former address, which can do nothing more about it, in the language of the
   * person, who now has the other address.
   */
  async formerAddress(to: string, present: string, what: Notice): Promise<void> {
    await this.#send("security_notice", {
      to,
      reader: present,
      proof: {},
      content: ({ notices, formerAddressParagraphs }) => ({
        subject: what(notices),
        paragraphs: formerAddressParagraphs(what(notices)),
      }),
    });
  }

  /**
   * Returns the address of a page that asks before it redeems the token: mail scanners open links.
   * The token is in the part that browsers send to no server, so that no access log has it.
   */
  #link(page: string, token: string): string {
    return `${this.deps.dashboard}/${page}#token=${encodeURIComponent(token)}`;
  }

  async #send(kind: ServiceMailKind, mail: Mail): Promise<void> {
    await this.deps.database.db.transaction((tx) => this.#add(tx, kind, mail));
  }

  /** False if the inbox has had too many mails of this kind. */
  async #add(
    tx: Transaction,
    kind: ServiceMailKind,
    { proof, content, ...address }: Mail,
  ): Promise<boolean> {
    const { now, brand } = this.deps;
    const seen = this.#seen.getStore();
    const write = mailOfReader(brand(), content, seen?.language ?? null);
    const added = await addServiceMail(
      tx,
      { kind, ...address, account: null, write },
      new Date(now()),
    );
    if (seen !== undefined && added === "added") seen.proof = proof;
    return added !== "limited";
  }
}
