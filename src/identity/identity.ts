// Ties together the identity of people in the console: who is signed in, which accounts they belong
// to, and how a person gets an account at the first sign-in.

import { isAPIError } from "better-auth/api";
import type { Role } from "../core/access/roles.ts";
import type { ReadBrand } from "../core/brand/brand.ts";
import { ConsoleError } from "../core/console-errors.ts";
import { keyedHash, newToken } from "../core/console-tokens.ts";
import { newSuffix, type RandomBytes } from "../core/ids.ts";
import { languageOf } from "../core/languages.ts";
import type { Log } from "../core/log.ts";
import type { SecretList } from "../core/secrets.ts";
import type { ClientInfo } from "../http/client-info.ts";
import type { Membership, People, SignedIn } from "../http/console/people.ts";
import type { AccountRef } from "../store/accounts/accounts.ts";
import { recordAction } from "../store/operators/operator-actions.ts";
import { Attempts } from "../store/people/attempts.ts";
import { PeopleStore, SIGN_IN_CODE } from "../store/people/people.ts";
import { type GrantMark, openFirstAccount, type SignUpOrigin } from "../store/people/sign-up.ts";
import { SsoLinks, type SsoPerson } from "../store/people/sso-links.ts";
import type { Database } from "../store/servers/database.ts";
import type { Transaction } from "../store/servers/transaction.ts";
import { type AttemptLimitsDeps, isFirst, noteSignIn } from "./attempt-limits.ts";
import { type Auth, createAuth, type PasswordHashes } from "./auth.ts";
import { DEVICE_HEADER, IP_HEADER, LOCAL_HEADER, LOCKED_SECONDS } from "./auth-terms.ts";
import { ComparedHashes } from "./compared-hashes.ts";
import { deviceOf } from "./device-cookie.ts";
import { IdentityMails, type MailedProof } from "./identity-mails.ts";
import { inboxOf, isDisposable, signUpNetworkOf } from "./inbox.ts";
import { Passkeys } from "./passkeys.ts";
import type { FactorHolder } from "./second-factor-plugin.ts";
import { Sso, type SsoConfig } from "./sso.ts";

/** The part of a request that shows if it was sent on this machine. */
interface Visitor {
  readonly isLocal: boolean;
}

export interface IdentityConfig {
  /** The origin of the console, such as `https://console.example.com`. */
  readonly origin: string;
  readonly secrets: SecretList;
  readonly brand: ReadBrand;
  /** True if an answer shows the mailed link or code: in development, which delivers no mail. */
  readonly showsMailsTo: (visitor: Visitor) => boolean;
  /** True if a network gets free credit once, as an inbox does. */
  readonly countsNetworks: boolean;
  /** The provider of single sign-on for operators; null if there is none. */
  readonly sso: SsoConfig | null;
}

export interface IdentityServices {
  readonly database: Database;
  readonly random: RandomBytes;
  readonly now: () => number;
  readonly log: Log;
  readonly clientInfo: (ip: string) => ClientInfo;
  /** Tests pass in hashes that cost less (D-331). */
  readonly passwords?: PasswordHashes;
  /** Gives Redis an account that was just opened. */
  readonly onOpened: (account: AccountRef) => Promise<unknown>;
}

/** The page that a provider of single sign-on sends the browser back to. */
const SSO_RETURN_PATH = "/dashboard/sso";
const EMAIL_CHANGE_MS = 60 * 60 * 1_000;

/**
 * The name under which a change waits. The token ends with the address, so the link is for this
 * address alone.
 */
const emailChangeName = (token: string) => `email:${token}`;
const newEmailIn = (token: string) => token.slice(token.indexOf(".") + 1);

const deviceIn = (headers: Headers | null) => headers?.get(DEVICE_HEADER) ?? null;

/** True if better-auth accepts the input; a failure that is not a refusal is thrown. */
async function isRight(check: Promise<unknown>): Promise<boolean> {
  try {
    await check;
    return true;
  } catch (error) {
    if (isAPIError(error)) return false;
    throw error;
  }
}

/** The marks that recognise a person who signs up a second time. */
interface Marked {
  readonly email: string;
  readonly network: string | null;
  readonly device: string | null;
}

