// Tests proofs that were issued before a change: links, trusted devices, sign-ins that wait for a
// code, and roles. None of them outlives the change.

import { describe, expect, test } from "bun:test";
import { eventually } from "../../support/eventually.ts";
import { totp } from "../../support/fakes/totp.ts";
import { shared } from "../../support/shared.ts";
import { PASSWORD, PeopleLab, tokenOf, type Visitor } from "./people-lab.ts";

const NEW_PASSWORD = "another long password";

const lab = await shared(PeopleLab.start());
const { sql } = lab.stores.database;

async function resetLinkOf(email: string): Promise<string | null> {
  return tokenOf(await lab.visitor().auth("/request-password-reset", { email }));
}

async function reset(token: string | null): Promise<unknown[]> {
  const { status, body } = await lab.visitor().auth("/reset-password", {
    token,
    newPassword: NEW_PASSWORD,
  });
  return [status, body.error?.code];
}

describe("a link to set a new password ends", () => {
  test("when another link was used", async () => {
    const email = "two-links@example.com";
    await lab.person(email);
    const tokens = [await resetLinkOf(email), await resetLinkOf(email)];
    expect(await reset(tokens[0] ?? null)).toEqual([200, undefined]);
    expect(await reset(tokens[1] ?? null)).toEqual([400, "invalid_token"]);
  });

  test("with a change of the password", async () => {
    const email = "changed@example.com";
    const person = await lab.person(email);
    const token = await resetLinkOf(email);
    const passwords = { currentPassword: PASSWORD, newPassword: NEW_PASSWORD };
    expect((await person.auth("/change-password", passwords)).status).toBe(200);
    expect(await person.isSignedIn()).toBe(true);
    expect(await reset(token)).toEqual([400, "invalid_token"]);
  });

  test("with the address that it was mailed to", async () => {
    const email = "old-inbox@example.com";
    const person = await lab.person(email);
    const token = await resetLinkOf(email);
    const asked = await person.post("/console/api/me/email", { email: "new-inbox@example.com" });
    const confirmed = { token: tokenOf(asked) };
    expect((await person.post("/console/api/me/email/confirm", confirmed)).status).toBe(200);
    expect(await reset(token)).toEqual([400, "invalid_token"]);
    expect((await lab.visitor().signIn("new-inbox@example.com")).status).toBe(200);
  });
});

test("a link to another address ends with the password of its person", async () => {
  const email = "asked-before@example.com";
  const owner = await lab.person(email);
  const changes = {
    "a reset": async () => expect(await reset(await resetLinkOf(email))).toEqual([200, undefined]),
    "a new password": async () => {
      const passwords = { currentPassword: NEW_PASSWORD, newPassword: PASSWORD };
      expect((await owner.auth("/change-password", passwords)).status).toBe(200);
    },
  };
  let password = PASSWORD;
  for (const [name, change] of Object.entries(changes)) {
    const thief = lab.visitor();
    await thief.signIn(email, password);
    const asked = await thief.post("/console/api/me/email", { email: "evil@example.com" });
    expect([name, asked.status]).toEqual([name, 200]);
    await change();
    password = name === "a reset" ? NEW_PASSWORD : PASSWORD;
    await owner.signIn(email, password);
    const late = await owner.post("/console/api/me/email/confirm", { token: tokenOf(asked) });
    expect([name, late.status, late.body.error?.code]).toEqual([name, 400, "link_not_valid"]);
  }
  expect((await owner.get("/console/api/me")).body.person.email).toBe(email);
});

test("a link to another address names it, and gives no other", async () => {
  const owner = await lab.person("names-it@example.com");
  const asked = await owner.post("/console/api/me/email", { email: "Named+1@Example.com" });
  const token = tokenOf(asked) ?? "";
  expect(token).toEndWith(".named+1@example.com");
  const forged = token.replace("named+1", "other");
  const refused = await owner.post("/console/api/me/email/confirm", { token: forged });
  expect([refused.status, refused.body.error?.code]).toEqual([400, "link_not_valid"]);
  const confirmed = await owner.post("/console/api/me/email/confirm", { token });
  expect(confirmed.body).toEqual({ email: "named+1@example.com" });
});

