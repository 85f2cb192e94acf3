// Commands about people: links to sign in with, and who is an operator.

import { LINK_MINUTES, makeSignInLink } from "../identity/sign-in-link.ts";
import { ensurePerson, setOperator } from "../store/known-people.ts";
import { PeopleStore } from "../store/people.ts";
import { type Answer, type Command, UsageError } from "./command.ts";
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

export const peopleCommands: readonly Command[] = [link, invite, remove];