type ChangedPerson = Pick<SignedIn, "personId" | "email" | "isOperator">;

/** The part of signing in that a request changes. */
export type SignInChange = "password" | "factor or address";

/**
 * Returns `on` if a person has a second factor. If not: `off` if this session can set up the first
 * one, `needs_link` if that takes a link. Pages offer only actions that this allows (D-551).
 */
export function secondFactorOf(
  { hasTwoFactor, isOperator, isStrong }: SignedIn,
  hasFactor: boolean,
): "on" | "off" | "needs_link" {
  if (hasTwoFactor || hasFactor) return "on";
  return isOperator && !isStrong ? "needs_link" : "off";
}

export class Identity implements People, AttemptLimitsDeps {
  readonly auth: Auth;
  readonly mails: IdentityMails;
  readonly attempts: Attempts;
  readonly store: PeopleStore;
  readonly passkeys: Passkeys;
  readonly sso: Sso | null;
  readonly compared = new ComparedHashes();
  readonly secret: string;
  readonly now: () => number;

  constructor(
    readonly config: IdentityConfig,
    readonly services: IdentityServices,
  ) {
    const { database, random, now, log, passwords } = services;
    const { origin, secrets, brand } = config;
    [this.secret] = secrets;
    this.now = now;
    this.attempts = new Attempts(database);
    this.store = new PeopleStore(database);
    this.mails = new IdentityMails({ database, now, brand, dashboard: `${origin}/dashboard` });
    this.passkeys = new Passkeys({ database, random, now, brand });
    const { mails, passkeys, compared, store: people } = this;
    const links = new SsoLinks(database);
    const redirectUri = `${origin}${SSO_RETURN_PATH}`;
    const onLinked = ({ id: personId, ...person }: SsoPerson, what: string) =>
      this.noteChange({ ...person, personId }, what);
    const sso =
      config.sso &&
      new Sso(config.sso, { links, people, mails, random, now, log, redirectUri, onLinked });
    this.sso = sso;
    this.auth = createAuth({
      database,
      random,
      now,
      log,
      origin,
      secrets,
      mails,
      passkeys,
      people,
      sso,
      passwords,
      compared,
      onSession: (personId, headers) => this.#onSession(personId, headers),
      onPasswordReset: async (personId) => {
        const person = await this.store.find(personId);
        if (person !== null) {
          await this.noteChange({ ...person, personId }, "The password was set by a mailed link");
        }
      },
      onSignedIn: async (email, headers) => {
        const device = deviceIn(headers);
        if (device !== null) await noteSignIn(this, { email, device });
      },
      countryOf: (headers) => this.#infoOf(headers)?.country ?? null,
    });
  }

  get origin(): string {
    return this.config.origin;
  }

  /** The fields that an answer gets for a mail: the link or code in development, otherwise none. */
  shown(visitor: Visitor, proof: MailedProof | null): { readonly development?: MailedProof } {
    return proof !== null && this.config.showsMailsTo(visitor) ? { development: proof } : {};
  }

  async signedIn(headers: Headers): Promise<SignedIn | null> {
    const cookie = headers.get("cookie");
    if (cookie === null) return null;
    const found = await this.auth.api.getSession({ headers: new Headers({ cookie }) });
    if (found === null) return null;
    const { session, user } = found;
    const { ssoIssuer = null, ssoGroup = null } = session;
    const sso = this.sso?.config ?? null;
    // A session that began at a provider which is no longer configured has ended.
    if (ssoIssuer !== null && ssoIssuer !== sso?.issuer) return null;
    const hasFactor = session.byPasskey === true || session.ssoFactor === true;
    return {
      personId: user.id,
      email: user.email,
      name: user.name,
      isOperator: this.#isOperator({ isOperator: user.isOperator === true, ssoGroup }),
      sessionId: session.id,
      hasTwoFactor: user.twoFactorEnabled === true || hasFactor,
      isStrong: session.strong === true,
      isBySso: ssoIssuer !== null,
      provedAtMs: (session.provedAt ?? session.createdAt).getTime(),
    };
  }

