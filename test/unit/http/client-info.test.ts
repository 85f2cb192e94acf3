import { describe, expect, test } from "bun:test";
import { createClientInfo, createCountryLookup } from "../../../src/http/client-info.ts";

describe("createClientInfo()", () => {
  const countryOf = () => null;

  test("hashes an address under the secret, to 8 bytes", () => {
    const one = createClientInfo({ ipHashSecret: () => "one", windowSecret: "w", countryOf });
    const other = createClientInfo({ ipHashSecret: () => "other", windowSecret: "w", countryOf });
    expect(one("192.0.2.1").ipHash).toMatch(/^[0-9a-f]{16}$/);
    expect(one("192.0.2.1").ipHash).toBe(one("192.0.2.1").ipHash);
    expect(one("192.0.2.1").ipHash).not.toBe(one("192.0.2.2").ipHash);
    expect(one("192.0.2.1").ipHash).not.toBe(other("192.0.2.1").ipHash);
  });

  test("hashes again with a new month's secret, and keeps the window's hash", () => {
    let secret = "november";
    const infoOf = createClientInfo({ ipHashSecret: () => secret, windowSecret: "w", countryOf });
    const before = infoOf("192.0.2.1");
    secret = "december";
    const after = infoOf("192.0.2.1");
    expect(after.ipHash).not.toBe(before.ipHash);
    expect(after.windowHash).toBe(before.windowHash);
  });

  test("remembers the latest addresses, and no more than 4,096", () => {
    const lookedUp: string[] = [];
    const infoOf = createClientInfo({
      ipHashSecret: () => "one",
      windowSecret: "w",
      countryOf: (ip) => {
        lookedUp.push(ip);
        return null;
      },
    });
    const address = (count: number) => `10.0.${count >> 8}.${count & 255}`;
    for (let count = 0; count < 4_096; count += 1) infoOf(address(count));
    infoOf(address(0));
    // The new address replaces the least recently used address, the second.
    infoOf("192.0.2.1");
    lookedUp.length = 0;
    for (const count of [0, 2, 1]) infoOf(address(count));
    expect(lookedUp).toEqual([address(1)]);
  });

  test("refuses an empty secret, under which a hash can be reversed", () => {
    const empty = { ipHashSecret: () => "", windowSecret: "w", countryOf };
    expect(() => createClientInfo(empty)).toThrow("ipHashSecret");
    const noWindow = { ipHashSecret: () => "one", windowSecret: "", countryOf };
    expect(() => createClientInfo(noWindow)).toThrow("windowSecret");
  });
});

describe("createCountryLookup()", () => {
  test("knows countries of both IP versions, and null for a private address", () => {
    const countryOf = createCountryLookup();
    expect(countryOf("8.8.8.8")).toBe("US");
    expect(countryOf("2a00:1450:4001:81b::200e")).toMatch(/^[A-Z]{2}$/);
    expect(countryOf("127.0.0.1")).toBeNull();
    expect(countryOf("10.1.2.3")).toBeNull();
    expect(countryOf("2001:db8:0:0::/64")).toBeNull();
    expect(countryOf("")).toBeNull();
  });
});
