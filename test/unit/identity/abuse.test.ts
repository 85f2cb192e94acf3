// Tests attacks of strangers: foreign pages, stolen and planted cookies, guesses, and free credit
// twice.

import { describe, expect, test } from "bun:test";
import { lacksAllowance, parseDocument } from "../../../src/core/access/access.ts";
import { usd } from "../../../src/core/money/money.ts";
import { WalletRepository } from "../../../src/store/accounts/wallet-repository.ts";
import { shared } from "../../support/shared.ts";
import { PASSWORD, PeopleLab, tokenOf, type Visitor, wrongCode } from "./people-lab.ts";

const lab = await shared(PeopleLab.start());

async function grantsOf(email: string): Promise<(string | null)[]> {
  const accounts = await lab.stores.accounts.list();
  return accounts.filter((one) => one.email === email).map(({ signUpGrant }) => signUpGrant);
}

describe("a foreign page", () => {
  const cases: readonly (readonly [string, Record<string, string>, number])[] = [
    ["another origin", { origin: "https://evil.example" }, 403],
    ["no origin", { origin: "" }, 403],
    ["the origin null", { origin: "null" }, 403],
    ["a form", { "content-type": "application/x-www-form-urlencoded" }, 415],
    ["plain text", { "content-type": "text/plain" }, 415],
  ];
  for (const [name, headers, status] of cases) {
    test(`changes nothing with ${name}`, async () => {
      const ada = await lab.person(`csrf-${name.replaceAll(" ", "-")}@example.com`);
      expect((await ada.auth("/sign-out", {}, headers)).status).toBe(status);
      expect((await ada.post("/console/api/me/name", { name: "Eve" }, headers)).status).toBe(
        status,
      );
      expect(await ada.isSignedIn()).toBe(true);
      expect((await ada.get("/console/api/me")).body.person.name).toBe("Ada");
    });
  }

  // A foreign page's DNS may name any machine, also this one: then a browser sees one origin.
  test("whose name leads to this machine signs no person in, and sees no mail", async () => {
    const email = "rebound@example.com";
    await lab.person(email);
    const path = "/email-otp/send-verification-otp";
    const { port } = new URL(lab.api.parts.url);
    const from = (name: string) => ({ host: `${name}:${port}`, origin: `http://${name}:${port}` });
    for (const name of ["evil.example", "127.evil.example", "localhost.evil.example", "10.0.0.1"]) {
      const { status, body } = await lab.visitor().auth(path, { email }, from(name));
      expect([name, status, body]).toMatchObject([
        name,
        403,
        { error: { code: "foreign_origin" } },
      ]);
    }
    for (const name of ["localhost", "127.0.0.1", "[::1]"]) {
      const { status } = await lab.visitor().auth(path, { email }, from(name));
      expect([name, status]).toEqual([name, 200]);
    }
  });

  test("is never redirected to, whatever is requested", async () => {
    const evil = "https://evil.example/";
    const more = { callbackURL: evil, redirectTo: evil };
    const email = "redirect@example.com";
    const visitor = lab.visitor();
    const body = { email, name: "Ada", password: PASSWORD, ...more };
    const asked = await visitor.auth("/sign-up/email", body);
    const verified = await visitor.auth("/sign-up/verify", { token: tokenOf(asked), ...more });
    const reset = await visitor.auth("/request-password-reset", { email, ...more });
    const signedIn = await visitor.auth("/sign-in/email", { email, password: PASSWORD, ...more });
    for (const { status, text, headers } of [asked, verified, reset, signedIn]) {
      expect(status).toBe(200);
      expect(text).not.toContain("evil");
      expect(headers.get("location")).toBeNull();
    }
  });
});

