// Tests that attacks of strangers on a person's inbox, from any number of addresses, do not lock
// that person out.

import { describe, expect, test } from "bun:test";
import { shared } from "../../support/shared.ts";
import { PeopleLab, type Visitor, wrongCode } from "./people-lab.ts";

const lab = await shared(PeopleLab.start());

/** The proofs that strangers may guess, and the owner's way to sign in by each. */
const GUESSES = {
  passwords: {
    guess: (visitor: Visitor, email: string) => visitor.signIn(email, "a wrong password"),
    enter: (visitor: Visitor, email: string) => visitor.signIn(email),
  },
  codes: {
    guess: (visitor: Visitor, email: string) => visitor.enterCode(email, "000000"),
    enter: async (visitor: Visitor, email: string) => {
      return await visitor.enterCode(email, await visitor.askForCode(email));
    },
  },
};

/** Sends 110 wrong guesses, ten from each network. */
async function attack(email: string, guess: (typeof GUESSES)["codes"]["guess"]): Promise<void> {
  const networks = Array.from({ length: 11 }, () => lab.visitor());
  await Promise.all(
    networks.map(async (visitor) => {
      for (let count = 0; count < 10; count += 1) await guess(visitor, email);
    }),
  );
}

describe.each(Object.entries(GUESSES))("after 110 wrong %s of strangers", (what, way) => {
  const email = `${what}@example.com`;

  test("a person signs in from a known browser, and from a new one after a wait", async () => {
    const known = await lab.person(email);
    await known.auth("/sign-out");
    await attack(email, way.guess);
    expect((await way.enter(known, email)).status).toBe(200);
    const other = await way.enter(lab.visitor(), email);
    expect([other.status, await known.isSignedIn()]).toEqual([200, true]);
  });
});

test.each([
  ["an IPv6 network", (at: number) => `2001:db8:77:${at}::1`],
  ["an IPv4 network", (at: number) => `198.51.100.${at}`],
])("the addresses of %s together guess no more than thirty passwords", async (name, addressOf) => {
  const email = `${name.replaceAll(" ", "-")}@example.com`;
  await lab.person(email);
  const statuses: number[] = [];
  for (let at = 1; at <= 32; at += 1) {
    const stranger = lab.visitor(addressOf(at));
    statuses.push((await stranger.signIn(email, "a wrong password")).status);
  }
  expect(statuses.filter((status) => status === 401)).toHaveLength(30);
  expect(statuses.slice(-2)).toEqual([429, 429]);
});

describe("of the tries of a mailed code", () => {
  test("strangers use none of the tries of the browser that asked for the code", async () => {
    const email = "asked@example.com";
    const owner = lab.visitor();
    const code = await owner.askForCode(email);
    const stranger = lab.visitor();
    for (let count = 0; count < 6; count += 1) await stranger.enterCode(email, wrongCode(code));
    expect((await owner.enterCode(email, code)).status).toBe(200);
  });

  test("strangers who asked for a later code use none of them either", async () => {
    const email = "asked-too@example.com";
    const owner = lab.visitor();
    await owner.askForCode(email);
    const stranger = lab.visitor();
    const code = await stranger.askForCode(email);
    for (let count = 0; count < 6; count += 1) await stranger.enterCode(email, wrongCode(code));
    expect((await owner.enterCode(email, code)).status).toBe(200);
  });

  test("strangers use none of the tries of a browser that has signed in there", async () => {
    const email = "known@example.com";
    const known = await lab.person(email);
    await known.auth("/sign-out");
    const code = await lab.visitor().askForCode(email);
    const stranger = lab.visitor();
    for (let count = 0; count < 6; count += 1) await stranger.enterCode(email, wrongCode(code));
    expect((await known.enterCode(email, code)).status).toBe(200);
  });

  test("strangers have five together, from any number of networks", async () => {
    const email = "shared@example.com";
    const owner = lab.visitor();
    const code = await owner.askForCode(email);
    for (let count = 0; count < 5; count += 1) {
      await lab.visitor().enterCode(email, wrongCode(code));
    }
    const right = await lab.visitor().enterCode(email, code);
    expect([right.status, right.body.error.code]).toEqual([400, "otp_expired"]);
    expect((await owner.enterCode(email, code)).status).toBe(200);
  });

  test("a browser has five for each code that it asked for", async () => {
    const email = "again@example.com";
    const owner = lab.visitor();
    const first = await owner.askForCode(email);
    for (let count = 0; count < 5; count += 1) await owner.enterCode(email, wrongCode(first));
    const late = await owner.enterCode(email, first);
    expect([late.status, late.body.error.code]).toEqual([400, "otp_expired"]);
    expect((await owner.enterCode(email, await owner.askForCode(email))).status).toBe(200);
  });
});
