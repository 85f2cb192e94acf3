// Tests single sign-on with a real provider: who may come in, as which person, and with which
// rights.

import { describe, expect, test } from "bun:test";
import { HOUR_MS } from "../../../src/core/durations.ts";
import { SSO_SESSION_MS } from "../../../src/identity/sso.ts";
import { setOperator } from "../../../src/store/people/known-people.ts";
import { PeopleStore } from "../../../src/store/people/people.ts";
import { SsoLinks } from "../../../src/store/people/sso-links.ts";
import { totp } from "../../support/fakes/totp.ts";
import { shared } from "../../support/shared.ts";
import { PASSWORD } from "./people-lab.ts";
import { operatorPage, SsoLab } from "./sso-lab.ts";

const MFA = ["pwd", "otp"];

const nowMs = Date.now();

const lab = await shared(SsoLab.start({ acr: "gold" }, () => nowMs));

async function person(email: string) {
  const found = await new PeopleStore(lab.people.stores.database).findByEmail(email);
  if (found === null) throw new Error(`There is no ${email}`);
  return found;
}

describe("an operator on the list", () => {
  test("comes in through the provider, is linked once, and informed by a mail", async () => {
    await lab.operator("ada@example.com");
    const { visitor, answer } = await lab.signIn({
      sub: "ada",
      email: "ADA@example.com",
      amr: MFA,
    });
    expect([answer.status, answer.body.return_to]).toEqual([200, "/operator"]);
    expect(await operatorPage(visitor)).toBe("open");
    const { id } = await person("ada@example.com");
    const links = await new SsoLinks(lab.people.stores.database).list(id);
    expect(links).toMatchObject([{ issuer: lab.issuer.issuer, subject: "ada" }]);
    const again = await lab.signIn({ sub: "ada", email: "ada@example.com", amr: MFA });
    expect([again.answer.status, await operatorPage(again.visitor)]).toEqual([200, "open"]);
    const { sql } = lab.people.stores.database;
    const mails = await sql`SELECT subject FROM outbox
      WHERE recipient = 'ada@example.com' AND kind = 'security_notice'`;
    expect(mails.map(({ subject }) => subject)).toEqual([
      `You can now sign in through ${new URL(lab.issuer.issuer).host}`,
    ]);
  });

  test("needs nothing more if the provider names two kinds of proof", async () => {
    await lab.operator("proofs@example.com");
    const ways: readonly (readonly [{ amr?: string[]; acr?: string }, string])[] = [
      [{ amr: ["mfa"] }, "open"],
      [{ amr: ["hwk", "pin"] }, "open"],
      [{ acr: "gold" }, "open"],
      [{}, "403 second_factor_required"],
      [{ amr: ["pwd"] }, "403 second_factor_required"],
      [{ amr: ["otp"] }, "403 second_factor_required"],
      [{ amr: ["pwd", "pin"] }, "403 second_factor_required"],
      [{ amr: ["pwd", "sms"] }, "403 second_factor_required"],
    ];
    for (const [said, expected] of ways) {
      const { visitor } = await lab.signIn({ sub: "p", email: "proofs@example.com", ...said });
      expect([said, await operatorPage(visitor)]).toEqual([said, expected]);
    }
  });

  test("must give our own second factor if the provider names none", async () => {
    const secret = await (await lab.operator("own@example.com")).turnOnSecondFactor();
    const { visitor, answer } = await lab.signIn({ sub: "own", email: "own@example.com" });
    expect(answer.body.twoFactorRedirect).toBe(true);
    expect(await visitor.isSignedIn()).toBe(false);
    const wrong = await visitor.auth("/two-factor/verify-totp", { code: "000000" });
    expect(wrong.status).toBe(401);
    const given = await visitor.auth("/two-factor/verify-totp", { code: totp(secret, 1) });
    expect(given.status).toBe(200);
    expect(await operatorPage(visitor)).toBe("open");
    // The same person needs none of ours if the provider asked for a second factor.
    const other = await lab.signIn({ sub: "own", email: "own@example.com", amr: MFA });
    expect([other.answer.status, await operatorPage(other.visitor)]).toEqual([200, "open"]);
  });

  test("is signed out after eight hours, and by signing out", async () => {
    await lab.operator("hours@example.com");
    const who = { sub: "hours", email: "hours@example.com", amr: MFA };
    const first = await lab.signIn(who);
    const { visitor } = await lab.signIn(who);
    const { body } = await visitor.get("/console/api/me/sessions");
    const own = body.sessions.find(({ is_this }: { is_this: boolean }) => is_this);
    const lastsMs = new Date(own.expires_at).getTime() - nowMs;
    expect(Math.abs(lastsMs - SSO_SESSION_MS)).toBeLessThan(HOUR_MS / 60);
    expect((await visitor.auth("/sign-out")).status).toBe(200);
    expect(await operatorPage(visitor)).toBe("404 not_found");
    expect(await operatorPage(first.visitor)).toBe("open");
    const { sql } = lab.people.stores.database;
    const { id } = await person("hours@example.com");
    await sql`UPDATE sessions SET expires_at = now() - interval '1 s' WHERE person = ${id}`;
    expect(await operatorPage(first.visitor)).toBe("404 not_found");
  });

  test("keeps those eight hours when they turn their own second factor on", async () => {
    await lab.operator("later@example.com");
    const { visitor } = await lab.signIn({ sub: "later", email: "later@example.com", amr: MFA });
    // As if our own second factor had been turned on much later.
    for (const name of visitor.cookies.keys()) if (/sso$/.test(name)) visitor.cookies.delete(name);
    await visitor.turnOnSecondFactor();
    expect(await operatorPage(visitor)).toBe("open");
    const { sql } = lab.people.stores.database;
    const { id } = await person("later@example.com");
    const [row] = await sql`SELECT sso_issuer, expires_at FROM sessions WHERE person = ${id}`;
    expect(row?.sso_issuer).toBe(lab.issuer.issuer);
    expect(new Date(row?.expires_at).getTime()).toBeLessThanOrEqual(Date.now() + SSO_SESSION_MS);
  });

  test("prolongs no session by turning their own second factor off and on", async () => {
    await lab.operator("prolonged@example.com");
    const who = { sub: "prolonged", email: "prolonged@example.com", amr: MFA };
    const { visitor } = await lab.signIn(who);
    await visitor.turnOnSecondFactor();
    const { sql } = lab.people.stores.database;
    const { id } = await person("prolonged@example.com");
    const endsAt = new Date(nowMs + HOUR_MS);
    await sql`UPDATE sessions SET expires_at = ${endsAt.toISOString()}::text::timestamptz
      WHERE person = ${id}`;
    const endOf = async () => {
      const rows = await sql`SELECT sso_issuer, expires_at FROM sessions WHERE person = ${id}`;
      expect(rows.map(({ sso_issuer }) => sso_issuer)).toEqual([lab.issuer.issuer]);
      return new Date(rows[0]?.expires_at);
    };
    const off = await visitor.auth("/two-factor/disable", { password: PASSWORD });
    expect([off.status, await endOf()]).toEqual([200, endsAt]);
    for (const name of visitor.cookies.keys()) if (/sso$/.test(name)) visitor.cookies.delete(name);
    await visitor.turnOnSecondFactor();
    expect([await operatorPage(visitor), await endOf()]).toEqual(["open", endsAt]);
  });

  test("must prove again who they are, unless the provider has asked recently", async () => {
    await lab.operator("proof@example.com");
    const who = { sub: "proof", email: "proof@example.com", amr: MFA };
    const { visitor } = await lab.signIn(who);
    const fresh = await visitor.post("/console/api/me/passkeys/begin");
    expect(fresh.body.error?.code).not.toBe("sign_in_again");
    lab.issuer.change = { claims: { auth_time: undefined } };
    const { visitor: silent } = await lab.signIn(who);
    lab.issuer.change = null;
    const stale = await silent.post("/console/api/me/passkeys/begin");
    expect([stale.status, stale.body.error.code]).toEqual([403, "sign_in_again"]);
  });

  test("is no operator any longer once the flag is removed", async () => {
    await lab.operator("past@example.com");
    const who = { sub: "past", email: "past@example.com", amr: MFA };
    const { visitor } = await lab.signIn(who);
    await setOperator(lab.people.stores.database, "past@example.com", false);
    expect(await operatorPage(visitor)).toBe("404 not_found");
    const { answer } = await lab.signIn(who);
    expect([answer.status, answer.body.error.code]).toEqual([404, "no_operator"]);
  });
});