describe("a cookie", () => {
  test("planted before signing in does not become the session", async () => {
    await lab.person("fixed@example.com");
    const visitor = lab.visitor();
    visitor.cookies.set("farebox.session_token", "planted.c2lnbmF0dXJl");
    await visitor.signIn("fixed@example.com");
    expect(visitor.cookies.get("farebox.session_token")).not.toContain("planted");
    const attacker = lab.visitor();
    attacker.cookies.set("farebox.session_token", "planted.c2lnbmF0dXJl");
    expect(await attacker.isSignedIn()).toBe(false);
  });

  test("cannot be made from the data that Postgres stores", async () => {
    const email = "leaked@example.com";
    await lab.person(email);
    const rows = await lab.stores.database.sql`SELECT token FROM sessions`;
    for (const { token } of rows) {
      const attacker = lab.visitor();
      attacker.cookies.set("farebox.session_token", String(token));
      expect(await attacker.isSignedIn()).toBe(false);
    }
    const headers = { authorization: `Bearer ${rows[0]?.token}` };
    expect((await lab.visitor().post("/console/api/me/name", { name: "x" }, headers)).status).toBe(
      401,
    );
  });

  test("on HTTPS is only for pages of this host", async () => {
    const secure = await PeopleLab.start({ config: { origin: "https://console.example.com" } });
    await using _ = secure;
    const visitor = secure.visitor();
    const email = "host@example.com";
    const token = await visitor.askForAccount(email);
    const { headers } = await visitor.auth("/sign-up/verify", { token });
    const line = headers.getSetCookie().find((cookie) => cookie.includes("session_token")) ?? "";
    expect(line).toStartWith("__Host-farebox.session_token=");
    for (const attribute of ["Path=/", "HttpOnly", "Secure", "SameSite=Lax"]) {
      expect(line).toContain(attribute);
    }
    expect(line).not.toContain("Domain");
    expect(await visitor.isSignedIn()).toBe(true);
  });
});

describe("a stranger cannot learn if an inbox is known", () => {
  const paths: readonly (readonly [string, (email: string) => object])[] = [
    ["/sign-up/email", (email) => ({ email, name: "Ada", password: PASSWORD })],
    ["/request-password-reset", (email) => ({ email })],
    ["/email-otp/send-verification-otp", (email) => ({ email })],
    ["/sign-in/email", (email) => ({ email, password: "a wrong password" })],
  ];

  test("by status or body", async () => {
    const quiet = await PeopleLab.start({ config: { showsMailsTo: () => false } });
    await using _ = quiet;
    const { database } = quiet.stores;
    await database.sql`
      INSERT INTO people (id, email, email_verified, name)
      VALUES ('person_known', 'known@example.com', true, 'Known')`;
    for (const [path, body] of paths) {
      const known = await quiet.visitor().auth(path, body("known@example.com"));
      const unknown = await quiet.visitor().auth(path, body("unknown@example.com"));
      expect([path, known.status, known.text]).toEqual([path, unknown.status, unknown.text]);
    }
  });

  test("by a link that a scanner of mail opens: it changes nothing", async () => {
    const visitor = lab.visitor();
    const token = await visitor.askForAccount("scanned@example.com");
    for (const path of ["/console/auth/sign-up/verify", "/console/auth/verify-email"]) {
      const { status } = await lab.visitor().get(`${path}?token=${token}`);
      expect([404, 405]).toContain(status);
    }
    expect((await visitor.auth("/sign-up/verify", { token })).body.signed_in).toBe(true);
  });
});

test("other features of better-auth are not reachable", async () => {
  const ada = await lab.person("closed@example.com");
  const paths = ["update-user", "delete-user", "link-social", "unlink-account", "set-password"];
  for (const path of [...paths, "revoke-sessions", "sign-in/social", "verify-password"]) {
    expect((await ada.auth(`/${path}`, { password: PASSWORD })).status).toBe(404);
  }
  expect((await ada.get("/console/auth/list-accounts")).status).toBe(404);
  expect((await ada.get("/console/auth/get-session")).status).toBe(404);
});

describe("guessing", () => {
  test("a code ends after a few tries, and the right one comes too late", async () => {
    const email = "guessed@example.com";
    const code = await lab.visitor().askForCode(email);
    for (let attempt = 0; attempt < 5; attempt++) {
      await lab.visitor().enterCode(email, wrongCode(code));
    }
    const late = await lab.visitor().enterCode(email, code);
    expect(late.status).not.toBe(200);
  });

  test("a password is slowed down for an address, not for its owner elsewhere", async () => {
    const email = "slow@example.com";
    const owner = await lab.person(email);
    const attacker = lab.visitor();
    const answers: number[] = [];
    for (let attempt = 0; attempt < 12; attempt++) {
      answers.push((await attacker.signIn(email, `wrong password ${attempt}`)).status);
    }
    expect(answers.slice(0, 10)).toEqual(Array(10).fill(401));
    expect(answers.slice(10)).toEqual([429, 429]);
    const refused = await attacker.signIn(email);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await owner.signIn(email)).status).toBe(200);
  });

  test("mails to one inbox end after three for a network", async () => {
    const email = "flooded@example.com";
    const visitor = lab.visitor();
    const answers = [];
    for (let mail = 0; mail < 4; mail++) {
      answers.push((await visitor.auth("/request-password-reset", { email })).status);
    }
    expect(answers).toEqual([200, 200, 200, 429]);
  });
});

