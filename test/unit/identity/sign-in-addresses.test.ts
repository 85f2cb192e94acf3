// Tests that a person can sign in with every address that the console accepts: our rule is that of
// better-auth, in every place where a person gets an address.

import { expect, test } from "bun:test";
import { isAPIError } from "better-auth/api";
import { parseAddress, parseSignInAddress } from "../../../src/core/text/mail-address.ts";
import { anySeed, Random } from "../../support/random.ts";
import { shared } from "../../support/shared.ts";
import { PASSWORD, PeopleLab } from "./people-lab.ts";

const lab = await shared(PeopleLab.start());

const REFUSED = [
  "a#b",
  "a$b",
  "tom&jerry",
  "a*b",
  "a/b",
  "a=b",
  "a?b",
  "a^b",
  "a`b",
  "a{b",
  "a|b",
  "a}b",
  "a~b",
  "o'",
].map((local) => `${local}@example.com`);
const REFUSED_DOMAINS = [
  "joe@example.xn--p1ai",
  "joe@почта.рф",
  "joe@example.c",
  "joe@example.c0m",
];
const TAKEN = ["o'brien@example.com", "o'.b@example.com", "_@example.com", "a-+@bücher.example"];

test("an address that could never sign in is refused everywhere, and the field named", async () => {
  const ada = await lab.person("ada@example.com");
  const account = await ada.firstAccount();
  const askEverywhere = async (email: string) => {
    const visitor = lab.visitor();
    const answers = await Promise.all([
      visitor.auth("/sign-up/email", { email, name: "Ada", password: PASSWORD }),
      visitor.auth("/email-otp/send-verification-otp", { email }),
      visitor.signIn(email),
      ada.post("/console/api/me/email", { email }),
      ada.post(`/console/api/accounts/${account}/invitations`, { email, role: "viewer" }),
    ]);
    for (const { status, body } of answers) {
      expect([email, status, body.error?.code]).toEqual([email, 400, "invalid_parameter"]);
      expect(body.error.message).toMatch(/^email (may|must) .*(before the '@'|plain letters)/);
    }
  };
  await Promise.all([...REFUSED, ...REFUSED_DOMAINS].map(askEverywhere));
});

test("a person who signs up can sign in again, even with an unusual address", async () => {
  const signUpAndIn = async (email: string) => {
    await lab.visitor().signUp(email);
    const again = lab.visitor();
    expect([email, (await again.signIn(email)).status]).toEqual([email, 200]);
    const sent = await again.auth("/email-otp/send-verification-otp", { email });
    expect([email, sent.status]).toEqual([email, 200]);
  };
  await Promise.all(TAKEN.map(signUpAndIn));
});

test("of all addresses that mail can go to, the console accepts those of better-auth", async () => {
  const seed = anySeed();
  const random = new Random(seed);
  const counts = { taken: 0, refused: 0 };
  for (let tried = 0; tried < 3_000; tried += 1) {
    const email = anyAddress(random);
    if (typeof parseAddress(email) === "string") continue;
    const ours = parseSignInAddress(email);
    const address = typeof ours === "string" ? plain(email) : ours.address;
    const isTaken = await isTakenByBetterAuth(address);
    expect([seed, email, typeof ours !== "string"]).toEqual([seed, email, isTaken]);
    counts[isTaken ? "taken" : "refused"] += 1;
  }
  expect(Math.min(counts.taken, counts.refused)).toBeGreaterThan(100);
});

const LETTERS = [..."abzAZ019_+-.'", ..."#$&*/=?^`{|}~", ..."ab019"];
const LABEL_LETTERS = [..."abzAZ019-", ..."abü"];
const TOPS = ["com", "org", "c", "c0", "4u", "xn--p1ai", "рф", "ORG", "museum", "a-b", "テスト"];

function anyAddress(random: Random): string {
  const word = (letters: readonly string[], most: number) =>
    Array.from({ length: random.between(1, most) }, () => random.pick(letters)).join("");
  // Mostly of letters that both accept, so that many addresses are accepted.
  const letters = random.between(0, 1) === 0 ? LETTERS : LETTERS.slice(0, 13);
  const labels = Array.from({ length: random.between(1, 3) }, () => word(LABEL_LETTERS, 4));
  return `${word(letters, 6)}@${[...labels, random.pick(TOPS)].join(".")}`;
}

function plain(email: string): string {
  const parsed = parseAddress(email);
  return typeof parsed === "string" ? email : parsed.address.toLowerCase();
}

async function isTakenByBetterAuth(email: string): Promise<boolean> {
  const body = { email, otp: "000000", type: "sign-in" } as const;
  try {
    await lab.identity.auth.api.checkVerificationOTP({ body });
    throw new Error("A code that was never sent is right");
  } catch (error) {
    if (!isAPIError(error)) throw error;
    return error.body?.code !== "INVALID_EMAIL";
  }
}
