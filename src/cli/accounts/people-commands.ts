// Commands about people: they make links for signing in, and add or remove operators.

import { apply } from "../../accounts/administration.ts";
import { IdentityMails, type Notice } from "../../identity/identity-mails.ts";
import { LINK_MINUTES, makeSignInLink } from "../../identity/sign-in-link.ts";
import { ensurePerson, setOperator } from "../../store/people/known-people.ts";
import { openApplicationAccount } from "../../store/people/own-accounts.ts";
import { PasskeyStore } from "../../store/people/passkeys.ts";
import { PeopleStore } from "../../store/people/people.ts";
import { SsoLinks } from "../../store/people/sso-links.ts";
import { brandOf } from "../brand.ts";
import { type Answer, type Command, UsageError } from "../command.ts";
import { noted } from "../noted.ts";
import { table, utc } from "../print.ts";
import type { Stores } from "../stores.ts";
import { emailArgumentOf, nameOf, newEmailArgumentOf } from "../values.ts";

const link: Command = {
  name: "person link",
  positionals: ["EMAIL"],
  summary: "Make a one-time link that signs a person in to the dashboard",
  options: {},
  prepare(input) {
    const email = emailArgumentOf(input);
    return async (stores) => {
      const person = await new PeopleStore(stores.database).findByEmail(email);
      if (person === null) return noPerson(email);
      return await linkFor(stores, { email, personId: person.id, nowMs: input.nowMs });
    };
  },
};

const invite: Command = {
  name: "operator invite",
  positionals: ["EMAIL"],
  summary: "Make a person an operator, and a one-time link that signs them in",
  options: {},
  prepare(input) {
    const email = newEmailArgumentOf(input);
    return (stores) => inviteOperator(stores, email, input.nowMs);
  },
};

/** Makes a person an operator; the answer has the link. @throws UsageError without an origin */
export async function inviteOperator(
  stores: Stores,
  email: string,
  nowMs: number,
): Promise<Answer> {
  const { database, random } = stores;
  // The command fails without an address for the link: the person could not become an operator.
  originOf(stores);
  const wish = { email, name: "", isOperator: true, opensAccount: false };
  const personId = await ensurePerson(database, wish, { random, now: new Date(nowMs) });
  const made = await linkFor(stores, { email, personId, nowMs, next: "/operator" });
  // A person who had the mailbox before may have set the second factor up, and would be signed in.
  const person = await new PeopleStore(database).find(personId);
  if (person?.hasFactor !== true) return made;
  const known = `${email} has a second factor already: be sure that it is theirs.`;
  return { ...made, text: `${made.text}\n\n${known}` };
}

const remove: Command = {
  name: "operator remove",
  positionals: ["EMAIL"],
  summary: "End that a person is an operator; their accounts stay theirs",
  options: {},
  prepare(input) {
    const email = emailArgumentOf(input);
    return async ({ database }) => {
      if (!(await setOperator(database, email, false))) return noPerson(email);
      return { json: { email, is_operator: false }, text: `${email} is no operator any longer.` };
    };
  },
};

const sessions: Command = {
  name: "person sessions",
  positionals: ["EMAIL"],
  summary: "List where a person is signed in, or end one session or all",
  options: { end: { value: "SESSION|all", help: "end this session, or all" } },
  prepare(input) {
    const email = emailArgumentOf(input);
    const end = input.values.get("end") ?? null;
    return async ({ database }) => {
      const store = new PeopleStore(database);
      const person = await store.findByEmail(email);
      if (person === null) return noPerson(email);
      if (end === "all") await store.endOtherSessions(person.id, "");
      else if (end !== null && !(await store.endSession(person.id, end))) {
        return { json: { email, session: end }, text: `There is no session ${end}.`, failed: true };
      }
      const rows = await store.sessionsOf(person.id, new Date(input.nowMs));
      return {
        json: {
          sessions: rows.map(({ id, createdAt, expiresAt, country, userAgent }) => ({
            id,
            created_at: createdAt.toISOString(),
            expires_at: expiresAt.toISOString(),
            country,
            user_agent: userAgent,
          })),
        },
        text: listOf(
          rows.map((row) => [row.id, `since ${utc(row.createdAt)}`, row.userAgent ?? ""]),
          `${email} is signed in nowhere.`,
        ),
      };
    };
  },
};

const passkeys: Command = {
  name: "person passkeys",
  positionals: ["EMAIL"],
  summary: "List the passkeys of a person, or remove one, such as of a lost device",
  options: { remove: { value: "PASSKEY", help: "remove this passkey" } },
  prepare(input) {
    const email = emailArgumentOf(input);
    const removed = input.values.get("remove") ?? null;
    return async ({ database }) => {
      const person = await new PeopleStore(database).findByEmail(email);
      if (person === null) return noPerson(email);
      const store = new PasskeyStore(database);
      if (removed !== null && (await store.remove(person.id, removed)) === null) {
        const text = `There is no passkey ${removed}.`;
        return { json: { email, passkey: removed }, text, failed: true };
      }
      const rows = await store.list(person.id);
      return {
        json: {
          passkeys: rows.map(({ id, name, createdAt, usedAt }) => ({
            id,
            name,
            created_at: createdAt.toISOString(),
            used_at: usedAt?.toISOString() ?? null,
          })),
        },
        text: listOf(
          rows.map(({ id, name, createdAt }) => [id, name, `since ${utc(createdAt)}`]),
          `${email} has no passkey.`,
        ),
      };
    };
  },
};