describe("free credit", () => {
  test("is granted once to 20 sign-ups of one inbox at once", async () => {
    const visitors = Array.from({ length: 20 }, () => lab.visitor());
    const emails = visitors.map((_, number) => `many+${number}@example.net`);
    const tokens: (string | null)[] = [];
    for (const [number, visitor] of visitors.entries()) {
      const who = { email: emails[number], name: "Ada", password: PASSWORD };
      // The limit of one inbox counts its mails; this test is about its links.
      await lab.stores.database.sql`DELETE FROM attempts`;
      tokens.push(tokenOf(await visitor.auth("/sign-up/email", who)));
    }
    await lab.stores.database.sql`DELETE FROM attempts`;
    await Promise.all(
      visitors.map((visitor, at) => visitor.auth("/sign-up/verify", { token: tokens[at] })),
    );
    const grants = (await Promise.all(emails.map(grantsOf))).flat();
    expect(grants).toHaveLength(20);
    expect(grants.filter((grant) => grant === "granted")).toHaveLength(1);
    const [row] = await lab.stores.database.sql`
      SELECT count(*)::int AS credits FROM operations o JOIN accounts a ON a.number = o.account
      WHERE a.email LIKE 'many+%'`;
    expect(row?.credits).toBe(1);
  });

  test("one inbox that redeems many links at once is one person with one account", async () => {
    const email = "twice@example.com";
    const visitors = Array.from({ length: 3 }, () => lab.visitor());
    const tokens: (string | null)[] = [];
    for (const visitor of visitors) tokens.push(await visitor.askForAccount(email));
    const answers = await Promise.all(
      visitors.map((visitor, at) => visitor.auth("/sign-up/verify", { token: tokens[at] })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers.filter(({ body }) => body.signed_in)).toHaveLength(1);
    expect(await grantsOf(email)).toEqual(["granted"]);
  });

  test("goes to a network once, to a device once, and to no throw-away inbox", async () => {
    await lab.person("first@example.com", "203.0.113.4");
    await lab.person("second@example.com", "203.0.113.200");
    await lab.person("third@example.com", "2001:db8:1:1::1");
    await lab.person("fourth@example.com", "2001:db8:1:ffff::1");
    expect(await grantsOf("first@example.com")).toEqual(["granted"]);
    expect(await grantsOf("second@example.com")).toEqual(["used_elsewhere"]);
    expect(await grantsOf("third@example.com")).toEqual(["granted"]);
    expect(await grantsOf("fourth@example.com")).toEqual(["used_elsewhere"]);
    const device = await lab.person("fifth@example.com");
    const moved: Visitor = lab.visitor();
    moved.cookies.set("farebox_device", device.cookies.get("farebox_device") ?? "");
    await moved.signUp("sixth@example.com");
    expect(await grantsOf("sixth@example.com")).toEqual(["used_elsewhere"]);
    await lab.person("seventh@mailinator.com");
    expect(await grantsOf("seventh@mailinator.com")).toEqual(["disposable_inbox"]);
  });

  test("of the Free plan goes to an inbox once, whoever owns its account later", async () => {
    const allowances = async (visitor: Visitor): Promise<number> => {
      const body = { surface: "application", name: "My app" };
      const opened = await visitor.post("/console/api/accounts", body);
      expect(opened.status).toBe(200);
      const { id } = opened.body;
      const { database } = lab.stores;
      const repository = new WalletRepository(database);
      const nowMs = Date.now();
      const stored = await repository.readDocument(id);
      const isDue = lacksAllowance(parseDocument(stored?.document ?? ""), nowMs);
      await repository.grantAllowance(id, nowMs, usd("1"));
      const [row] = await database.sql`
        SELECT count(*)::int AS allowances FROM operations o
        JOIN accounts a ON a.number = o.account WHERE a.id = ${id}`;
      expect(row?.allowances).toBe(isDue ? 1 : 0);
      return Number(row?.allowances);
    };
    const ada = await lab.person("allowed+1@example.net");
    expect(await allowances(ada)).toBe(1);
    expect(await allowances(await lab.person("allowed+2@example.net"))).toBe(0);
    expect(await allowances(await lab.person("thrown@mailinator.com"))).toBe(0);
    const { database } = lab.stores;
    // As if another owner had been invited, and she had left.
    await database.sql`
      DELETE FROM memberships m USING accounts a, people p
      WHERE a.number = m.account AND p.id = m.person AND a.surface = 'application'
        AND p.email = 'allowed+1@example.net'`;
    expect(await allowances(ada)).toBe(0);
    const [last] = (await ada.get("/console/api/me")).body.accounts.slice(-1);
    const { body } = await ada.get(`/console/api/accounts/${last.id}/overview`);
    expect(body.free_credit).toBe("used_elsewhere");
  });
});
