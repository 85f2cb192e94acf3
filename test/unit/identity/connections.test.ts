// Tests that a request of a person needs one connection to Postgres at a time: if each of many
// needed a second one while it holds its first, all of them would wait for each other.

import { expect, test } from "bun:test";
import { totp } from "../../support/fakes/totp.ts";
import { shared } from "../../support/shared.ts";
import { PASSWORD, PeopleLab, tokenOf } from "./people-lab.ts";

const lab = await shared(PeopleLab.start());

/** Holds all connections of the pool but one. */
async function takeConnections(): Promise<Disposable> {
  const { sql } = lab.stores.database;
  const taken = await Promise.all(Array.from({ length: sql.options.max - 1 }, () => sql.reserve()));
  return {
    [Symbol.dispose]() {
      for (const connection of taken) connection.release();
    },
  };
}

test("every step of signing in works while one connection is free", async () => {
  using _ = await takeConnections();
  const email = "alone@example.com";
  const person = await lab.person(email);
  const newPassword = "another long password";
  const passwords = { currentPassword: PASSWORD, newPassword };
  expect((await person.auth("/change-password", passwords)).status).toBe(200);
  const visitor = lab.visitor();
  const token = tokenOf(await visitor.auth("/request-password-reset", { email }));
  const reset = { token, newPassword: PASSWORD };
  expect((await visitor.auth("/reset-password", reset)).status).toBe(200);
  expect((await person.signIn(email)).status).toBe(200);
  const secret = await person.turnOnSecondFactor();
  await visitor.signIn(email);
  const code = { code: totp(secret, 1), trustDevice: true };
  expect((await visitor.auth("/two-factor/verify-totp", code)).status).toBe(200);
  expect((await person.auth("/two-factor/disable", { password: PASSWORD })).status).toBe(200);
  expect((await person.post("/console/api/me/end-other-sessions")).status).toBe(200);
  const asked = await person.post("/console/api/me/email", { email: "moved@example.com" });
  const confirmed = { token: tokenOf(asked) };
  expect((await person.post("/console/api/me/email/confirm", confirmed)).status).toBe(200);
});

test("many people change their passwords at once", async () => {
  const emails = Array.from({ length: 24 }, (_, number) => `many-${number}@example.com`);
  const people = await Promise.all(emails.map((email) => lab.person(email)));
  const passwords = { currentPassword: PASSWORD, newPassword: "another long password" };
  const answers = await Promise.all(
    people.map((person) => person.auth("/change-password", passwords)),
  );
  expect(answers.map(({ status }) => status)).toEqual(people.map(() => 200));
});
