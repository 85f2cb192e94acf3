// Tests that each change of a person's sign-in requires at least the proofs of signing in, for any
// beginning of the session and any second factor of the person.

import { describe, expect, test } from "bun:test";
import { makeSignInLink } from "../../../src/identity/sign-in-link.ts";
import { setOperator } from "../../../src/store/people/known-people.ts";
import { SsoLinks } from "../../../src/store/people/sso-links.ts";
import { SoftPasskey } from "../../support/fakes/soft-passkey.ts";
import { totp } from "../../support/fakes/totp.ts";
import { random } from "../../support/random.ts";
import { shared } from "../../support/shared.ts";
import { PASSWORD, tokenIn, tokenOf, type Visitor } from "./people-lab.ts";
import { operatorPage, SsoLab } from "./sso-lab.ts";

const sso = await shared(SsoLab.start());
const lab = sso.people;
const { database } = lab.stores;
const url = lab.api.parts.url.replace("127.0.0.1", "localhost");
const PASSKEYS = "/console/api/me/passkeys";

let people = 0;
/** A browser that opens the console by its name, as passkeys need. */
const browser = () => lab.visitor(undefined, url);

async function person(): Promise<string> {
  const email = `changes${++people}@example.com`;
  await browser().signUp(email);
  return email;
}

async function operator(): Promise<string> {
  const email = await person();
  await setOperator(database, email, true);
  return email;
}

async function idOf(email: string): Promise<string> {
  return (await lab.identity.store.findByEmail(email))?.id ?? "";
}

/** Each way to sign in without a second factor. Returns the answer of the last step. */
const WAYS = {
  "a password": async (email, visitor) => await visitor.signIn(email),
  "a mailed code": async (email, visitor) => {
    return await visitor.enterCode(email, await visitor.askForCode(email));
  },
  "a password that a mailed link has set": async (email, visitor) => {
    const asked = await visitor.auth("/request-password-reset", { email });
    const token = tokenOf(asked);
    await visitor.auth("/reset-password", { token, newPassword: PASSWORD });
    return await visitor.signIn(email);
  },
  "an operator's link": async (email, visitor) => {
    const made = { personId: await idOf(email), origin: "http://127.0.0.1" };
    const link = await makeSignInLink(database, made, { random, now: new Date() });
    return await visitor.auth("/sign-in/link", { token: tokenIn(link) });
  },
} satisfies Record<string, (email: string, visitor: Visitor) => ReturnType<Visitor["auth"]>>;

const ways = Object.keys(WAYS) as (keyof typeof WAYS)[];
const mailboxWays = ways.filter((way) => way !== "an operator's link");

async function enter(email: string, way: keyof typeof WAYS) {
  await lab.forgetAttempts();
  const visitor = browser();
  const answer = await WAYS[way](email, visitor);
  return { visitor, answer };
}

const device = () => new SoftPasskey("localhost", url);

async function addPasskey(visitor: Visitor, passkey = device()) {
  const begun = await visitor.post(`${PASSKEYS}/begin`);
  if (begun.status !== 200) return begun;
  const response = passkey.create(begun.body.options);
  return await visitor.post(PASSKEYS, { name: "Laptop", response });
}

async function signInByPasskey(passkey: SoftPasskey, visitor = browser()) {
  const { body } = await visitor.auth("/sign-in/passkey/begin");
  await visitor.auth("/sign-in/passkey", { response: passkey.get(body) });
  return visitor;
}

/** The state that an earlier release left: a passkey, and sessions that began before it. */
async function insertPasskey(email: string): Promise<string> {
  const id = `passkey_of_${email}`;
  await database.sql`INSERT INTO passkeys
    (id, person, name, credential, public_key, counter, transports, created_at)
    VALUES (${id}, ${await idOf(email)}, 'Phone', ${`credential of ${email}`}, 'AA', 0, '', now())`;
  return id;
}

/** The changes of signing in, and how a session requests each. */
const CHANGES: Record<string, (visitor: Visitor, email: string) => ReturnType<Visitor["auth"]>> = {
  "begin a passkey": (visitor) => visitor.post(`${PASSKEYS}/begin`),
  "add a passkey": (visitor) => visitor.post(PASSKEYS, { name: "Own", response: someResponse() }),
  "remove a passkey": (visitor, email) => visitor.post(`${PASSKEYS}/passkey_of_${email}/remove`),
  "begin an app": (visitor) => visitor.auth("/two-factor/enable", { password: PASSWORD }),
  "confirm an app": (visitor) => visitor.auth("/two-factor/verify-totp", { code: "123456" }),
  "turn the app off": (visitor) => visitor.auth("/two-factor/disable", { password: PASSWORD }),
  "replace backup codes": (visitor) =>
    visitor.auth("/two-factor/generate-backup-codes", { password: PASSWORD }),
  "ask for another address": (visitor, email) =>
    visitor.post("/console/api/me/email", { email: `new.${email}` }),
  "take another address": (visitor, email) =>
    visitor.post("/console/api/me/email/confirm", { token: `token.new.${email}` }),
};
const PASSWORD_CHANGE = (visitor: Visitor) =>
  visitor.auth("/change-password", { currentPassword: PASSWORD, newPassword: `${PASSWORD}!` });

