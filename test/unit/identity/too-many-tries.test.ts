// Tests the answers after too many wrong codes: each names the ended code and the remedy.

import { describe, expect, test } from "bun:test";
import { eventually } from "../../support/eventually.ts";
import { totp, wrongCodes } from "../../support/fakes/totp.ts";
import { shared } from "../../support/shared.ts";
import { PASSWORD, PeopleLab, type Visitor, wrongCode } from "./people-lab.ts";

const WRONG_CODES_OF_SIGN_IN = 5;
const WRONG_CODES_OF_PERSON = 10;

const lab = await shared(PeopleLab.start());

/** Browsers that have the password, and wait for a code: each at its own address. */
async function guessers(email: string, count: number): Promise<Visitor[]> {
  const visitors = Array.from({ length: count }, () => lab.visitor());
  for (const visitor of visitors) await visitor.signIn(email);
  return visitors;
}

/** Enters a different wrong code in each browser, all at once. Counts the answers of each kind. */
async function guess(visitors: readonly Visitor[], secret: string) {
  const codes = wrongCodes(secret, visitors.length);
  const answers = await Promise.all(
    visitors.map((visitor, at) => visitor.auth("/two-factor/verify-totp", { code: codes[at] })),
  );
  const counts: Record<string, number> = {};
  for (const { body } of answers) counts[body.error.code] = (counts[body.error.code] ?? 0) + 1;
  return counts;
}

/** The subjects of the mails about the safety of a person's sign-in. */
async function noticesTo(email: string): Promise<string[]> {
  const rows = await lab.stores.database.sql`
    SELECT subject FROM outbox WHERE recipient = ${email} AND kind = 'security_notice'`;
  return rows.map(({ subject }) => subject);
}

describe("of wrong codes of an app that are entered at once", () => {
  const NOTICE = "Your second factor is locked for 15 minutes after too many wrong codes";

  test("ten are compared, and the person is informed of the lock", async () => {
    const email = "burst@example.com";
    const secret = await (await lab.person(email)).turnOnSecondFactor();
    const visitors = await guessers(email, 30);
    await lab.forgetAttempts();
    const counts = await guess(visitors, secret);
    expect(counts).toEqual({ invalid_code: 10, too_many_attempts: 20 });
    expect(await noticesTo(email)).toEqual([NOTICE]);
  });

  test("several that lock the second factor at once cause one mail", async () => {
    const email = "several@example.com";
    const secret = await (await lab.person(email)).turnOnSecondFactor();
    const visitors = await guessers(email, 10);
    await lab.forgetAttempts();
    await lab.stores.database.sql`UPDATE two_factors SET failed_verification_count = 8`;
    await guess(visitors, secret);
    expect(await noticesTo(email)).toEqual([NOTICE]);
  });

  test("those for the app and for backup codes are counted together", async () => {
    const email = "both@example.com";
    const secret = await (await lab.person(email)).turnOnSecondFactor();
    const visitors = await guessers(email, 11);
    await lab.forgetAttempts();
    expect(await guess(visitors.slice(0, 9), secret)).toEqual({ invalid_code: 9 });
    expect(await noticesTo(email)).toEqual([]);
    const enterBackupCode = async (visitor: Visitor | undefined) => {
      const code = "wrong-backup";
      return (await visitor?.auth("/two-factor/verify-backup-code", { code }))?.body.error.code;
    };
    expect(await enterBackupCode(visitors[9])).toBe("invalid_backup_code");
    expect(await noticesTo(email)).toEqual([NOTICE]);
    expect(await enterBackupCode(visitors[10])).toBe("too_many_attempts");
  });

  test("those for one person keep no other person at the same address out", async () => {
    const [email, other] = ["victim@example.com", "neighbour@example.com"];
    const secret = await (await lab.person(email)).turnOnSecondFactor();
    const neighbour = await lab.person(other);
    const own = await neighbour.turnOnSecondFactor();
    await lab.forgetAttempts();
    const guesser = lab.visitor(neighbour.ip);
    for (const code of wrongCodes(secret, 12)) {
      await guesser.signIn(email);
      await guesser.auth("/two-factor/verify-totp", { code });
    }
    const visitor = lab.visitor(neighbour.ip);
    await visitor.signIn(other);
    const entered = await visitor.auth("/two-factor/verify-totp", { code: totp(own) });
    expect(entered.status).toBe(200);
  });
});