  /**
   * Requires that a session may change how its person signs in. A person with a second factor must
   * have given it. A mailbox alone must not make an operator's first factor: an operator without a
   * factor must have opened a link that was made on the command line (D-551).
   * @throws ConsoleError
   */
  async requireFactor(person: SignedIn, change: SignInChange): Promise<void> {
    if (person.hasTwoFactor) return;
    const known = await this.store.find(person.personId);
    const factor = secondFactorOf(person, known?.hasFactor === true);
    if (factor === "on") {
      const message = "Sign in with your second factor to change how you sign in";
      throw new ConsoleError("second_factor_required", message);
    }
    if (change === "password" || factor === "off") return;
    throw new ConsoleError(
      "operator_link_required",
      "Operators set up their second factor after signing in with a link of farebox person link",
    );
  }

  /** Writes a line in the operators' trail if the person is an operator. */
  async noteChange({ personId, email, isOperator }: ChangedPerson, about: string): Promise<void> {
    if (!isOperator) return;
    const { database, random } = this.services;
    await recordAction(
      database,
      {
        id: newSuffix(random),
        action: "sign_in",
        account: null,
        subject: personId,
        about,
        reason: "their own way to sign in",
      },
      {
        actor: { name: email, personId, country: null, ipHash: null },
        now: new Date(this.now()),
        confirm: async () => {},
        outcome: "done",
      },
    );
  }

  /** True if this is the password of the person who sent these headers. */
  async hasPassword(headers: Headers, password: string): Promise<boolean> {
    const cookie = headers.get("cookie") ?? "";
    return await isRight(
      this.auth.api.verifyPassword({ body: { password }, headers: new Headers({ cookie }) }),
    );
  }

  /** True if this code was mailed to the inbox last; it works once. */
  async hasCode(email: string, code: string): Promise<boolean> {
    const body = { email, otp: code, type: "sign-in" } as const;
    if (!(await isRight(this.auth.api.checkVerificationOTP({ body })))) return false;
    // The check leaves the code stored: of several requests at once, only the one that removes it
    // succeeds.
    const { internalAdapter } = await this.auth.$context;
    return (await internalAdapter.consumeVerificationValue(`${SIGN_IN_CODE}${email}`)) !== null;
  }

  /**
   * Informs a person whose code was wrong if their second factor is locked now: once for each lock.
   */
  async tellIfLocked({ id, email }: FactorHolder): Promise<void> {
    if (!(await this.store.isFactorLocked(id, new Date(this.now())))) return;
    if (!(await isFirst(this, `lock ${id}`, LOCKED_SECONDS * 1_000))) return;
    const minutes = LOCKED_SECONDS / 60;
    await this.mails.notice(email, ({ factorLocked }) => factorLocked(minutes));
  }

  /** Mails a link to a new address; opening the link makes it the person's address. */
  async askForEmailChange(personId: string, email: string): Promise<void> {
    const { random, now } = this.services;
    if ((await this.store.findByEmail(email)) !== null) {
      await this.mails.alreadyKnown(email);
      return;
    }
    // The page can show the address, and the value is the person alone, like the value of every
    // sign-in proof.
    const token = `${newToken(random)}.${email}`;
    const { internalAdapter } = await this.auth.$context;
    await internalAdapter.createVerificationValue({
      identifier: emailChangeName(token),
      value: personId,
      expiresAt: new Date(now() + EMAIL_CHANGE_MS),
    });
    await this.mails.changeEmail(email, token);
  }

  /**
   * Redeems such a link, which sets the new address. Null if the link is not valid for this person.
   */
  async changeEmail(person: SignedIn, token: string): Promise<string | null> {
    const { internalAdapter } = await this.auth.$context;
    const row = await internalAdapter.consumeVerificationValue(emailChangeName(token));
    if (row?.value !== person.personId) return null;
    const email = newEmailIn(token);
    if (!(await this.store.changeEmail(person.personId, email))) return null;
    await this.mails.formerAddress(person.email, email, ({ addressChanged }) =>
      addressChanged(email),
    );
    await this.noteChange(person, `The address was changed to ${email}`);
    return email;
  }

