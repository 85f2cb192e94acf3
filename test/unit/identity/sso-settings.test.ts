// Tests the effects of OPERATOR_OIDC_ONLY and OPERATOR_OIDC_GROUP, and a console without single
// sign-on.

import { expect, test } from "bun:test";
import { PeopleStore } from "../../../src/store/people/people.ts";
import { totp } from "../../support/fakes/totp.ts";
import { PASSWORD, PeopleLab } from "./people-lab.ts";
import { operatorPage, SsoLab } from "./sso-lab.ts";

const MFA = ["mfa"];

test("with OPERATOR_OIDC_ONLY no password is enough, whatever our second factor", async () => {
  await using lab = await SsoLab.start({ isRequired: true });
  const ops = await lab.operator("ops@example.com");
  expect(await operatorPage(ops)).toBe("403 sso_required");
  const me = await ops.get("/console/api/me");
  expect(me.body.person).toMatchObject({
    is_operator: true,
    is_by_sso: false,
    operator_pages: "need_sso",
    second_factor: "off",
  });
  const { body } = await ops.auth("/two-factor/enable", { password: PASSWORD });
  const secret = new URL(body.totpURI).searchParams.get("secret") ?? "";
  await ops.auth("/two-factor/verify-totp", { code: totp(secret) });
  expect(await operatorPage(ops)).toBe("403 sso_required");
  // The dashboard of the operators' own accounts stays open.
  expect(await ops.isSignedIn()).toBe(true);

  const { visitor } = await lab.signIn({ sub: "ops", email: "ops@example.com" });
  expect(await operatorPage(visitor)).toBe("404 not_found");
  const code = await visitor.auth("/two-factor/verify-totp", { code: totp(secret, 1) });
  expect(code.status).toBe(200);
  expect(await operatorPage(visitor)).toBe("open");
  const opened = await visitor.get("/console/api/me");
  expect(opened.body.person).toMatchObject({
    is_by_sso: true,
    operator_pages: "open",
    second_factor: "on",
  });
});

test("with OPERATOR_OIDC_ONLY an unreachable provider leaves no other way", async () => {
  await using lab = await SsoLab.start({ isRequired: true });
  lab.issuer.brokenStatus = 503;
  const begun = await lab.people.visitor().auth("/sign-in/sso/begin", { return_to: "/operator" });
  expect([begun.status, begun.body.error.code]).toEqual([503, "sso_unavailable"]);
  expect(begun.body.error.message).not.toContain("password");
  lab.issuer.brokenStatus = null;
  await lab.operator("ops@example.com");
  const { answer } = await lab.signIn({ sub: "ops", email: "ops@example.com" });
  expect(answer.status).toBe(200);
});

test("metadata that name another issuer are not believed", async () => {
  await using lab = await SsoLab.start();
  const other = lab.issuer.issuer.replace("127.0.0.1", "localhost");
  await using wrong = await SsoLab.start({ issuer: other });
  const begun = await wrong.people.visitor().auth("/sign-in/sso/begin", { return_to: "/operator" });
  expect([begun.status, begun.body.error.code]).toEqual([503, "sso_unavailable"]);
});

test("a pass at the provider does not serve another person's second factor", async () => {
  await using lab = await SsoLab.start({ isRequired: true });
  const secrets = new Map<string, string>();
  for (const email of ["one@example.com", "two@example.com"]) {
    const visitor = await lab.operator(email);
    const { body } = await visitor.auth("/two-factor/enable", { password: PASSWORD });
    const secret = new URL(body.totpURI).searchParams.get("secret") ?? "";
    await visitor.auth("/two-factor/verify-totp", { code: totp(secret) });
    secrets.set(email, secret);
  }
  const { visitor } = await lab.signIn({ sub: "one", email: "one@example.com" });
  // The same browser, with the password and the code of the other operator.
  expect((await visitor.signIn("two@example.com")).body.twoFactorRedirect).toBe(true);
  const code = totp(secrets.get("two@example.com") ?? "", 1);
  expect((await visitor.auth("/two-factor/verify-totp", { code })).status).toBe(200);
  expect(await operatorPage(visitor)).toBe("403 sso_required");
});

test("with OPERATOR_OIDC_GROUP its members are operators, only for that session", async () => {
  await using lab = await SsoLab.start({ group: "farebox-ops" });
  const { database } = lab.people.stores;
  const groups = ["staff", "farebox-ops"];
  const grace = { sub: "grace", email: "grace@example.com", name: "Grace", groups, amr: MFA };
  const { visitor, answer } = await lab.signIn(grace);
  expect(answer.status).toBe(200);
  expect(await operatorPage(visitor)).toBe("open");
  const resumed = { id: crypto.randomUUID(), reason: "a test", target: "chat" };
  expect((await visitor.post("/console/operator/pauses/resume", resumed)).status).toBe(200);
  const me = await visitor.get("/console/api/me");
  expect(me.body).toMatchObject({ person: { is_operator: true, name: "Grace" }, accounts: [] });
  const made = await new PeopleStore(database).findByEmail("grace@example.com");
  expect(made).toMatchObject({ isOperator: false });

  // Signed in by a mailed code, the same person is no operator.
  const mailed = lab.people.visitor();
  const code = await mailed.askForCode(grace.email);
  expect((await mailed.enterCode(grace.email, code)).status).toBe(200);
  expect(await operatorPage(mailed)).toBe("404 not_found");

  for (const said of [{ groups: ["staff"] }, { groups: undefined }, { groups: "farebox-ops" }]) {
    const other = await lab.signIn({ ...grace, ...(said as object) });
    expect([other.answer.status, other.answer.body.error.code]).toEqual([404, "no_operator"]);
  }
});

test("with OPERATOR_OIDC_GROUP a customer's person is still not taken over", async () => {
  await using lab = await SsoLab.start({ group: "farebox-ops" });
  await lab.people.person("customer@example.com");
  const { visitor, answer } = await lab.signIn({
    sub: "x",
    email: "customer@example.com",
    groups: ["farebox-ops"],
    amr: MFA,
  });
  expect([answer.status, answer.body.error.code]).toEqual([404, "no_operator"]);
  expect(await visitor.isSignedIn()).toBe(false);
});

test("a session ends when its provider is no longer the configured one", async () => {
  await using lab = await SsoLab.start();
  await lab.operator("ops@example.com");
  const { visitor } = await lab.signIn({ sub: "ops", email: "ops@example.com", amr: MFA });
  expect(await operatorPage(visitor)).toBe("open");
  const { sql } = lab.people.stores.database;
  await sql`UPDATE sessions SET sso_issuer = 'https://before.example/' WHERE sso_issuer <> ''`;
  expect(await operatorPage(visitor)).toBe("404 not_found");
  expect(await visitor.isSignedIn()).toBe(false);
});

test("without settings there is no single sign-on", async () => {
  await using lab = await PeopleLab.start();
  const visitor = lab.visitor();
  expect((await visitor.get("/console/auth/sign-in/sso")).body).toEqual({ is_offered: false });
  const begun = await visitor.auth("/sign-in/sso/begin", { return_to: "/operator" });
  expect([begun.status, begun.body.error.code]).toEqual([404, "sso_not_configured"]);
  const ended = await visitor.auth("/sign-in/sso", { query: "?code=x" });
  expect([ended.status, ended.body.error.code]).toEqual([404, "sso_not_configured"]);
});
