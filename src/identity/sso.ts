// Signs operators in by single sign-on: decides who may come in through the configured OpenID
// Connect provider, as which person, and with which rights.

import { ConsoleError } from "../core/console-errors.ts";
import { newToken } from "../core/console-tokens.ts";
import type { RandomBytes } from "../core/ids.ts";
import type { Log } from "../core/log.ts";
import { englishMails } from "../core/mails/english.ts";
import type { PeopleStore } from "../store/people/people.ts";
import type { SsoIdentity, SsoLinks, SsoPerson } from "../store/people/sso-links.ts";
import type { IdentityMails, Notice } from "./identity-mails.ts";
import {
  type OidcClaims,
  OidcClient,
  type OidcClientConfig,
  OidcRefused,
  type OidcSecrets,
  OidcUnavailable,
} from "./providers/oidc-client.ts";
import {
  claimedAddress,
  claimedName,
  hasSecondFactor,
  isInGroup,
  provedAtOf,
} from "./sso-claims.ts";

export interface SsoConfig extends OidcClientConfig {
  /** Members of this group of the provider are operators; null: the flag decides. */
  readonly group: string | null;
  /** The `acr` that stands for a second factor. */
  readonly acr: string | null;
  /** True if operators must sign in through the provider. */
  readonly isRequired: boolean;
}

interface SsoDeps {
  readonly links: SsoLinks;
  readonly people: PeopleStore;
  readonly mails: IdentityMails;
  readonly random: RandomBytes;
  readonly now: () => number;
  readonly log: Log;
  /** Called when an operator was linked; `what` describes the link in words. */
  readonly onLinked: (person: SsoPerson, what: string) => Promise<void>;
  /** The address of the page that the provider sends the browser back to. */
  readonly redirectUri: string;
}

/** Stores sign-ins that have begun; better-auth stores only hashes of their names. */
interface PendingRows {
  createVerificationValue(row: {
    identifier: string;
    value: string;
    expiresAt: Date;
  }): Promise<unknown>;
  /** Takes the row; null if it was used or has ended. */
  consumeVerificationValue(identifier: string): Promise<{ readonly value: string } | null>;
}

/** The single sign-on fields that a session stores. */
export interface SsoSession {
  /** Null if the session only waits for our second factor, before a person is linked. */
  readonly ssoIssuer: string | null;
  /** The group that makes the session an operator's; null without a group. */
  readonly ssoGroup: string | null;
  readonly expiresAt: Date;
}

export interface SsoSignIn {
  readonly personId: string;
  readonly session: SsoSession & {
    /** True if the provider says that a second factor was used. */
    readonly ssoFactor: boolean;
    readonly provedAt: Date;
  };
  /** The link to store when our second factor was given; null if the person has it already. */
  readonly link: SsoIdentity | null;
  /** The page of operators to go on to. */
  readonly returnTo: string;
}

interface Pending extends OidcSecrets {
  readonly returnTo: string;
}

/** A passed sign-in that waits for our own second factor. */
interface Passed {
  readonly personId: string;
  readonly group: string | null;
  readonly link: SsoIdentity | null;
}

/**
 * The time limit of each step: from the first click to the return, and from there to the end of our
 * own second factor.
 */
export const SSO_STEP_MS = 10 * 60_000;
export const SSO_SESSION_MS = 8 * 60 * 60_000;

const pendingName = (token: string) => `sso:${token}`;
const passedName = (token: string) => `sso-passed:${token}`;

export class Sso {
  readonly client: OidcClient;

  constructor(
    readonly config: SsoConfig,
    readonly deps: SsoDeps,
  ) {
    this.client = new OidcClient(config, deps.now);
  }

  /**
   * Begins a sign-in: returns the provider's page, and a token that only this browser may have.
   * @throws ConsoleError if the provider is away
   */
  async begin(rows: PendingRows, returnTo: string): Promise<{ url: string; token: string }> {
    const { random, redirectUri } = this.deps;
    const secrets = {
      state: newToken(random),
      nonce: newToken(random),
      verifier: newToken(random),
    };
    const { acr } = this.config;
    const url = await this.#refusing(this.client.begin({ ...secrets, redirectUri, acr }));
    const token = newToken(random);
    await this.#store(rows, pendingName(token), { ...secrets, returnTo } satisfies Pending);
    return { url, token };
  }

  /**
   * Redeems the answer that the provider sent the browser back with, once. `token` comes from
   * `begin`, in this browser. @throws ConsoleError
   */
  async finish(
    rows: PendingRows,
    { token, query }: { readonly token: string; readonly query: string },
  ): Promise<SsoSignIn> {
    const row = await rows.consumeVerificationValue(pendingName(token));
    if (row === null) {
      throw new ConsoleError(
        "sso_not_valid",
        "This sign-in was used, has ended, or began in another browser. Begin again",
      );
    }
    const { returnTo, ...secrets } = JSON.parse(row.value) as Pending;
    const returned = new URL(this.deps.redirectUri);
    returned.search = query;
    return await this.#refusing(this.#signIn(returned, secrets, returnTo));
  }

  /** Notes that this person has passed the provider, while our own second factor is due. */
  async pass(rows: PendingRows, { personId, link }: SsoSignIn): Promise<string> {
    const token = newToken(this.deps.random);
    const { group } = this.config;
    await this.#store(rows, passedName(token), { personId, group, link } satisfies Passed);
    return token;
  }

