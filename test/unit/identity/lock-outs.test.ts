// What strangers try with somebody's inbox, from however many addresses, locks nobody out.

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { shared } from "../../support/shared.ts";
import { PeopleLab, type Visitor } from "./people-lab.ts";

setDefaultTimeout(120_000);

const lab = await shared(PeopleLab.start());

const enterCode = (visitor: Visitor, email: string, otp: string) =>
  visitor.auth("/sign-in/email-otp", { email, otp });

/** What strangers may guess, and how its owner signs in by it. */
const GUESSES = {
  passwords: {
    guess: (visitor: Visitor, email: string) => visitor.signIn(email, "a wrong password"),
    enter: (visitor: Visitor, email: string) => visitor.signIn(email),
  },
  codes: {
    guess: (visitor: Visitor, email: string) => enterCode(visitor, email, "000000"),
    enter: async (visitor: Visitor, email: string) => {
      const sent = await visitor.auth("/email-otp/send-verification-otp", { email });
      return await enterCode(visitor, email, sent.body.development.code);
    },
  },
};

/** So many wrong ones, ten from each network. */
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