  /** The origin by which a person who opens an account with an allowance is recognised (D-389). */
  allowanceOrigin(
    email: string,
    request: Visitor & { readonly headers: Headers; readonly clientIp: string },
  ): Pick<SignUpOrigin, "marks" | "isDisposable"> {
    return {
      marks: this.#marks("allowance", this.#marked(email, request)),
      isDisposable: isDisposable(email),
    };
  }

  /** The marks that recognise a person who redeems a code that is for each person once. */
  voucherMarks(
    email: string,
    request: Visitor & { readonly headers: Headers; readonly clientIp: string },
  ): (batch: string) => Pick<SignUpOrigin, "marks" | "isDisposable"> {
    const marked = this.#marked(email, request);
    return (batch) => ({
      marks: this.#marks(`voucher ${batch}`, marked),
      isDisposable: isDisposable(email),
    });
  }

  #marked(
    email: string,
    {
      headers,
      clientIp,
      isLocal,
    }: Visitor & { readonly headers: Headers; readonly clientIp: string },
  ): Marked {
    const { id: device } = deviceOf(headers, this.origin, this.services.random);
    return { email, network: isLocal ? null : signUpNetworkOf(clientIp), device };
  }

  async membership(personId: string, accountId: string): Promise<Membership | null> {
    return await this.store.membership(personId, accountId);
  }

  async hasSession(
    tx: Transaction,
    { personId, sessionId }: Pick<SignedIn, "personId" | "sessionId">,
  ): Promise<boolean> {
    return await this.store.hasSessionIn(tx, personId, sessionId);
  }

  async roleIn(tx: Transaction, personId: string, account: number): Promise<Role | null> {
    return await this.store.roleIn(tx, personId, account);
  }

  async isOperatorIn(tx: Transaction, sessionId: string): Promise<boolean> {
    const found = await this.store.operatorIn(tx, sessionId);
    return found !== null && this.#isOperator(found);
  }

  /** True by the flag of the person, or by the group of the session. */
  #isOperator({ isOperator, ssoGroup }: { isOperator: boolean; ssoGroup: string | null }): boolean {
    return isOperator || (ssoGroup !== null && ssoGroup === this.sso?.config.group);
  }

  /** Runs before each session: at the first one, the person gets an account (D-231). */
  async #onSession(personId: string, headers: Headers | null): Promise<void> {
    const { database, random, now, onOpened } = this.services;
    const ip = headers?.get(IP_HEADER) ?? null;
    const network = ip === null || headers?.has(LOCAL_HEADER) ? null : signUpNetworkOf(ip);
    const device = deviceIn(headers);
    const info = this.#infoOf(headers);
    const { languages } = this.config.brand();
    // The name of the account is in this language.
    if (headers !== null) {
      await this.store.setFirstLanguage(personId, languageOf(headers, languages));
    }
    const opened = await openFirstAccount(
      { database, random },
      { personId, now: new Date(now()), languages },
      (email) => this.#origin({ email, network, device }, info),
    );
    if (opened !== null) await onOpened(opened);
  }

  #infoOf(headers: Headers | null): ClientInfo | null {
    const ip = headers?.get(IP_HEADER) ?? null;
    return ip === null ? null : this.services.clientInfo(ip);
  }

  #origin(marked: Marked, info: ClientInfo | null): SignUpOrigin {
    const { email } = marked;
    const marks = this.#marks("grant", marked);
    const { country = null, ipHash = null } = info ?? {};
    const actor = { name: email, personId: null, country, ipHash };
    return { marks, isDisposable: isDisposable(email), actor };
  }

  #marks(
    purpose: "grant" | "allowance" | `voucher ${string}`,
    { email, network, device }: Marked,
  ): GrantMark[] {
    const { secrets, countsNetworks } = this.config;
    const marked = { inbox: inboxOf(email), network: countsNetworks ? network : null, device };
    return Object.entries(marked).flatMap(([kind, text]): GrantMark[] =>
      text === null
        ? []
        : secrets.map((secret) => ({
            kind: kind as GrantMark["kind"],
            hash: keyedHash(secret, `${purpose} ${kind}`, text),
          })),
    );
  }
}