describe("a mailed code to sign in ends", () => {
  /** The status of a sign-in with a code, after `change` was made. */
  async function lateSignIn(email: string, change: (owner: Visitor) => Promise<unknown>) {
    const owner = await lab.person(email);
    const visitor = lab.visitor();
    const code = await visitor.askForCode(email);
    await change(owner);
    return (await visitor.enterCode(email, code)).status;
  }

  test("with a change of the password", async () => {
    const passwords = { currentPassword: PASSWORD, newPassword: NEW_PASSWORD };
    const late = await lateSignIn("code-1@example.com", (owner) =>
      owner.auth("/change-password", passwords),
    );
    expect(late).toBe(400);
  });

  test("with a password that a mailed link set", async () => {
    const email = "code-2@example.com";
    expect(await lateSignIn(email, async () => reset(await resetLinkOf(email)))).toBe(400);
  });

  test("with the second factor", async () => {
    const email = "code-3@example.com";
    expect(await lateSignIn(email, (owner) => owner.turnOnSecondFactor())).toBe(400);
  });

  test("with the address that it was mailed to", async () => {
    const late = await lateSignIn("code-4@example.com", async (owner) => {
      const asked = await owner.post("/console/api/me/email", { email: "code-5@example.com" });
      await owner.post("/console/api/me/email/confirm", { token: tokenOf(asked) });
    });
    expect(late).toBe(400);
  });
});

test("a sign-in that waits for a code ends with the password that began it", async () => {
  const email = "waiting@example.com";
  const person = await lab.person(email);
  const secret = await person.turnOnSecondFactor();
  const other = lab.visitor();
  expect((await other.signIn(email)).body.twoFactorRedirect).toBe(true);
  const passwords = { currentPassword: PASSWORD, newPassword: NEW_PASSWORD };
  expect((await person.auth("/change-password", passwords)).status).toBe(200);
  const late = await other.auth("/two-factor/verify-totp", { code: totp(secret, 1) });
  expect([late.status, late.body.error.code]).toEqual([401, "invalid_two_factor_cookie"]);
  expect(await other.isSignedIn()).toBe(false);
});

/** A lab whose sign-ins can be held while they compare the password: the person was read before. */
async function slowLab() {
  const held = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  let isHeld = false;
  const slow = await PeopleLab.start({
    config: {
      passwords: {
        hash: (password) => Promise.resolve(`hash of ${password}`),
        async verify({ hash, password }) {
          if (isHeld) {
            isHeld = false;
            held.resolve();
            await goOn.promise;
          }
          return hash === `hash of ${password}`;
        },
      },
    },
  });
  return {
    lab: slow,
    goOn: () => goOn.resolve(),
    /** Begins a sign-in, and waits until it compares the password. */
    async compared(begin: () => ReturnType<Visitor["signIn"]>) {
      isHeld = true;
      const result = begin();
      await held.promise;
      return { result };
    },
    [Symbol.asyncDispose]: () => slow[Symbol.asyncDispose](),
  };
}

describe("a sign-in that was in progress while the password was changed", () => {
  const passwords = { currentPassword: PASSWORD, newPassword: NEW_PASSWORD };

  test("is refused when the old password was read before", async () => {
    await using slow = await slowLab();
    const email = "under-way@example.com";
    const person = await slow.lab.person(email);
    const thief = slow.lab.visitor();
    const answer = await slow.compared(() => thief.signIn(email));
    expect((await person.auth("/change-password", passwords)).status).toBe(200);
    slow.goOn();
    const { status, body } = await answer.result;
    expect([status, body.error?.code]).toEqual([401, "invalid_email_or_password"]);
    expect(await thief.isSignedIn()).toBe(false);
    expect(await person.isSignedIn()).toBe(true);
  });

  test("has no session if it ended while the change was being stored", async () => {
    const email = "between@example.com";
    const person = await lab.person(email);
    const thief = lab.visitor();
    const changed = await lab.whileItWaits(
      (tx) => tx`
        SELECT pg_backend_pid() AS pid FROM person_credentials c
        JOIN people p ON p.id = c.person WHERE p.email = ${email} FOR SHARE OF c`,
      () => person.auth("/change-password", passwords),
      async () => expect((await thief.signIn(email)).status).toBe(200),
    );
    expect(changed.status).toBe(200);
    expect(await thief.isSignedIn()).toBe(false);
    expect(await person.isSignedIn()).toBe(true);
  });
});