  /** Returns the session fields of a person who has passed the provider; each token works once. */
  async passed(rows: PendingRows, token: string, personId: string): Promise<SsoSession | null> {
    const row = await rows.consumeVerificationValue(passedName(token));
    if (row === null) return null;
    const { link, group, ...passed } = JSON.parse(row.value) as Passed;
    if (passed.personId !== personId) return null;
    const person = link && (await this.deps.people.find(personId));
    if (link && person) await this.#refusing(this.#link(link, person));
    return this.#session(group);
  }

  /** True if an identity at the provider is linked to this person. */
  async isLinked(personId: string): Promise<boolean> {
    return await this.deps.links.isLinked(personId, this.config.issuer);
  }

  /** Returns the end of a session that would last until `expiresAt`. */
  endOf(expiresAt: Date): Date {
    return new Date(Math.min(expiresAt.getTime(), this.deps.now() + SSO_SESSION_MS));
  }

  async #signIn(returned: URL, secrets: OidcSecrets, returnTo: string): Promise<SsoSignIn> {
    const claims = await this.client.finish(returned, secrets);
    const { person, link } = await this.#personOf(claims);
    const { group, acr } = this.config;
    const provedAt = provedAtOf(claims, this.deps.now());
    const session =
      link === null
        ? { ...this.#session(group), ssoFactor: hasSecondFactor(claims, acr) }
        : { ...this.#session(null), ssoIssuer: null, ssoFactor: false };
    return { personId: person.id, session: { ...session, provedAt }, link, returnTo };
  }

  /** The operator whom the provider means (D-259). @throws ConsoleError, OidcRefused */
  async #personOf(claims: OidcClaims): Promise<Pick<SsoSignIn, "link"> & { person: SsoPerson }> {
    const { links, people } = this.deps;
    const { group, issuer } = this.config;
    const email = claimedAddress(claims);
    if (group !== null && !isInGroup(claims, group)) throw noOperator(email);
    const identity = { issuer, subject: claims.subject };
    const linked = await links.find(identity);
    if (linked !== null) {
      if (linked.email !== email) {
        throw new OidcRefused("the provider names another address than this person's");
      }
      if (group === null && !linked.isOperator) throw noOperator(email);
      return { person: linked, link: null };
    }
    const known = await people.findByEmail(email);
    // A person who is no operator by invitation is never taken over, whatever the provider says.
    if (known !== null ? !known.isOperator : group === null) throw noOperator(email);
    // A new way to sign in requires the present one: first our own second factor is due.
    if (known?.hasFactor) return { person: known, link: identity };
    const person =
      known === null
        ? await this.#add(identity, email, claimedName(claims))
        : await this.#link(identity, known);
    return { person, link: null };
  }

  async #link(
    identity: { issuer: string; subject: string },
    person: SsoPerson,
  ): Promise<SsoPerson> {
    const { links, mails, random, now, log } = this.deps;
    const { id, email } = person;
    const { issuer } = identity;
    if (!(await links.link(id, identity, { random, now: new Date(now()) }))) {
      throw new OidcRefused("somebody else at the provider signs in as this person");
    }
    log.info({ personId: id, issuer }, "An operator was linked to single sign-on");
    const what: Notice = ({ ssoLinked }) => ssoLinked(new URL(issuer).host);
    await mails.notice(email, what);
    await this.deps.onLinked(person, what(englishMails.notices));
    return person;
  }

  async #add(
    identity: { issuer: string; subject: string },
    email: string,
    name: string,
  ): Promise<SsoPerson> {
    const { links, random, now, log } = this.deps;
    const terms = { random, now: new Date(now()) };
    const person = await links.addPerson(identity, { email, name }, terms);
    if (person === null) throw new OidcRefused("two sign-ins of one person at once");
    const { issuer } = identity;
    log.info({ personId: person.id, issuer }, "An operator was added by single sign-on");
    return person;
  }

  #session(group: string | null): SsoSession {
    const expiresAt = new Date(this.deps.now() + SSO_SESSION_MS);
    return { ssoIssuer: this.config.issuer, ssoGroup: group, expiresAt };
  }

  async #store(rows: PendingRows, identifier: string, value: object): Promise<void> {
    const expiresAt = new Date(this.deps.now() + SSO_STEP_MS);
    await rows.createVerificationValue({ identifier, value: JSON.stringify(value), expiresAt });
  }

  /** Turns a failure into words for the person; the log has the reason. */
  async #refusing<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      const { issuer, isRequired } = this.config;
      const { log } = this.deps;
      if (error instanceof OidcUnavailable) {
        log.error({ issuer, reason: error.message }, "The provider of single sign-on is away");
        const other = isRequired ? "" : ", or sign in with your password";
        throw new ConsoleError(
          "sso_unavailable",
          `The provider of single sign-on does not answer. Try again in a moment${other}`,
        );
      }
      if (!(error instanceof OidcRefused)) throw error;
      log.warn({ issuer, reason: error.message }, "Single sign-on was refused");
      throw new ConsoleError("sso_refused", `Single sign-on was refused: ${error.message}`);
    }
  }
}

function noOperator(email: string): ConsoleError {
  return new ConsoleError("no_operator", `There is no operator ${email} here`);
}
