import { describe, expect, test } from "bun:test";
import { createClientIp, networkOf, normalizeIp } from "../../../src/http/client-ip.ts";

function clientOf(peer: string, forwarded: string | null, trusted: string[] = ["10.0.0.0/8"]) {
  const headers = new Headers(forwarded === null ? {} : { "x-forwarded-for": forwarded });
  return createClientIp(trusted)(peer, headers);
}

describe("createClientIp()", () => {
  test("believes no peer without trusted proxies", () => {
    expect(clientOf("192.0.2.7", "198.51.100.1", [])).toBe("192.0.2.7");
  });

  test("does not believe a peer that is not a trusted proxy", () => {
    expect(clientOf("192.0.2.7", "198.51.100.1")).toBe("192.0.2.7");
  });

  test("takes the hop that the trusted proxy wrote", () => {
    expect(clientOf("10.0.0.1", "198.51.100.1")).toBe("198.51.100.1");
  });

  test("ignores the hops that the client wrote left of that", () => {
    expect(clientOf("10.0.0.1", "203.0.113.9, 198.51.100.1")).toBe("198.51.100.1");
  });

  test("walks past several trusted proxies", () => {
    expect(clientOf("10.0.0.1", "203.0.113.9,198.51.100.1, 10.2.2.2 ,10.3.3.3")).toBe(
      "198.51.100.1",
    );
  });

  test("believes each peer for itself, whoever came before it", () => {
    const clientIp = createClientIp(["10.0.0.0/8"]);
    const headers = new Headers({ "x-forwarded-for": "198.51.100.1" });
    const peers = ["10.0.0.1", "192.0.2.7", "10.0.0.1", "10.0.0.2", "192.0.2.8", "192.0.2.8"];
    expect(peers.map((peer) => clientIp(peer, headers))).toEqual([
      "198.51.100.1",
      "192.0.2.7",
      "198.51.100.1",
      "198.51.100.1",
      "192.0.2.8",
      "192.0.2.8",
    ]);
  });

  test("reads all lines of the header as one", () => {
    const headers = new Headers();
    headers.append("x-forwarded-for", "203.0.113.9");
    headers.append("x-forwarded-for", "198.51.100.1");
    expect(createClientIp(["10.0.0.0/8"])("10.0.0.1", headers)).toBe("198.51.100.1");
  });

  test("returns the proxy's address if the hop is not an address", () => {
    expect(clientOf("10.0.0.1", "198.51.100.1, unknown")).toBe("10.0.0.1");
    expect(clientOf("10.0.0.1", "198.51.100.1, 010.1.2.3")).toBe("10.0.0.1");
    expect(clientOf("10.0.0.1", "")).toBe("10.0.0.1");
    expect(clientOf("10.0.0.1", null)).toBe("10.0.0.1");
  });

  test("reads ports, brackets and IPv4 written as IPv6", () => {
    expect(clientOf("::ffff:10.0.0.1", "198.51.100.1:4711")).toBe("198.51.100.1");
    expect(clientOf("10.0.0.1", "[2001:DB8::1]:443")).toBe("2001:db8::1");
    expect(clientOf("10.0.0.1", "::ffff:198.51.100.1")).toBe("198.51.100.1");
  });

  test("refuses a list with an entry that is not an address", () => {
    expect(() => createClientIp(["10.0.0.0/8", "proxy.local"])).toThrow("proxy.local");
  });
});

describe("normalizeIp()", () => {
  test("gives each address one spelling", () => {
    expect(normalizeIp("::ffff:1.2.3.4")).toBe("1.2.3.4");
    expect(normalizeIp("::FFFF:0102:0304")).toBe("1.2.3.4");
    expect(normalizeIp("::ffff:ffff:ff")).toBe("255.255.0.255");
    expect(normalizeIp("fe80::1%eth0")).toBe("fe80::1");
    expect(normalizeIp("::ffff:zz")).toBe("::ffff:zz");
  });
});

describe("networkOf()", () => {
  test("is the /64 of an IPv6 address, however it is written", () => {
    const spellings = ["2001:db8::1", "2001:0db8:0:0:ffff::2", "2001:db8:0:0:1:2:3:4"];
    expect(new Set(spellings.map(networkOf))).toEqual(new Set(["2001:db8:0:0::/64"]));
    expect(networkOf("::1")).toBe("0:0:0:0::/64");
  });

  test("is an IPv4 address itself", () => {
    expect(networkOf("192.0.2.7")).toBe("192.0.2.7");
  });
});
