// Tests that mails about payments go to the present owner of the account, at the present address.

import { expect, test } from "bun:test";
import { changeMember } from "../../../src/store/people/memberships.ts";
import { PeopleStore } from "../../../src/store/people/people.ts";
import { shared } from "../../support/shared.ts";
import { PeopleLab, tokenOf } from "./people-lab.ts";

const lab = await shared(PeopleLab.start());
const { database } = lab.stores;
const people = new PeopleStore(database);
const NOTHING = { changed: () => Promise.resolve(), withdrawn: () => Promise.resolve() };

/** A person who signed up, and the account that was opened for them. */
async function holder(email: string) {
  const session = await lab.person(email);
  const person = await people.findByEmail(email);
  const [own] = await people.accountsOf(person?.id ?? "");
  if (person === null || own === undefined) throw new Error("Nothing was opened");
  return { session, person, account: own.account };
}

async function mailsGoTo(account: { readonly number: number }): Promise<string | null> {
  const [row] = await database.sql`SELECT email FROM accounts WHERE number = ${account.number}`;
  return row?.email ?? null;
}

async function changeAddress({ session }: Awaited<ReturnType<typeof holder>>, email: string) {
  const asked = await session.post("/console/api/me/email", { email });
  const confirmed = { token: tokenOf(asked) };
  expect((await session.post("/console/api/me/email/confirm", confirmed)).status).toBe(200);
}

test("an owner's new address gets the mails about the account", async () => {
  const ada = await holder("ada-before@example.com");
  expect(await mailsGoTo(ada.account)).toBe("ada-before@example.com");
  await changeAddress(ada, "ada-after@example.com");
  expect(await mailsGoTo(ada.account)).toBe("ada-after@example.com");
});

test("mails that the operator sends elsewhere, or of another, stay there", async () => {
  const bob = await holder("bob-before@example.com");
  const other = await holder("other@example.com");
  const { number } = bob.account;
  await database.sql`UPDATE accounts SET email = 'books@example.com' WHERE number = ${number}`;
  await database.sql`INSERT INTO memberships (account, person, role, joined_at)
    VALUES (${other.account.number}, ${bob.person.id}, 'viewer', now())`;
  await database.sql`UPDATE accounts SET email = 'bob-before@example.com'
    WHERE number = ${other.account.number}`;
  await changeAddress(bob, "bob-after@example.com");
  expect(await mailsGoTo(bob.account)).toBe("books@example.com");
  expect(await mailsGoTo(other.account)).toBe("bob-before@example.com");
});

test("the mails of an owner who leaves go to the owner who stays", async () => {
  const eve = await holder("eve@example.com");
  const kim = await holder("kim@example.com");
  await database.sql`INSERT INTO memberships (account, person, role, joined_at)
    VALUES (${eve.account.number}, ${kim.person.id}, 'owner', now())`;
  const { number: account } = eve.account;
  const change = { account, personId: eve.person.id, role: null, by: null, now: new Date() };
  expect(await changeMember(database, change, NOTHING)).toBeNull();
  expect(await mailsGoTo(eve.account)).toBe("kim@example.com");
});