describe("a thief's request in progress with the old password is refused:", () => {
  const owned = { currentPassword: PASSWORD, newPassword: NEW_PASSWORD };
  const stolen = { currentPassword: PASSWORD, newPassword: "the password of a thief" };

  test("a change of the password, after the owner's", async () => {
    await using slow = await slowLab();
    const email = "changed-first@example.com";
    const owner = await slow.lab.person(email);
    const thief = slow.lab.visitor();
    await thief.signIn(email);
    const answer = await slow.compared(() => thief.auth("/change-password", stolen));
    expect((await owner.auth("/change-password", owned)).status).toBe(200);
    slow.goOn();
    const { status, body } = await answer.result;
    expect([status, body.error?.code]).toEqual([400, "invalid_password"]);
    expect([await thief.isSignedIn(), await owner.isSignedIn()]).toEqual([false, true]);
    expect((await slow.lab.visitor().signIn(email, NEW_PASSWORD)).status).toBe(200);
  });

  test("a change of the password, after a mailed link set another", async () => {
    await using slow = await slowLab();
    const email = "reset-first@example.com";
    await slow.lab.person(email);
    const [thief, owner] = [slow.lab.visitor(), slow.lab.visitor()];
    await thief.signIn(email);
    const answer = await slow.compared(() => thief.auth("/change-password", stolen));
    const token = tokenOf(await owner.auth("/request-password-reset", { email }));
    const set = { token, newPassword: NEW_PASSWORD };
    expect((await owner.auth("/reset-password", set)).status).toBe(200);
    slow.goOn();
    const { status, body } = await answer.result;
    expect([status, body.error?.code]).toEqual([400, "invalid_password"]);
    expect(await thief.isSignedIn()).toBe(false);
    expect((await owner.signIn(email, NEW_PASSWORD)).status).toBe(200);
  });

  test("beginning a second factor, after a change of the password", async () => {
    await using slow = await slowLab();
    const email = "on-too-late@example.com";
    const owner = await slow.lab.person(email);
    const thief = slow.lab.visitor();
    await thief.signIn(email);
    const answer = await slow.compared(() =>
      thief.auth("/two-factor/enable", { password: PASSWORD }),
    );
    expect((await owner.auth("/change-password", owned)).status).toBe(200);
    slow.goOn();
    const { status, body } = await answer.result;
    expect([status, body.error?.code]).toEqual([401, "not_signed_in"]);
    expect(body.totpURI).toBeUndefined();
  });

  test("turning the second factor off, after a change of the password", async () => {
    await using slow = await slowLab();
    const email = "off-too-late@example.com";
    const owner = await slow.lab.person(email);
    const secret = await owner.turnOnSecondFactor();
    const thief = slow.lab.visitor();
    await thief.signIn(email);
    await thief.auth("/two-factor/verify-totp", { code: totp(secret, 1) });
    const answer = await slow.compared(() =>
      thief.auth("/two-factor/disable", { password: PASSWORD }),
    );
    expect((await owner.auth("/change-password", owned)).status).toBe(200);
    slow.goOn();
    const { status, body } = await answer.result;
    expect([status, body.error?.code]).toEqual([401, "not_signed_in"]);
    expect([await thief.isSignedIn(), await owner.isSignedIn()]).toEqual([false, true]);
    const { person } = (await owner.get("/console/api/me")).body;
    expect(person.has_two_factor).toBe(true);
  });

  test("turning the second factor off, if the session ended while it was stored", async () => {
    const email = "off-in-between@example.com";
    const owner = await lab.person(email);
    const secret = await owner.turnOnSecondFactor();
    const thief = lab.visitor();
    await thief.signIn(email);
    await thief.auth("/two-factor/verify-totp", { code: totp(secret, 1) });
    const answer = await lab.whileItWaits(
      (tx) => tx`
        SELECT pg_backend_pid() AS pid FROM people WHERE email = ${email} FOR NO KEY UPDATE`,
      () => thief.auth("/two-factor/disable", { password: PASSWORD }),
      async () => {
        expect((await owner.post("/console/api/me/end-other-sessions")).status).toBe(200);
      },
    );
    expect([answer.status, answer.body.error?.code]).toEqual([401, "not_signed_in"]);
    expect([await thief.isSignedIn(), await owner.isSignedIn()]).toEqual([false, true]);
  });
});