describe("a person who is unlinked in the middle of a sign-in is refused", () => {
  test("if our own second factor is still due", async () => {
    const email = "due@example.com";
    const secret = await (await lab.operator(email)).turnOnSecondFactor();
    const { visitor, answer } = await lab.signIn({ sub: "due", email });
    expect(answer.body.twoFactorRedirect).toBe(true);
    await new SsoLinks(lab.people.stores.database).removeAll((await person(email)).id);
    const late = await visitor.auth("/two-factor/verify-totp", { code: totp(secret) });
    expect([late.status, late.body.error?.code]).toEqual([401, "invalid_two_factor_cookie"]);
    expect(await visitor.isSignedIn()).toBe(false);
  });

  test("if the session is just being stored", async () => {
    const email = "stored@example.com";
    await lab.operator(email);
    const who = { sub: "stored", email, amr: MFA };
    await lab.signIn(who);
    const { id } = await person(email);
    const { answer, visitor } = await lab.people.whileItWaits(
      (tx) => tx`
        DELETE FROM person_credentials WHERE person = ${id} AND provider LIKE 'sso %'
        RETURNING pg_backend_pid() AS pid`,
      () => lab.signIn(who),
    );
    expect([answer.status, answer.body.error?.code]).toEqual([400, "sso_not_valid"]);
    expect(await visitor.isSignedIn()).toBe(false);
  });
});

