// Tests passkeys: an answer of a device signs in once, only for this console, and only if the
// device verified its user. A device in software gives the answers; test/product/browser has the
// browser's own.

import { beforeAll, describe, expect, test } from "bun:test";
import { PASSKEYS_MAX } from "../../../src/identity/passkeys.ts";
import { SoftPasskey } from "../../support/fakes/soft-passkey.ts";
import { shared } from "../../support/shared.ts";
import { PASSWORD, PeopleLab, type Visitor } from "./people-lab.ts";

const PASSKEYS = "/console/api/me/passkeys";
const EMAIL = "ada@example.com";

const lab = await shared(PeopleLab.start());
const url = lab.api.parts.url.replace("127.0.0.1", "localhost");
const ada = await person(EMAIL);

/** A person who opens the console by its name. */
async function person(email: string): Promise<Visitor> {
  await lab.person(email);
  const visitor = lab.visitor(undefined, url);
  await visitor.signIn(email);
  return visitor;
}

const device = () => new SoftPasskey("localhost", url);

async function add(visitor: Visitor, passkey: SoftPasskey, bent = {}) {
  const { body } = await visitor.post(`${PASSKEYS}/begin`);
  const response = passkey.create(body.options, bent);
  return await visitor.post(PASSKEYS, { name: "Laptop", response });
}

async function challenge(visitor: Visitor) {
  return (await visitor.auth("/sign-in/passkey/begin")).body as { challenge: string };
}

async function signIn(passkey: SoftPasskey, bent = {}) {
  const visitor = lab.visitor(undefined, url);
  const response = passkey.get(await challenge(visitor), bent);
  const answer = await visitor.auth("/sign-in/passkey", { response });
  return { visitor, response, answer };
}

test("a passkey signs in, is listed with its last use, and does nothing once removed", async () => {
  const passkey = device();
  const added = await add(ada, passkey);
  expect(added.status).toBe(200);
  const { visitor, answer } = await signIn(passkey);
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({ status: true });
  expect((await visitor.get("/console/api/me")).body.person.email).toBe(EMAIL);
  const { passkeys } = (await ada.get(PASSKEYS)).body;
  expect(passkeys).toHaveLength(1);
  expect(passkeys[0]).toMatchObject({ id: added.body.id, name: "Laptop" });
  expect(passkeys[0].used_at).not.toBeNull();
  expect((await ada.post(`${PASSKEYS}/${added.body.id}/remove`)).status).toBe(200);
  expect((await signIn(passkey)).answer.body.error.code).toBe("invalid_passkey");
  expect((await ada.get(PASSKEYS)).body.passkeys).toEqual([]);
});

test("it counts as the second factor: no other is required, and the session says so", async () => {
  const visitor = await person("second@example.com");
  const passkey = device();
  await add(visitor, passkey);
  const hasTwoFactor = async (one: Visitor) =>
    (await lab.identity.signedIn(new Headers({ cookie: cookieOf(one) })))?.hasTwoFactor;
  // The device was present in the session that added it.
  expect(await hasTwoFactor(visitor)).toBe(true);
  expect(await hasTwoFactor((await signIn(passkey)).visitor)).toBe(true);
  // As if an app were set up: a password now requires its code, a passkey does not.
  await lab.stores.database
    .sql`UPDATE people SET two_factor_enabled = true WHERE email = 'second@example.com'`;
  expect((await signIn(passkey)).answer.body).toEqual({ status: true });
});

