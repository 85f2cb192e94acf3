// Tests limits of attempts: they hold for every way of guessing, and lock no other person out.

import { expect, test } from "bun:test";
import { DAY_MS } from "../../../src/core/durations.ts";
import { Attempts } from "../../../src/store/people/attempts.ts";
import { shared } from "../../support/shared.ts";
import { PASSWORD, PeopleLab, tokenOf } from "./people-lab.ts";

const lab = await shared(PeopleLab.start());

test("a stolen session guesses the password no more often than a sign-in does", async () => {
  const thief = await lab.person("stolen@example.com");
  const guess = { currentPassword: "a wrong password", newPassword: PASSWORD };
  const answers: number[] = [];
  for (let attempt = 0; attempt < 11; attempt += 1) {
    answers.push((await thief.auth("/change-password", guess)).status);
  }
  expect(answers).toEqual([...Array(10).fill(400), 429]);
  const other = { password: "a wrong password" };
  for (const path of ["enable", "disable", "generate-backup-codes"]) {
    expect((await thief.auth(`/two-factor/${path}`, other)).status).toBe(429);
  }
  expect((await lab.visitor().signIn("stolen@example.com")).status).toBe(200);
});

test("wrong codes of a stranger do not keep the owner of the inbox out", async () => {
  const email = "coded@example.com";
  const stranger = lab.visitor();
  const answers: number[] = [];
  for (let attempt = 0; attempt < 16; attempt += 1) {
    answers.push((await stranger.enterCode(email, "000000")).status);
  }
  expect([answers[14], answers[15]]).toEqual([400, 429]);
  const owner = lab.visitor();
  const code = await owner.askForCode(email);
  expect((await owner.enterCode(email, code)).status).toBe(200);
});

test("attempts that are refused to one network use up nothing of the inbox", async () => {
  const email = "refused@example.com";
  await lab.person(email);
  const stranger = lab.visitor();
  const counts = { 401: 0, 429: 0 };
  for (let attempt = 0; attempt < 110; attempt += 1) {
    const { status } = await stranger.signIn(email, "a wrong password");
    counts[status as keyof typeof counts] += 1;
  }
  expect(counts).toEqual({ 401: 10, 429: 100 });
  expect((await lab.visitor().signIn(email)).status).toBe(200);
});

test("a clock that was a year ahead for a moment locks no person out for a year", async () => {
  const attempts = new Attempts(lab.stores.database);
  const entry = { key: "jumped", limit: 2, windowMs: 60_000 };
  const nowMs = Date.now();
  const count = (ms: number) => attempts.count([entry], ms);
  for (let attempt = 0; attempt < 3; attempt += 1) await count(nowMs + 365 * DAY_MS);
  expect([await count(nowMs), await count(nowMs)]).toEqual([0, 0]);
  // Clocks of two processes that differ a little share their windows.
  expect(await count(nowMs + 30_000)).toBeGreaterThan(0);
  expect(await count(nowMs - 30_000)).toBeGreaterThan(0);
});

test("an invitation that cannot be mailed is refused, and the previous one works", async () => {
  const owner = await lab.person("inviter@example.com");
  const account = await owner.firstAccount();
  const path = `/console/api/accounts/${account}`;
  const email = "often@example.com";
  let token: string | null = null;
  for (let mail = 0; mail < 3; mail += 1) {
    token = tokenOf(await owner.post(`${path}/invitations`, { email, role: "viewer" }));
  }
  const fourth = await owner.post(`${path}/invitations`, { email, role: "admin" });
  expect([fourth.status, fourth.body.error?.code]).toEqual([429, "too_many_attempts"]);
  expect(Number(fourth.headers.get("retry-after"))).toBeGreaterThan(0);
  const { invitations } = (await owner.get(`${path}/team`)).body;
  expect(invitations).toMatchObject([{ email, role: "viewer" }]);
  const invited = await lab.person(email);
  const accepted = await invited.post("/console/api/invitations/accept", { token });
  expect(accepted.status).toBe(200);
});

test("an inbox gets three invitations in an hour, however its address is written", async () => {
  const owner = await lab.person("sender@example.com");
  const path = `/console/api/accounts/${await owner.firstAccount()}/invitations`;
  const spellings = ["target+1", "target+2", "t.arget", "target", "tar.get+x"];
  const answers: unknown[] = [];
  for (const name of spellings) {
    const { status, body } = await owner.post(path, { email: `${name}@gmail.com`, role: "viewer" });
    answers.push(status === 200 ? status : body.error.code);
  }
  const refused = "too_many_attempts";
  expect(answers).toEqual([200, 200, 200, refused, refused]);
  const { sql } = lab.stores.database;
  const mails = await sql`SELECT recipient FROM outbox WHERE recipient LIKE '%@gmail.com'`;
  expect(mails).toHaveLength(3);
});

test("an account mails a hundred invitations in a day, from however many addresses", async () => {
  const owner = await lab.person("recruiter@example.com");
  const path = `/console/api/accounts/${await owner.firstAccount()}/invitations`;
  let sender = owner;
  const invite = async (name: string) => {
    const body = { email: `${name}@example.net`, role: "viewer" };
    return await sender.post(path, body);
  };
  for (let count = 0; count < 100; count += 1) {
    if (count % 50 === 0) {
      sender = lab.visitor();
      for (const [name, value] of owner.cookies) sender.cookies.set(name, value);
    }
    expect((await invite(`invited-${count}`)).status).toBe(200);
  }
  const refused = await invite("one-more");
  expect([refused.status, refused.body.error?.code]).toEqual([429, "too_many_attempts"]);
  expect(refused.body.error.message).toContain("24 hours");
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  const other = await lab.person("other-recruiter@example.com");
  const account = await other.firstAccount();
  const fine = { email: "one-more@example.net", role: "viewer" };
  expect((await other.post(`/console/api/accounts/${account}/invitations`, fine)).status).toBe(200);
});

test("a notice names only steps that its reader can take", async () => {
  const { sql } = lab.stores.database;
  const person = await lab.person("before@example.com");
  const asked = await person.post("/console/api/me/email", { email: "after@example.com" });
  await person.post("/console/api/me/email/confirm", { token: tokenOf(asked) });
  const [mail] = await sql`SELECT text FROM outbox
    WHERE recipient = 'before@example.com' AND kind = 'security_notice'`;
  // The old address can no longer request a link to set a new password.
  expect(mail?.text).toContain("Your address was changed to after@example.com");
  expect(mail?.text).not.toContain("set a new password");
  expect(mail?.text).not.toContain("/dashboard/forgot");
});