describe("a sign-in that was in progress while the second factor was turned on", () => {
  test("needs its code if the person was read before", async () => {
    await using slow = await slowLab();
    const email = "read-before@example.com";
    const person = await slow.lab.person(email);
    const thief = slow.lab.visitor();
    const answer = await slow.compared(() => thief.signIn(email));
    await person.turnOnSecondFactor();
    slow.goOn();
    expect((await answer.result).body.twoFactorRedirect).toBe(true);
    expect([await thief.isSignedIn(), await person.isSignedIn()]).toEqual([false, true]);
  });

  test("has no session if it ended while the change was being stored", async () => {
    const email = "between-factors@example.com";
    const person = await lab.person(email);
    const thief = lab.visitor();
    await lab.whileItWaits(
      (tx) => tx`
        SELECT pg_backend_pid() AS pid FROM people WHERE email = ${email} FOR NO KEY UPDATE`,
      () => person.turnOnSecondFactor(),
      async () => expect((await thief.signIn(email)).status).toBe(200),
    );
    expect([await thief.isSignedIn(), await person.isSignedIn()]).toEqual([false, true]);
  });
});

describe("a device is no longer trusted once", () => {
  /** A person with a second factor, and a browser that needs none for them. */
  async function trusting(email: string) {
    const person = await lab.person(email);
    const secret = await person.turnOnSecondFactor();
    const device = lab.visitor();
    await device.signIn(email);
    const code = { code: totp(secret, 1), trustDevice: true };
    expect((await device.auth("/two-factor/verify-totp", code)).status).toBe(200);
    expect((await device.signIn(email)).body.twoFactorRedirect).toBeUndefined();
    expect(await device.isSignedIn()).toBe(true);
    return { person, device };
  }

  test("the second factor is another one", async () => {
    const email = "trusting@example.com";
    const { person, device } = await trusting(email);
    expect((await person.auth("/two-factor/disable", { password: PASSWORD })).status).toBe(200);
    await person.turnOnSecondFactor();
    expect((await device.signIn(email)).body.twoFactorRedirect).toBe(true);
  });

  test("its person signs out everywhere else", async () => {
    const email = "lost@example.com";
    const { person, device } = await trusting(email);
    expect((await person.post("/console/api/me/end-other-sessions")).status).toBe(200);
    expect(await device.isSignedIn()).toBe(false);
    expect((await device.signIn(email)).body.twoFactorRedirect).toBe(true);
    expect(await person.isSignedIn()).toBe(true);
  });

  test("its person signs out there", async () => {
    const email = "lost-there@example.com";
    const { person, device } = await trusting(email);
    const { sessions } = (await device.get("/console/api/me/sessions")).body;
    const { id } = sessions.find((session: { is_this: boolean }) => session.is_this);
    expect((await person.post(`/console/api/me/sessions/${id}/end`)).status).toBe(200);
    expect(await device.isSignedIn()).toBe(false);
    expect((await device.signIn(email)).body.twoFactorRedirect).toBe(true);
  });
});

test("a stranger who asked for the account cannot sign in with their password", async () => {
  const email = "prepared@example.com";
  const stranger = lab.visitor();
  const token = await stranger.askForAccount(email, "the password of a stranger");
  const owner = lab.visitor();
  const opened = await owner.auth("/sign-up/verify", { token });
  expect((await stranger.signIn(email, "the password of a stranger")).status).toBe(401);
  expect(opened.body).toMatchObject({ signed_in: true, has_password: false });
  expect(await reset(await resetLinkOf(email))).toEqual([200, undefined]);
  expect((await owner.signIn(email, NEW_PASSWORD)).status).toBe(200);
  const browser = lab.visitor();
  const own = await browser.askForAccount("own-link@example.com");
  expect((await browser.auth("/sign-up/verify", { token: own })).body.has_password).toBe(true);
});

