// Tests operators who must come in through a provider. A person who has passed the provider, and
// then sets up an app by an operator's link, has given each proof that a later sign-in requires, so
// the pages open at once: in that browser, for that person, and while the pass lasts (D-259).

import { expect, test } from "bun:test";
import { makeSignInLink } from "../../../src/identity/sign-in-link.ts";
import { random } from "../../support/random.ts";
import { shared } from "../../support/shared.ts";
import { tokenIn, type Visitor } from "./people-lab.ts";
import { operatorPage, SsoLab } from "./sso-lab.ts";

const lab = await shared(SsoLab.start({ isRequired: true }));
const { database } = lab.people.stores;

/** Passes the provider, which requires only one proof. */
async function pass(email: string, visitor: Visitor): Promise<void> {
  await lab.signIn({ sub: email, email, amr: ["pwd"] }, visitor);
  expect(await operatorPage(visitor)).toBe("403 second_factor_required");
}

async function openLink(email: string, visitor: Visitor): Promise<void> {
  const personId = (await lab.people.identity.store.findByEmail(email))?.id ?? "";
  const made = { personId, origin: "http://127.0.0.1" };
  const link = await makeSignInLink(database, made, { random, now: new Date() });
  expect((await visitor.auth("/sign-in/link", { token: tokenIn(link) })).status).toBe(200);
  expect(await operatorPage(visitor)).toBe("403 sso_required");
}

/** A person who is an operator, and a browser without a session. */
async function operator(email: string): Promise<Visitor> {
  await lab.operator(email);
  return lab.people.visitor();
}

test("the pages open once the provider, the link and the app were given", async () => {
  const email = "all@example.com";
  const visitor = await operator(email);
  await pass(email, visitor);
  await openLink(email, visitor);
  await visitor.turnOnSecondFactor();
  expect(await operatorPage(visitor)).toBe("open");
});

test("the link and the app alone do not open them", async () => {
  const email = "link@example.com";
  const visitor = await operator(email);
  await openLink(email, visitor);
  await visitor.turnOnSecondFactor();
  expect(await operatorPage(visitor)).toBe("403 sso_required");
});

test("nor does another person's pass in the same browser", async () => {
  const visitor = await operator("other@example.com");
  await pass("other@example.com", visitor);
  await lab.operator("own@example.com");
  await openLink("own@example.com", visitor);
  await visitor.turnOnSecondFactor();
  expect(await operatorPage(visitor)).toBe("403 sso_required");
});

test("nor does an old pass", async () => {
  const email = "late@example.com";
  const visitor = await operator(email);
  await pass(email, visitor);
  await database.sql`UPDATE verifications SET expires_at = now() - interval '1 s'`;
  await openLink(email, visitor);
  await visitor.turnOnSecondFactor();
  expect(await operatorPage(visitor)).toBe("403 sso_required");
});
