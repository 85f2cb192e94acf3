import { expect, test } from "bun:test";
import {
  asciiDomain,
  distinct,
  domainsOf,
  isWithin,
  parseAddress,
} from "../../../../src/core/text/mail-address.ts";

const GOOD: readonly (readonly [given: string, address: string])[] = [
  ["ada@example.org", "ada@example.org"],
  ["Ada.Lovelace+news@Example.ORG", "Ada.Lovelace+news@example.org"],
  ["o'neil/dept=x_{y}|z~@a-b.example", "o'neil/dept=x_{y}|z~@a-b.example"],
  ["a@bücher.example", "a@xn--bcher-kva.example"],
  ["a@例え.テスト", "a@xn--r8jz45g.xn--zckzah"],
  [`${"l".repeat(64)}@x.test`, `${"l".repeat(64)}@x.test`],
];

const BAD = [
  "",
  "a",
  "a@",
  "@x.test",
  "a@b",
  "a@localhost",
  "a@x.test.",
  "a@.x.test",
  "a@x..test",
  "a@-b.test",
  "a@b-.test",
  "a@x_y.test",
  "a@127.0.0.1",
  "a@[127.0.0.1]",
  "a@[IPv6:::1]",
  ".a@b.test",
  "a.@b.test",
  "a..b@c.test",
  "a b@c.test",
  " a@b.test",
  "a@b.test ",
  "ü@b.test",
  '"a"@b.test',
  '"b@y x"@z.test',
  "a(comment)@b.test",
  "a@b.test(comment)",
  "<a@b.test>",
  "Bob <a@b.test>",
  "g: a@x.test, b@y.test;",
  "a@x.test,b@y.test",
  "a@x.test;b@y.test",
  "a@b@c.test",
  "a%b@c.test",
  "a!b@c.test",
  "a@x.test\r\nRCPT TO:<b@y.test>",
  "a@x.test\0",
  "a@b\u3002test",
  "a@b%2etest",
  "a@xn--zz.test",
  "a\u202e@b.test",
  `${"l".repeat(65)}@x.test`,
  `a@${"d".repeat(64)}.test`,
  `a@${"d.".repeat(126)}test`,
  `${"l".repeat(64)}@${"d".repeat(60)}.${"d".repeat(60)}.${"d".repeat(60)}.${"d".repeat(10)}`,
];

test("parseAddress() takes a plain address and makes its domain lower-case ASCII", () => {
  for (const [given, address] of GOOD) {
    expect(parseAddress(given)).toEqual({ address, domain: address.split("@")[1] ?? "" });
  }
});

test("parseAddress() refuses every text that a mail library could read as something else", () => {
  expect(BAD.filter((text) => typeof parseAddress(text) !== "string")).toEqual([]);
});

test("parseAddress() refuses a text that is too long without converting it", () => {
  // Converting such a domain to ASCII would take minutes, beyond the time of a test.
  const hostile = "é.".repeat(2_000_000);
  const tooLong = "is longer than 254 characters";
  expect(parseAddress(`a@${hostile}`)).toBe(tooLong);
  expect(parseAddress(`${"a.".repeat(1_000_000)}@x.test`)).toBe(tooLong);
  expect(asciiDomain(hostile)).toBeNull();
});

test("distinct() ignores the case of a domain and keeps different local parts", () => {
  const given = ["a@x.test", "A@x.test", "a@X.TEST", "b@bücher.test", "b@xn--bcher-kva.test"];
  const addresses = given.map((text) => {
    const parsed = parseAddress(text);
    if (typeof parsed === "string") throw new Error(parsed);
    return parsed;
  });
  const found = distinct(addresses);
  expect(found.map(({ address }) => address)).toEqual([
    "a@x.test",
    "A@x.test",
    "b@xn--bcher-kva.test",
  ]);
  expect(domainsOf(found)).toEqual(["x.test", "xn--bcher-kva.test"]);
});

test("isWithin() is true for the domain and its subdomains, not for equal ends", () => {
  const within = ["a.test", "b.a.test", "ba.test", "test"].filter((one) => isWithin(one, "a.test"));
  expect(within).toEqual(["a.test", "b.a.test"]);
});
