// Commands about people: links to sign in with, and who is an operator.

import { LINK_MINUTES, makeSignInLink } from "../identity/sign-in-link.ts";
import { ensurePerson, setOperator } from "../store/known-people.ts";
import { PasskeyStore } from "../store/passkeys.ts";
import { PeopleStore } from "../store/people.ts";
import { type Answer, type Command, UsageError } from "./command.ts";
import { table, utc } from "./print.ts";
import type { Stores } from "./stores.ts";
import { emailArgumentOf } from "./values.ts";

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
    const email = emailArgumentOf(input);
    return async (stores) => {
      const { database, random } = stores;
      const now = new Date(input.nowMs);
      const wish = { email, name: "", isOperator: true, opensAccount: false };
      const personId = await ensurePerson(database, wish, { random, now });
      return await linkFor(stores, { email, personId, nowMs: input.nowMs });
    };
  },
};

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
            ...{ id, created_at: createdAt.toISOString(), expires_at: expiresAt.toISOString() },
            ...{ country, user_agent: userAgent },
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
            ...{ id, name, created_at: createdAt.toISOString() },
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

async function linkFor(
  { database, random, consoleOrigin: origin }: Stores,
  { email, personId, nowMs }: { email: string; personId: string; nowMs: number },
): Promise<Answer> {
  if (origin === null) {
    throw new UsageError(
      "CONSOLE_URL is not set: it is the origin where people open the dashboard",
    );
  }
  const terms = { random, now: new Date(nowMs) };
  const url = await makeSignInLink(database, { personId, origin }, terms);
  return {
    json: { email, link: url, minutes: LINK_MINUTES },
    text: `This link signs ${email} in once, within ${LINK_MINUTES} minutes:\n${url}`,
  };
}

export const peopleCommands: readonly Command[] = [link, sessions, passkeys, invite, remove];