function someResponse() {
  const challenge = Buffer.from(random(32)).toString("base64url");
  return device().create({ challenge, user: { id: "AA" } } as never);
}

async function stateOf(email: string) {
  const [row] = await database.sql`
    SELECT email, two_factor_enabled, updated_at::text,
      (SELECT string_agg(id, ',') FROM passkeys WHERE person = people.id) AS passkeys,
      (SELECT count(*)::int FROM two_factors WHERE person = people.id) AS apps
    FROM people WHERE id = ${await idOf(email)}`;
  return row;
}

describe("a person with only a passkey", () => {
  test.each(ways)("must use it after %s", async (way) => {
    const email = await person();
    const passkey = device();
    const first = await enter(email, "a password");
    expect((await addPasskey(first.visitor, passkey)).status).toBe(200);
    const { visitor, answer } = await enter(email, way);
    expect(answer.body).toMatchObject({ twoFactorRedirect: true, twoFactorMethods: ["passkey"] });
    expect(await visitor.isSignedIn()).toBe(false);
    expect(await (await signInByPasskey(passkey, visitor)).isSignedIn()).toBe(true);
  });

  test("has lost the sessions that began without it, but not the one that added it", async () => {
    const email = await person();
    const [earlier, own] = [await enter(email, "a password"), await enter(email, "a password")];
    expect((await addPasskey(own.visitor)).status).toBe(200);
    const both = [await earlier.visitor.isSignedIn(), await own.visitor.isSignedIn()];
    expect(both).toEqual([false, true]);
    // The device was present in that session, so the session may change more.
    expect((await addPasskey(own.visitor)).status).toBe(200);
  });
});

describe("a session without the second factor that its person has", () => {
  test.each(ways)("changes no part of their sign-in, begun by %s", async (way) => {
    for (const isOperator of [false, true]) {
      const email = isOperator ? await operator() : await person();
      const { visitor } = await enter(email, way);
      expect(await visitor.isSignedIn()).toBe(true);
      await insertPasskey(email);
      const before = await stateOf(email);
      for (const [what, change] of [
        ...Object.entries(CHANGES),
        ["password", PASSWORD_CHANGE],
      ] as const) {
        const { status, body } = await change(visitor, email);
        expect([what, status, body.error?.code]).toEqual([what, 403, "second_factor_required"]);
      }
      expect(await stateOf(email)).toEqual(before);
      expect(await operatorPage(visitor)).not.toBe("open");
    }
  });

  test("changes every part if it began with one, even after a new password", async () => {
    const email = await person();
    const passkey = device();
    await addPasskey((await enter(email, "a password")).visitor, passkey);
    const visitor = await signInByPasskey(passkey);
    expect((await PASSWORD_CHANGE(visitor)).status).toBe(200);
    expect((await addPasskey(visitor)).status).toBe(200);
    const asked = await visitor.post("/console/api/me/email", { email: `new.${email}` });
    expect(asked.status).toBe(200);
    const taken = await visitor.post("/console/api/me/email/confirm", { token: tokenOf(asked) });
    expect(taken.body).toEqual({ email: `new.${email}` });
    const { passkeys } = (await visitor.get(PASSKEYS)).body;
    for (const { id } of passkeys) {
      expect((await visitor.post(`${PASSKEYS}/${id}/remove`)).status).toBe(200);
    }
  });
});

describe("an operator without a second factor", () => {
  test.each(mailboxWays)("sets none up after %s", async (way) => {
    const email = await operator();
    const { visitor } = await enter(email, way);
    await expectNoFirstFactor(visitor, email);
  });

  test("sets none up after single sign-on that asked for one proof", async () => {
    const email = await operator();
    const { visitor } = await sso.signIn({ sub: email, email });
    expect(await visitor.isSignedIn()).toBe(true);
    await expectNoFirstFactor(visitor, email);
  });

  test("sets none up after the sign-up", async () => {
    const email = `changes${++people}@example.com`;
    const visitor = browser();
    await visitor.signUp(email);
    await setOperator(database, email, true);
    await expectNoFirstFactor(visitor, email);
  });

  test("sets a passkey up after an operator's link, and is in; the trail says so", async () => {
    const email = await operator();
    const { visitor } = await enter(email, "an operator's link");
    expect(await operatorPage(visitor)).toBe("403 second_factor_required");
    expect((await addPasskey(visitor)).status).toBe(200);
    expect(await operatorPage(visitor)).toBe("open");
    expect(await trailOf(email)).toEqual(["A passkey was added: Laptop"]);
  });

  test("sets an app up after an operator's link, and is in; the trail says so", async () => {
    const email = await operator();
    const { visitor } = await enter(email, "an operator's link");
    await visitor.turnOnSecondFactor();
    expect(await operatorPage(visitor)).toBe("open");
    expect((await CHANGES["turn the app off"]?.(visitor, email))?.status).toBe(200);
    expect(await trailOf(email)).toEqual([
      "The app for your second factor was turned on",
      "The app for your second factor was turned off",
    ]);
  });

  test("keeps the rights of the link when the password is changed", async () => {
    const email = await operator();
    const { visitor } = await enter(email, "an operator's link");
    expect((await PASSWORD_CHANGE(visitor)).status).toBe(200);
    expect((await addPasskey(visitor)).status).toBe(200);
  });
});

