// Tests that each code of an authenticator app is accepted once, as RFC 6238 requires (section
// 5.2).

import { expect, test } from "bun:test";
import { totp } from "../../support/fakes/totp.ts";
import { shared } from "../../support/shared.ts";
import { PASSWORD, PeopleLab, type Visitor } from "./people-lab.ts";

const USED = [401, "code_used", "This code was entered already. Wait for the next one"];

const lab = await shared(PeopleLab.start());

/** A person who has given the password, and must enter a code. */
async function waiting(email: string): Promise<Visitor> {
  const visitor = lab.visitor();
  expect((await visitor.signIn(email)).body.twoFactorRedirect).toBe(true);
  return visitor;
}

async function enter(visitor: Visitor, code: string) {
  const { status, body } = await visitor.auth("/two-factor/verify-totp", { code });
  return status === 200 ? [status] : [status, body.error.code, body.error.message];
}

test("a code that signed a person in does not work again, and the next one does", async () => {
  const email = "seen@example.com";
  const person = await lab.person(email);
  const secret = await person.turnOnSecondFactor();
  await lab.forgetAttempts();
  const code = totp(secret);
  expect(await enter(await waiting(email), code)).toEqual([200]);
  const other = await waiting(email);
  expect(await enter(other, code)).toEqual(USED);
  expect(await other.isSignedIn()).toBe(false);
  expect(await enter(other, totp(secret, 1))).toEqual([200]);
  expect(await other.isSignedIn()).toBe(true);
});

test("a code that turned the second factor on does not sign in or work again", async () => {
  const email = "confirmed@example.com";
  const person = await lab.person(email);
  const begun = await person.auth("/two-factor/enable", { password: PASSWORD });
  const secret = new URL(begun.body.totpURI).searchParams.get("secret") ?? "";
  const code = totp(secret);
  expect(await enter(person, code)).toEqual([200]);
  expect(await enter(await waiting(email), code)).toEqual(USED);
  expect(await enter(person, code)).toEqual(USED);
  expect(await person.isSignedIn()).toBe(true);
});

test("of many requests with one code at once, one signs in", async () => {
  const email = "crowd@example.com";
  const person = await lab.person(email);
  const secret = await person.turnOnSecondFactor();
  const visitors = await Promise.all(Array.from({ length: 6 }, () => waiting(email)));
  const code = totp(secret, 1);
  const answers = await Promise.all(visitors.map((visitor) => enter(visitor, code)));
  const refused = answers.filter(([status]) => status !== 200);
  expect(refused).toEqual(Array(5).fill(USED));
  const signedIn = await Promise.all(visitors.map((visitor) => visitor.isSignedIn()));
  expect(signedIn.filter(Boolean)).toEqual([true]);
});

test("a code that was refused for another reason leaves the next one good", async () => {
  const email = "late@example.com";
  const person = await lab.person(email);
  const secret = await person.turnOnSecondFactor();
  await lab.forgetAttempts();
  const [late, next] = [await waiting(email), await waiting(email)];
  await lab.stores.database.sql`UPDATE two_factors SET locked_until = now() + interval '1 hour'`;
  expect((await enter(late, totp(secret)))[1]).toBe("too_many_attempts");
  await lab.stores.database.sql`UPDATE two_factors SET locked_until = NULL`;
  expect(await enter(next, totp(secret, 1))).toEqual([200]);
});