describe("too many wrong codes", () => {
  test("of a mail end the code, and the answer says to request a new one", async () => {
    const email = "mailed@example.com";
    const visitor = lab.visitor();
    const code = await visitor.askForCode(email);
    for (let count = 0; count < 5; count += 1) {
      await visitor.enterCode(email, wrongCode(code));
    }
    const late = await visitor.enterCode(email, code);
    expect([late.status, late.body.error.code]).toEqual([400, "otp_expired"]);
    expect(late.body.error.message).toContain("Ask for another code");
  });

  test("of an app end the sign-in, and then lock for a time that the answer names", async () => {
    const email = "locked@example.com";
    const owner = await lab.person(email);
    const secret = await owner.turnOnSecondFactor();
    await lab.forgetAttempts();
    let visitor: Visitor = lab.visitor();
    for (const [count, code] of wrongCodes(secret, WRONG_CODES_OF_PERSON).entries()) {
      if (count % WRONG_CODES_OF_SIGN_IN === 0) {
        visitor = lab.visitor();
        await visitor.signIn(email);
      }
      const wrong = await visitor.auth("/two-factor/verify-totp", { code });
      expect([wrong.status, wrong.body.error.code]).toEqual([401, "invalid_code"]);
    }
    await lab.forgetAttempts();
    const locked = await visitor.auth("/two-factor/verify-totp", { code: totp(secret) });
    expect([locked.status, locked.body.error.code]).toEqual([429, "too_many_attempts"]);
    expect(locked.body.error.message).toContain("15 minutes");
    expect(locked.headers.get("retry-after")).toBe("900");
    await lab.stores.database.sql`UPDATE two_factors SET locked_until = NULL`;
    await lab.forgetAttempts();
    const ended = await visitor.auth("/two-factor/verify-totp", { code: totp(secret) });
    expect([ended.status, ended.body.error.code]).toEqual([401, "invalid_two_factor_cookie"]);
    expect(ended.body.error.message).toContain("Sign in again");
  });
});

test("a mailed code proves one of two who give it at the same moment", async () => {
  const email = "at-once@example.com";
  await lab.person(email);
  const sent = await lab.visitor().auth("/email-otp/send-verification-otp", { email });
  const { sql } = lab.stores.database;
  const given = await sql.begin(async (tx) => {
    // Each has compared the code before it reads the person.
    await tx`LOCK TABLE people IN ACCESS EXCLUSIVE MODE`;
    const proofs: Promise<boolean>[] = [];
    for (const count of [1, 2]) {
      proofs.push(lab.identity.hasCode(email, sent.body.development.code));
      await eventually("it waits for the person", async () => {
        const [row] = await sql`
          SELECT count(*)::int AS waiting FROM pg_locks
          WHERE NOT granted AND relation = 'people'::regclass
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
        return row?.waiting === count;
      });
    }
    return { proofs };
  });
  expect((await Promise.all(given.proofs)).sort()).toEqual([false, true]);
});

test("a password that is allowed at sign-up is allowed at a change of it too", async () => {
  const person = await lab.person("emoji@example.com");
  const newPassword = "🔑".repeat(100);
  const changed = await person.auth("/change-password", {
    currentPassword: PASSWORD,
    newPassword,
  });
  expect([changed.status, changed.text]).toEqual([200, expect.any(String)]);
  expect((await lab.visitor().signIn("emoji@example.com", newPassword)).status).toBe(200);
});

test("five characters are no password, even if each takes two units of UTF-16", async () => {
  const body = { email: "short@example.com", name: "Ada", password: "🔑".repeat(5) };
  const refused = await lab.visitor().auth("/sign-up/email", body);
  expect([refused.status, refused.body.error?.message]).toEqual([
    400,
    "password must have 10 to 128 characters",
  ]);
});