async function expectNoFirstFactor(visitor: Visitor, email: string): Promise<void> {
  const before = await stateOf(email);
  for (const [what, change] of Object.entries(CHANGES)) {
    const { status, body } = await change(visitor, email);
    expect([what, status, body.error?.code]).toEqual([what, 403, "operator_link_required"]);
  }
  expect(await stateOf(email)).toEqual(before);
  expect(await operatorPage(visitor)).not.toBe("open");
}

async function trailOf(email: string): Promise<string[]> {
  const rows = await database.sql`SELECT about FROM operator_actions
    WHERE person = ${await idOf(email)} AND action = 'sign_in' ORDER BY number`;
  return rows.map(({ about }) => about);
}

describe("single sign-on is linked to an operator who has a second factor", () => {
  const linksOf = async (email: string) => await new SsoLinks(database).list(await idOf(email));

  test("once our own was given, whatever the provider required", async () => {
    const email = await operator();
    const { visitor: owner } = await enter(email, "an operator's link");
    const secret = await owner.turnOnSecondFactor();
    const who = { sub: email, email, amr: ["mfa"] };
    const { visitor, answer } = await sso.signIn(who, browser());
    expect(answer.body.twoFactorRedirect).toBe(true);
    expect([await visitor.isSignedIn(), await linksOf(email)]).toEqual([false, []]);
    const entered = await visitor.auth("/two-factor/verify-totp", { code: totp(secret, 1) });
    expect([entered.status, await operatorPage(visitor)]).toEqual([200, "open"]);
    expect(await linksOf(email)).toMatchObject([{ subject: email }]);
    const again = await sso.signIn(who, browser());
    expect(await operatorPage(again.visitor)).toBe("open");
  });

  test("by a passkey, which is a second factor by itself", async () => {
    const email = await operator();
    const passkey = device();
    await addPasskey((await enter(email, "an operator's link")).visitor, passkey);
    const { visitor, answer } = await sso.signIn({ sub: email, email, amr: ["mfa"] }, browser());
    expect(answer.body.twoFactorRedirect).toBe(true);
    expect(await linksOf(email)).toEqual([]);
    await signInByPasskey(passkey, visitor);
    expect(await operatorPage(visitor)).toBe("open");
    expect(await linksOf(email)).toMatchObject([{ subject: email }]);
    expect((await visitor.get("/console/api/me")).body.person.is_by_sso).toBe(true);
  });
});

test("a browser is known only after the second factor was entered", async () => {
  const known = async () => {
    const [row] = await database.sql`
      SELECT count(*)::int AS browsers FROM attempts WHERE key LIKE 'signed_in %'`;
    return row?.browsers;
  };
  const email = await person();
  const secret = await (await enter(email, "a password")).visitor.turnOnSecondFactor();
  const { visitor, answer } = await enter(email, "a password");
  expect([answer.body.twoFactorRedirect, await known()]).toEqual([true, 0]);
  await visitor.auth("/two-factor/verify-totp", { code: "000000" });
  expect(await known()).toBe(0);
  const entered = await visitor.auth("/two-factor/verify-totp", { code: totp(secret, 1) });
  expect([entered.status, await known()]).toEqual([200, 1]);
});

test("removing a part of a second factor sends a mail to its person", async () => {
  const email = await person();
  const { visitor } = await enter(email, "a password");
  await visitor.turnOnSecondFactor();
  await CHANGES["replace backup codes"]?.(visitor, email);
  await CHANGES["turn the app off"]?.(visitor, email);
  const mails = await database.sql`SELECT subject FROM outbox
    WHERE recipient = ${email} AND kind = 'security_notice' ORDER BY created_at`;
  expect(mails.map(({ subject }) => subject)).toEqual([
    "Your backup codes were replaced",
    "The app for your second factor was turned off",
  ]);
});
