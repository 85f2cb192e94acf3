// Tests the second factor: due after every way to sign in, and turned off only with the password.

import { describe, expect, test } from "bun:test";
import { makeSignInLink } from "../../../src/identity/sign-in-link.ts";
import { eventually } from "../../support/eventually.ts";
import { totp } from "../../support/fakes/totp.ts";
import { random } from "../../support/random.ts";
import { shared } from "../../support/shared.ts";
import { PASSWORD, PeopleLab, tokenIn, type Visitor } from "./people-lab.ts";

const EMAIL = "ada@example.com";

const lab = await shared(PeopleLab.start());
const ada = await lab.person(EMAIL);
/** Signed in before the second factor was turned on. */
const earlier = lab.visitor();
await earlier.signIn(EMAIL);
if (!(await earlier.isSignedIn())) throw new Error("Nobody signed in");
const begun = await ada.auth("/two-factor/enable", { password: PASSWORD });
const secret = new URL(begun.body.totpURI).searchParams.get("secret") ?? "";
const backupCodes: readonly string[] = begun.body.backupCodes;
const confirmed = await ada.auth("/two-factor/verify-totp", { code: totp(secret) });
if (confirmed.status !== 200) throw new Error(confirmed.text);

test("turning it on ends the sessions that began without it, but not the present one", async () => {
  expect([await earlier.isSignedIn(), await ada.isSignedIn()]).toEqual([false, true]);
});

test("setting it up twice at the same moment works as one after the other", async () => {
  const person = await lab.person("twice@example.com");
  const { sql } = lab.stores.database;
  const { answers } = await sql.begin(async (tx) => {
    // Both have found no second factor before they store theirs.
    await tx`LOCK TABLE two_factors IN SHARE MODE`;
    const answers = [1, 2].map(() => person.auth("/two-factor/enable", { password: PASSWORD }));
    await eventually("both wait to store it", async () => {
      const [row] = await sql`
        SELECT count(*)::int AS waiting FROM pg_locks
        WHERE NOT granted AND relation = 'two_factors'::regclass
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
      return row?.waiting === 2;
    });
    return { answers };
  });
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200]);
  const turnedOn = await person.turnOnSecondFactor();
  const other = lab.visitor();
  expect((await other.signIn("twice@example.com")).body.twoFactorRedirect).toBe(true);
  const next = { code: totp(turnedOn, 1) };
  expect((await other.auth("/two-factor/verify-totp", next)).status).toBe(200);
});

async function mustEnterCode(visitor: Visitor): Promise<void> {
  expect(await visitor.isSignedIn()).toBe(false);
  await lab.forgetAttempts();
  const entered = await visitor.auth("/two-factor/verify-totp", { code: totp(secret) });
  expect(entered.status).toBe(200);
  expect([await visitor.isSignedIn(), await ada.isSignedIn()]).toEqual([true, true]);
}

describe("once it is on, a code is due after", () => {
  test("a password", async () => {
    const visitor = lab.visitor();
    const { body } = await visitor.signIn(EMAIL);
    expect(body.twoFactorRedirect).toBe(true);
    await mustEnterCode(visitor);
  });

  test("a mailed code", async () => {
    const visitor = lab.visitor();
    const { body } = await visitor.enterCode(EMAIL, await visitor.askForCode(EMAIL));
    expect(body.twoFactorRedirect).toBe(true);
    await mustEnterCode(visitor);
  });

  test("a one-time link, which works once", async () => {
    const person = await lab.identity.store.findByEmail(EMAIL);
    const url = await makeSignInLink(
      lab.stores.database,
      { personId: person?.id ?? "", origin: "http://127.0.0.1" },
      { random, now: new Date() },
    );
    const token = tokenIn(url);
    const visitor = lab.visitor();
    const { body } = await visitor.auth("/sign-in/link", { token });
    expect(body.twoFactorRedirect).toBe(true);
    await mustEnterCode(visitor);
    expect((await lab.visitor().auth("/sign-in/link", { token })).status).toBe(400);
  });

  test("and a backup code counts as one, once", async () => {
    const [code] = backupCodes;
    for (const status of [200, 401]) {
      const visitor = lab.visitor();
      await visitor.signIn(EMAIL);
      const entered = await visitor.auth("/two-factor/verify-backup-code", { code });
      expect(entered.status).toBe(status);
    }
  });
});

test("secret and backup codes are not stored in plain text", async () => {
  const [row] = await lab.stores.database.sql`SELECT secret, backup_codes FROM two_factors`;
  expect(JSON.stringify(row)).not.toContain(backupCodes[1] ?? "none");
  expect(JSON.stringify(row)).not.toContain(secret);
});

test("it is turned off only with the password, and /me shows whether it is on", async () => {
  expect((await ada.get("/console/api/me")).body.person.has_two_factor).toBe(true);
  const wrong = await ada.auth("/two-factor/disable", { password: "a wrong password" });
  expect(wrong.status).toBe(400);
  expect((await ada.auth("/two-factor/disable", { password: PASSWORD })).status).toBe(200);
  expect((await ada.get("/console/api/me")).body.person.has_two_factor).toBe(false);
  expect((await lab.visitor().signIn(EMAIL)).body.twoFactorRedirect).toBeUndefined();
});
