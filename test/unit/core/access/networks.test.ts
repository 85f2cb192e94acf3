import { describe, expect, test } from "bun:test";
import { checkNetworks } from "../../../../src/core/access/networks.ts";
import { addressesFrom } from "../../../../src/core/text/field-rules.ts";
import { addresses } from "../../../../src/settings/variable-kinds.ts";

/** Blocks with bits after their prefix; the address of each, and its network. */
const WITHIN = [
  ["203.0.113.9/0", "203.0.113.9", "0.0.0.0/0"],
  ["203.0.113.9/24", "203.0.113.9", "203.0.113.0/24"],
  ["203.0.113.9/31", "203.0.113.9", "203.0.113.8/31"],
  ["10.0.0.1/8", "10.0.0.1", "10.0.0.0/8"],
  ["2001:db8::9/0", "2001:db8::9", "::/0"],
  ["2001:db8::9/64", "2001:db8::9", "2001:db8::/64"],
  ["2001:DB8:0:1::/48", "2001:DB8:0:1::", "2001:db8::/48"],
  ["::1/127", "::1", "::/127"],
  ["::ffff:203.0.113.9/0", "::ffff:203.0.113.9", "::/0"],
  ["::ffff:203.0.113.9/96", "::ffff:203.0.113.9", "::ffff:0:0/96"],
  ["::ffff:203.0.113.9/120", "::ffff:203.0.113.9", "::ffff:cb00:7100/120"],
] as const;

const PLACES = {
  "the allowlist of a key": addressesFrom,
  TRUSTED_PROXIES: (entries: readonly string[]) => addresses.parse(entries.join(",")),
};

describe("a block that is an address within a network", () => {
  for (const [place, parse] of Object.entries(PLACES)) {
    test.each(WITHIN)(`is refused for ${place}, with both meanings: %s`, (entry, one, network) => {
      const words = `'${entry}' is an address within a network: write '${one}' for the address, or`;
      expect(() => parse(["192.0.2.1", entry])).toThrow(`${words} '${network}' for the whole`);
    });
  }

  test("is accepted in the form that the refusal names", () => {
    for (const [, one, network] of WITHIN)
      expect(() => checkNetworks([one, network])).not.toThrow();
  });
});

test("addresses and whole networks are taken in every spelling", () => {
  const entries = [
    "203.0.113.9",
    "203.0.113.9/32",
    "203.0.113.0/24",
    "0.0.0.0/0",
    "2001:db8::9",
    "2001:DB8:0::9/128",
    "2001:db8:0:0::/64",
    "::/0",
    "::",
    "::ffff:203.0.113.9",
    "::ffff:203.0.113.0/120",
    "::ffff:cb00:7109/128",
  ];
  expect(addressesFrom(entries)).toEqual(entries);
});

test.each(["fe80::1%eth0", "10.0.0.0/08", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/8/8", "010.0.0.1"])(
  "%p is neither an address nor a block",
  (entry) => {
    expect(() => addressesFrom([entry])).toThrow(`'${entry}' is neither`);
  },
);