describe("no person is taken over", () => {
  test("an address that is not on the list finds nothing, and makes no person", async () => {
    const { visitor, answer } = await lab.signIn({ sub: "new", email: "new@example.com" });
    expect([answer.status, answer.body.error.code]).toEqual([404, "no_operator"]);
    expect(await operatorPage(visitor)).toBe("404 not_found");
    const { database } = lab.people.stores;
    expect(await new PeopleStore(database).findByEmail("new@example.com")).toBeNull();
  });

  test("a customer's address signs no one in, and links nothing", async () => {
    await lab.people.person("customer@example.com");
    const who = { sub: "thief", email: "customer@example.com", amr: MFA };
    const { visitor, answer } = await lab.signIn(who);
    expect([answer.status, answer.body.error.code]).toEqual([404, "no_operator"]);
    expect(await visitor.isSignedIn()).toBe(false);
    const { id } = await person("customer@example.com");
    expect(await new SsoLinks(lab.people.stores.database).list(id)).toEqual([]);
  });

  test("another subject with an operator's address is refused once one is linked", async () => {
    await lab.operator("linked@example.com");
    const { answer: first } = await lab.signIn({ sub: "one", email: "linked@example.com" });
    expect(first.status).toBe(200);
    const { visitor, answer } = await lab.signIn({ sub: "two", email: "linked@example.com" });
    expect([answer.status, answer.body.error.code]).toEqual([403, "sso_refused"]);
    expect(await visitor.isSignedIn()).toBe(false);
  });

  test("a subject whose address changed at the provider is refused", async () => {
    await lab.operator("before@example.com");
    await lab.operator("after@example.com");
    await lab.signIn({ sub: "moved", email: "before@example.com" });
    const { answer } = await lab.signIn({ sub: "moved", email: "after@example.com" });
    expect([answer.status, answer.body.error.code]).toEqual([403, "sso_refused"]);
  });

  test("an address that is missing or not verified is refused", async () => {
    await lab.operator("claims@example.com");
    for (const said of [
      { email_verified: false },
      { email_verified: "true" },
      { email_verified: undefined },
      { email: undefined },
      { email: "two@example.com, claims@example.com" },
    ]) {
      const { visitor, answer } = await lab.signIn({
        sub: "claims",
        email: "claims@example.com",
        ...said,
      });
      expect([said, answer.status, answer.body.error.code]).toEqual([said, 403, "sso_refused"]);
      expect(await visitor.isSignedIn()).toBe(false);
    }
  });
});