describe("a role that was lost while a change waited for the account", () => {
  const CHANGES: Readonly<Record<string, (own: string) => readonly [string, object]>> = {
    "sends no invitation": () => ["invitations", { email: "back@example.com", role: "admin" }],
    "makes no key": () => ["keys", { name: "kept", scopes: ["models"] }],
    "gives itself back": (own) => [`members/${own}/role`, { role: "owner" }],
  };
  for (const [what, change] of Object.entries(CHANGES)) {
    test(what, async () => {
      const name = what.replaceAll(" ", "-");
      const owner = await lab.person(`owner-${name}@example.com`);
      const account = await owner.firstAccount();
      const path = (rest: string) => `/console/api/accounts/${account}/${rest}`;
      const email = `second-${name}@example.com`;
      const invited = await owner.post(path("invitations"), { email, role: "owner" });
      const second = await lab.person(email);
      await second.post("/console/api/invitations/accept", { token: tokenOf(invited) });
      const own = (await second.get("/console/api/me")).body.person.id;
      const [rest, body] = change(own);
      const [found] = await sql`SELECT number FROM accounts WHERE id = ${account}`;
      const number = Number(found?.number);
      const waiting = await sql.begin(async (tx) => {
        const [locked] = await tx`
          SELECT pg_backend_pid() AS pid FROM accounts WHERE number = ${number} FOR UPDATE`;
        const answer = second.post(path(rest), body);
        await eventually("the change waits for the account", async () => {
          const [row] = await sql`
            SELECT count(*)::int AS waiting FROM pg_stat_activity
            WHERE ${Number(locked?.pid)} = ANY (pg_blocking_pids(pid))`;
          return row?.waiting > 0;
        });
        await tx`UPDATE memberships SET role = 'viewer'
          WHERE account = ${number} AND person = ${own}`;
        return { answer };
      });
      const { status, body: answer } = await waiting.answer;
      expect([status, answer.error?.code]).toEqual([403, "role_required"]);
      const [row] = await sql`
        SELECT (SELECT role FROM memberships WHERE account = ${number} AND person = ${own}) AS role,
          (SELECT count(*)::int FROM keys WHERE account = ${number}) AS keys,
          (SELECT count(*)::int FROM invitations
            WHERE account = ${number} AND ended_at IS NULL) AS open`;
      expect(row).toEqual({ role: "viewer", keys: 0, open: 0 });
    });
  }
});

test("an invitation sent while its sender's address changes ends with the sender", async () => {
  const owner = await lab.person("stays@example.com");
  const account = await owner.firstAccount();
  const path = (rest: string) => `/console/api/accounts/${account}/${rest}`;
  const email = "leaves@example.com";
  const invited = await owner.post(path("invitations"), { email, role: "admin" });
  const second = await lab.person(email);
  await second.post("/console/api/invitations/accept", { token: tokenOf(invited) });
  const own = (await second.get("/console/api/me")).body.person.id;
  const asked = await second.post("/console/api/me/email", { email: "leaves-as@example.com" });
  const sending = await sql.begin(async (tx) => {
    const [locked] = await tx`
      SELECT pg_backend_pid() AS pid FROM accounts WHERE id = ${account} FOR UPDATE`;
    const sent = second.post(path("invitations"), { email: "late@example.com", role: "viewer" });
    await eventually("the invitation waits for the account", async () => {
      const [row] = await sql`
        SELECT count(*)::int AS waiting FROM pg_stat_activity
        WHERE ${Number(locked?.pid)} = ANY (pg_blocking_pids(pid))`;
      return row?.waiting > 0;
    });
    const confirmed = { token: tokenOf(asked) };
    expect((await second.post("/console/api/me/email/confirm", confirmed)).status).toBe(200);
    return { sent };
  });
  const late = await sending.sent;
  expect(late.status).toBe(200);
  expect((await owner.post(path(`members/${own}/remove`))).status).toBe(200);
  const guest = await lab.person("late@example.com");
  const accepted = { token: tokenOf(late) };
  const { status } = await guest.post("/console/api/invitations/accept", accepted);
  expect(status).toBe(400);
});
