// Tests signing up, in and out.

import { describe, expect, test } from "bun:test";
import { scryptSync } from "node:crypto";
import { CONSOLE_ERRORS } from "../../../src/core/console-errors.ts";
import { shared } from "../../support/shared.ts";
import { PASSWORD, PeopleLab, tokenOf } from "./people-lab.ts";

const lab = await shared(PeopleLab.start());

describe("signing up with a password", () => {
  test("opens an account with free credit once the inbox is verified", async () => {
    const ada = lab.visitor();
    const token = await ada.askForAccount("ada@example.com");
    expect(await ada.isSignedIn()).toBe(false);
    expect((await ada.signIn("ada@example.com")).status).toBe(401);
    const verified = await ada.auth("/sign-up/verify", { token });
    expect(verified.body).toEqual({ status: true, signed_in: true, has_password: true });
    expect(await ada.isSignedIn()).toBe(true);
    const [account] = await lab.stores.accounts.list();
    expect(account).toMatchObject({
      email: "ada@example.com",
      name: "Ada's account",
      mailDomain: "example.com",
      signUpGrant: "granted",
    });
    const { free } = await lab.stores.actors
      .of(account?.id ?? "", account?.bucket ?? 0)
      .state()
      .then(({ wallet }) => wallet);
    expect(free).toBe(5_000_000_000n as never);
  });

  test.each([
    ["de-AT,de;q=0.9", "Konto von Ada"],
    ["zh-CN", "Ada 的账户"],
    ["fr-FR", "Ada's account"],
  ])("names the account in the language of the browser: %s", async (accepted, name) => {
    const reader = lab.visitor();
    const email = `reader-${accepted.slice(0, 2)}@example.com`;
    const token = await reader.askForAccount(email);
    await reader.auth("/sign-up/verify", { token }, { "accept-language": accepted });
    const all = await lab.stores.accounts.list();
    expect(all.find((account) => account.email === email)?.name).toBe(name);
  });

  test("a link works once", async () => {
    const bob = lab.visitor();
    const token = await bob.askForAccount("bob@example.com");
    await bob.auth("/sign-up/verify", { token });
    const again = await lab.visitor().auth("/sign-up/verify", { token });
    expect(again.status).toBe(400);
    expect(again.body.error.code).toBe("link_not_valid");
  });
});

test("a password is stored as its scrypt hash, at the cost of production", async () => {
  await using real = await PeopleLab.start({ config: { passwords: null } });
  const erin = await real.person("erin@example.com");
  const [row] = await real.stores.database.sql`SELECT password FROM person_credentials`;
  const [salt = "", hash] = String(row?.password).split(":");
  const cost = { N: 16_384, r: 16, p: 1, maxmem: 64 * 1024 * 1024 };
  expect(scryptSync(PASSWORD, salt, 64, cost).toString("hex")).toBe(hash ?? "");
  expect(salt).toMatch(/^[0-9a-f]{32}$/);
  expect((await erin.signIn("erin@example.com", "wrong password")).status).toBe(401);
  expect((await erin.signIn("erin@example.com")).status).toBe(200);
});

test("without `remember me` a session lasts a day, even if a change replaces it", async () => {
  const email = "forgotten@example.com";
  await lab.person(email);
  const visitor = lab.visitor();
  await visitor.auth("/sign-in/email", { email, password: PASSWORD, rememberMe: false });
  const hoursLeft = async () => {
    const { sessions } = (await visitor.get("/console/api/me/sessions")).body;
    const { expires_at: end } = sessions.find((one: { is_this: boolean }) => one.is_this);
    return Math.round((Date.parse(end) - Date.now()) / 3_600_000);
  };
  expect(await hoursLeft()).toBe(24);
  await visitor.turnOnSecondFactor();
  expect(await hoursLeft()).toBe(24);
  await visitor.auth("/two-factor/disable", { password: PASSWORD });
  expect(await hoursLeft()).toBe(24);
  const newPassword = "another long password";
  await visitor.auth("/change-password", { currentPassword: PASSWORD, newPassword });
  expect(await hoursLeft()).toBe(24);
  await visitor.auth("/sign-in/email", { email, password: newPassword });
  expect(await hoursLeft()).toBe(14 * 24);
});

describe("signing in", () => {
  test("with a password, and out again", async () => {
    await lab.person("carol@example.com");
    const carol = lab.visitor();
    expect((await carol.signIn("carol@example.com", "wrong password")).status).toBe(401);
    expect((await carol.signIn("carol@example.com")).status).toBe(200);
    expect(await carol.isSignedIn()).toBe(true);
    const stolen = lab.visitor();
    for (const [name, value] of carol.cookies) stolen.cookies.set(name, value);
    expect(await stolen.isSignedIn()).toBe(true);
    await carol.auth("/sign-out");
    expect(await carol.isSignedIn()).toBe(false);
    expect(await stolen.isSignedIn()).toBe(false);
  });

  test("with a mailed code, which also signs up", async () => {
    const dan = lab.visitor();
    const email = "dan@example.com";
    const code = await dan.askForCode(email);
    expect(code).toMatch(/^\d{6}$/);
    const entered = await dan.enterCode(email, code);
    expect(entered.status).toBe(200);
    expect(entered.text).not.toContain("token");
    expect(await dan.isSignedIn()).toBe(true);
    const again = await lab.visitor().enterCode(email, code);
    expect(again.status).toBe(400);
  });

  test("with a new password, which ends all sessions", async () => {
    const email = "eve@example.com";
    const eve = await lab.person(email);
    const asked = await lab.visitor().auth("/request-password-reset", { email });
    const token = tokenOf(asked);
    const newPassword = "another good password";
    expect((await eve.auth("/reset-password", { token, newPassword })).status).toBe(200);
    expect((await eve.auth("/reset-password", { token, newPassword })).status).toBe(400);
    expect(await eve.isSignedIn()).toBe(false);
    expect((await eve.signIn(email, PASSWORD)).status).toBe(401);
    expect((await eve.signIn(email, newPassword)).status).toBe(200);
  });
});

test("each refusal of a sign-in has a code of the table, and its status", async () => {
  await lab.person("codes@example.com");
  const visitor = lab.visitor();
  const refusals = [
    ["/two-factor/enable", { password: PASSWORD }, "not_signed_in"],
    ["/change-password", { currentPassword: "x", newPassword: PASSWORD }, "not_signed_in"],
    ["/sign-in/email", { email: "codes@example.com", password: "x" }, "invalid_email_or_password"],
    ["/sign-in/email-otp", { email: "codes@example.com", otp: "123456" }, "invalid_otp"],
    ["/reset-password", { token: "x", newPassword: PASSWORD }, "invalid_token"],
    ["/two-factor/verify-totp", { code: "123456" }, "invalid_two_factor_cookie"],
  ] as const;
  for (const [path, body, code] of refusals) {
    const { status, body: answer } = await visitor.auth(path, body);
    expect([path, status, answer.error.code]).toEqual([path, CONSOLE_ERRORS[code].status, code]);
  }
});