function cookieOf({ cookies }: Visitor): string {
  return [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
}

describe("no person is signed in by", () => {
  let passkey: SoftPasskey;

  beforeAll(async () => {
    passkey = device();
    await add(ada, passkey);
  });

  test("an answer that was used before", async () => {
    const { response } = await signIn(passkey);
    const again = await lab.visitor(undefined, url).auth("/sign-in/passkey", { response });
    expect([again.status, again.body.error.code]).toEqual([401, "invalid_passkey"]);
  });

  test("one answer sent many times at once, except for one of them", async () => {
    const visitor = lab.visitor(undefined, url);
    const response = passkey.get(await challenge(visitor));
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => visitor.auth("/sign-in/passkey", { response })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test("a device that did not verify its user", async () => {
    expect((await signIn(passkey, { isVerified: false })).answer.status).toBe(401);
  });

  test("an answer that was made for another page", async () => {
    expect((await signIn(passkey, { origin: "https://localhost.example" })).answer.status).toBe(
      401,
    );
  });

  test("a copy of the device, whose count went back", async () => {
    expect((await signIn(passkey, { counter: 90 })).answer.status).toBe(200);
    expect((await signIn(passkey, { counter: 89 })).answer.status).toBe(401);
  });

  test("a challenge that is older than five minutes", async () => {
    const visitor = lab.visitor(undefined, url);
    const old = await challenge(visitor);
    const { database } = lab.stores;
    await database.sql`UPDATE verifications SET expires_at = now() - interval '1 second'`;
    const response = passkey.get(old, { counter: 200 });
    expect((await visitor.auth("/sign-in/passkey", { response })).status).toBe(401);
  });

  test("a challenge that the server did not issue, or one for adding a passkey", async () => {
    const visitor = lab.visitor(undefined, url);
    const { body } = await ada.post(`${PASSKEYS}/begin`);
    for (const { challenge: other } of [{ challenge: "bm9uZQ" }, body.options]) {
      const response = passkey.get({ challenge: other }, { counter: 300 });
      expect((await visitor.auth("/sign-in/passkey", { response })).status).toBe(401);
    }
  });

  test("an invalid answer", async () => {
    const answer = await ada.auth("/sign-in/passkey", { response: { id: "x" } });
    expect([answer.status, answer.body.error.code]).toEqual([400, "invalid_parameter"]);
    const response = { ...passkey.get({ challenge: "" }), response: { clientDataJSON: "e30" } };
    expect((await ada.auth("/sign-in/passkey", { response })).status).toBe(400);
  });
});

describe("no passkey is added", () => {
  test("without a recent password or code", async () => {
    const visitor = await person("later@example.com");
    await lab.stores.database.sql`UPDATE sessions SET proved_at = proved_at - interval '6 minutes'`;
    for (const path of ["/begin", "/passkey_none/remove"]) {
      const answer = await visitor.post(`${PASSKEYS}${path}`);
      expect([answer.status, answer.body.error.code]).toEqual([403, "sign_in_again"]);
    }
    expect((await visitor.post("/console/api/me/prove", { password: PASSWORD })).status).toBe(200);
    expect((await add(visitor, device())).status).toBe(200);
  });

  test("by an answer to the challenge of another person", async () => {
    const [first, second] = [await person("one@example.com"), await person("two@example.com")];
    const { body } = await first.post(`${PASSKEYS}/begin`);
    const response = device().create(body.options);
    const answer = await second.post(PASSKEYS, { name: "Mine", response });
    expect([answer.status, answer.body.error.code]).toEqual([400, "passkey_not_valid"]);
  });

  test("that another person has already, or that was made without verifying the user", async () => {
    const visitor = await person("three@example.com");
    const passkey = device();
    expect((await add(visitor, passkey)).status).toBe(200);
    expect((await add(visitor, passkey)).status).toBe(400);
    expect((await add(visitor, device(), { isVerified: false })).status).toBe(400);
  });

  test("beyond the number that one may have", async () => {
    const visitor = await person("many@example.com");
    for (let count = 0; count < PASSKEYS_MAX; count += 1) await add(visitor, device());
    const answer = await add(visitor, device());
    expect([answer.status, answer.body.error.code]).toEqual([409, "too_many_passkeys"]);
  });

  test("if the console is opened by an IP address", async () => {
    const visitor = await lab.person("numbers@example.com");
    expect((await visitor.post(`${PASSKEYS}/begin`)).body.error.code).toBe("passkeys_unavailable");
    const asked = await visitor.auth("/sign-in/passkey/begin");
    expect([asked.status, asked.body.error.code]).toEqual([409, "passkeys_unavailable"]);
  });
});

test("a passkey that is removed in the middle of a sign-in signs no person in", async () => {
  const passkey = device();
  const { id } = (await add(await person("removing@example.com"), passkey)).body;
  const { answer, visitor } = await lab.whileItWaits(
    (tx) => tx`DELETE FROM passkeys WHERE id = ${id} RETURNING pg_backend_pid() AS pid`,
    () => signIn(passkey),
  );
  expect([answer.status, answer.body.error?.code]).toEqual([401, "invalid_passkey"]);
  expect(await visitor.isSignedIn()).toBe(false);
});

test("a person cannot remove the passkey of another person", async () => {
  const other = await person("four@example.com");
  const { id } = (await add(other, device())).body;
  const fresh = await person("five@example.com");
  const answer = await fresh.post(`${PASSKEYS}/${id}/remove`);
  expect([answer.status, answer.body.error.code]).toEqual([404, "passkey_not_found"]);
  expect((await other.get(PASSKEYS)).body.passkeys).toHaveLength(1);
});
