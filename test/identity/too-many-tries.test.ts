// What is answered after too many wrong codes: what ended, and what helps.

import { describe, expect, test } from "bun:test";
import { shared } from "../support/shared.ts";
import { totp, wrongCodes } from "../support/totp.ts";
import { PASSWORD, PeopleLab, type Visitor } from "./people-lab.ts";

const WRONG_CODES_OF_SIGN_IN = 5;
const WRONG_CODES_OF_PERSON = 10;

const lab = await shared(PeopleLab.start());

describe("too many wrong codes", () => {
  test("of a mail end the code, and the answer says to ask for another one", async () => {
    const email = "mailed@example.com";
    const visitor = lab.visitor();
    const sent = await visitor.auth("/email-otp/send-verification-otp", { email });
    const { code } = sent.body.development;
    const otp = code === "000000" ? "111111" : "000000";
    for (let count = 0; count < 5; count += 1) {
      await visitor.auth("/sign-in/email-otp", { email, otp });
    }
    const late = await visitor.auth("/sign-in/email-otp", { email, otp: code });
    expect([late.status, late.body.error.code]).toEqual([400, "otp_expired"]);
    expect(late.body.error.message).toContain("Ask for another code");
  });

  test("of an app end the sign-in, and then lock for a time that the answer names", async () => {
    const email = "locked@example.com";
    const owner = await lab.person(email);
    const secret = await owner.turnOnSecondFactor();
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

test("a password that may be chosen at sign-up may be chosen at a change of it too", async () => {
  const person = await lab.person("emoji@example.com");
  const newPassword = "🔑".repeat(100);
  const changed = await person.auth("/change-password", {
    currentPassword: PASSWORD,
    newPassword,
  });
  expect([changed.status, changed.text]).toEqual([200, expect.any(String)]);
  expect((await lab.visitor().signIn("emoji@example.com", newPassword)).status).toBe(200);
});

test("five characters are no password, also where each takes two units of UTF-16", async () => {
  const body = { email: "short@example.com", name: "Ada", password: "🔑".repeat(5) };
  const refused = await lab.visitor().auth("/sign-up/email", body);
  expect([refused.status, refused.body.error?.message]).toEqual([
    400,
    "password must have 10 to 128 characters",
  ]);
});