const singleSignOn: Command = {
  name: "person sso",
  positionals: ["EMAIL"],
  summary: "Show whom the provider of single sign-on means by a person, or let it name them anew",
  options: { unlink: { value: null, help: "remove the link; sessions that began with it end" } },
  prepare(input) {
    const email = emailArgumentOf(input);
    const unlinks = input.values.has("unlink");
    return async ({ database }) => {
      const person = await new PeopleStore(database).findByEmail(email);
      if (person === null) return noPerson(email);
      const store = new SsoLinks(database);
      if (unlinks) await store.removeAll(person.id);
      const rows = await store.list(person.id);
      return {
        json: {
          links: rows.map(({ issuer, subject, createdAt }) => ({
            issuer,
            subject,
            created_at: createdAt.toISOString(),
          })),
        },
        text: listOf(
          rows.map(({ issuer, subject, createdAt }) => [
            issuer,
            subject,
            `since ${utc(createdAt)}`,
          ]),
          `${email} is linked to no provider of single sign-on.`,
        ),
      };
    };
  },
};

const address: Command = {
  name: "person email",
  positionals: ["EMAIL", "NEW"],
  summary: "Give a person another address, such as one who has lost the inbox; both are told",
  options: {},
  prepare(input) {
    const email = emailArgumentOf(input);
    const to = newEmailArgumentOf(input, 1);
    return async (stores) => {
      const { database, administration } = stores;
      // The mails lead to the dashboard.
      const dashboard = `${originOf(stores)}/dashboard`;
      const store = new PeopleStore(database);
      const person = await store.findByEmail(email);
      if (person === null) return noPerson(email);
      if (!(await store.changeEmail(person.id, to))) {
        return {
          json: { email, to },
          text: `Somebody has the address ${to} already.`,
          failed: true,
        };
      }
      const { now } = administration;
      const brand = await brandOf(stores);
      const mails = new IdentityMails({ database, now, brand, dashboard });
      const what: Notice = ({ addressByOperator }) => addressByOperator(email, to);
      await mails.formerAddress(email, to, what);
      await mails.notice(to, what);
      return { json: { email: to, before: email }, text: `${email} is ${to} now.` };
    };
  },
};

const openAccount: Command = {
  name: "person account",
  positionals: ["EMAIL"],
  summary: "Open an account for applications that a person owns",
  options: { name: { value: "TEXT", help: "its name (Applications)" } },
  prepare(input) {
    const email = emailArgumentOf(input);
    const name = nameOf(input, "name", "Applications");
    return async ({ database, random, administration }) => {
      const person = await new PeopleStore(database).findByEmail(email);
      if (person === null) return noPerson(email);
      const now = new Date(administration.now());
      const terms = { name, most: Number.POSITIVE_INFINITY, origin: null };
      const owner = { personId: person.id, email, ...terms };
      const account = await openApplicationAccount(database, owner, {
        random,
        now,
        also: noted(administration, "account_opened", name),
      });
      if (account === null) throw new Error("There is no limit for the operator");
      await apply(administration, account);
      return { json: { id: account.id, email, name }, text: `Opened ${account.id} for ${email}.` };
    };
  },
};

function listOf(rows: readonly (readonly string[])[], none: string): string {
  return rows.length === 0 ? none : table(rows);
}

function noPerson(email: string): Answer {
  return {
    json: { email, found: false },
    text: `No person has signed up with ${email}.`,
    failed: true,
  };
}

function originOf({ consoleOrigin }: Stores): string {
  if (consoleOrigin !== null) return consoleOrigin;
  throw new UsageError("CONSOLE_URL is not set: it is the origin where people open the dashboard");
}

interface LinkWish {
  readonly email: string;
  readonly personId: string;
  readonly nowMs: number;
  readonly next?: string;
}

async function linkFor(
  stores: Stores,
  { email, personId, nowMs, next }: LinkWish,
): Promise<Answer> {
  const { database, random } = stores;
  const origin = originOf(stores);
  const terms = { random, now: new Date(nowMs) };
  const link = { personId, origin, ...(next !== undefined && { next }) };
  const url = await makeSignInLink(database, link, terms);
  return {
    json: { email, link: url, minutes: LINK_MINUTES },
    text: `This link signs ${email} in once, within ${LINK_MINUTES} minutes:\n${url}`,
  };
}

export const peopleCommands: readonly Command[] = [
  link,
  sessions,
  passkeys,
  singleSignOn,
  address,
  openAccount,
  invite,
  remove,
];
