// Tests how many codes and links can be requested for an inbox: strangers neither flood it, nor use
// up the mails that its owner needs to sign in.

import { describe, expect, test } from "bun:test";
import { shared } from "../../support/shared.ts";
import { PASSWORD, PeopleLab, type Visitor } from "./people-lab.ts";

const KINDS = {
  code: ["/email-otp/send-verification-otp", "one_time_code"],
  reset: ["/request-password-reset", "password_reset"],
} as const;

const lab = await shared(PeopleLab.start());

/** Asks for mails, one from each of these browsers. Returns the statuses, sorted. */
async function ask(browsers: readonly Visitor[], path: string, email: string): Promise<number[]> {
  const answers = await Promise.all(browsers.map((browser) => browser.auth(path, { email })));
  return answers.map(({ status }) => status).sort();
}

/** The browsers that strangers need to ask for this many mails: each has its own network. */
function strangers(mails: number): Visitor[] {
  const each = Array.from({ length: Math.ceil(mails / 3) }, () => lab.visitor());
  return each.flatMap((one) => [one, one, one]).slice(0, mails);
}

async function mailsTo(email: string, kind: string): Promise<number> {
  const { sql } = lab.stores.database;
  const [row] = await sql`SELECT count(*)::int AS mails FROM outbox
    WHERE recipient = ${email} AND kind = ${kind}`;
  return Number(row?.mails);
}

for (const [name, [path, kind]] of Object.entries(KINDS)) {
  describe(`asking for a ${name}`, () => {
    test("from one network, in any spelling, keeps no other person out", async () => {
      const email = `quiet-${name}@example.com`;
      await lab.person(email);
      const stranger = lab.visitor();
      const spelt = Array.from({ length: 12 }, (_, tag) => email.replace("@", `+${tag}@`));
      const answers = await Promise.all(spelt.map((one) => ask([stranger], path, one)));
      expect(answers.flat().sort()).toEqual([...Array(3).fill(200), ...Array(9).fill(429)]);
      expect(await ask([lab.visitor()], path, email)).toEqual([200]);
      expect(await mailsTo(email, kind)).toBe(1);
    });

    test("ends after ten mails an hour, but not in a browser of its owner", async () => {
      const email = `flooded-${name}@example.com`;
      const owner = await lab.person(email);
      const other = await lab.person(`other-${name}@example.com`);
      expect(await ask(strangers(12), path, email)).toEqual([...Array(10).fill(200), 429, 429]);
      expect(await mailsTo(email, kind)).toBe(10);
      expect(await ask([lab.visitor(), other], path, email)).toEqual([429, 429]);
      await owner.auth("/sign-out");
      // Also in another network: a browser is known by its cookie.
      const elsewhere = lab.visitor();
      elsewhere.cookies.set("farebox_device", owner.cookies.get("farebox_device") ?? "");
      const own = [owner, elsewhere, owner, elsewhere];
      expect(await ask(own, path, email)).toEqual([200, 200, 200, 429]);
      expect(await mailsTo(email, kind)).toBe(13);
    });
  });
}

test("a browser is known where it signs in later, too", async () => {
  const email = "later@example.com";
  await lab.person(email);
  const browser = lab.visitor();
  const path = KINDS.code[0];
  await ask(strangers(10), path, email);
  expect(await ask([browser], path, email)).toEqual([429]);
  expect((await browser.signIn(email, PASSWORD)).status).toBe(200);
  expect(await ask([browser], path, email)).toEqual([200]);
});
