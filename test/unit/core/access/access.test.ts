import { describe, expect, test } from "bun:test";
import {
  type AccessKey,
  allowlist,
  decideAccess,
  isListed,
  lacksAllowance,
  parseDocument,
  type StoredDocument,
} from "../../../../src/core/access/access.ts";
import type { AccountState } from "../../../../src/core/access/account-states.ts";
import type { ErrorCode } from "../../../../src/core/errors.ts";

const NOW = Date.UTC(2026, 10, 5);
const DAY = 86_400_000;

const STORED: StoredDocument = {
  state: "active",
  state_reason: null,
  contract: null,
  net_paid: "50000000000",
  first_payment_ms: NOW - 7 * DAY,
  own_cap: "20000000001",
  keys: [
    {
      id: "key_a",
      name: "server",
      scopes: ["models", "mail"],
      ip: ["192.0.2.0/24", "2001:db8::1"],
      monthly_limit: "1",
    },
    { id: "key_b", name: "any", scopes: ["maps"], ip: [], monthly_limit: null },
  ],
};

function documentOf(changes: Partial<StoredDocument> = {}) {
  return parseDocument(JSON.stringify({ ...STORED, ...changes }));
}

describe("parseDocument()", () => {
  test("reads state, tier inputs, cap and keys, with amounts as exact nano-USD", () => {
    const document = documentOf({ state: "suspended", state_reason: "dispute" });
    expect(document).toMatchObject({
      state: "suspended",
      stateReason: "dispute",
      tierInputs: {
        plan: null,
        netPaid: 50_000_000_000n,
        firstPaymentAtMs: NOW - 7 * DAY,
        contract: null,
      },
      ownCap: 20_000_000_001n,
      allowanceMonth: 0,
    });
    expect([...document.keys.keys()]).toEqual(["key_a", "key_b"]);
    expect(document.keys.get("key_a")).toMatchObject({
      id: "key_a",
      name: "server",
      scopes: ["models", "mail"],
      monthlyLimit: 1n,
    });
    expect(document.keys.get("key_b")).toMatchObject({ monthlyLimit: null, allowlist: null });
  });

  test("reads the plan and the allowance of an application account", () => {
    const document = documentOf({ plan: "free", allowance_month: 202_611, own_cap: null });
    expect(document).toMatchObject({ tierInputs: { plan: "free" }, allowanceMonth: 202_611 });
    expect(document.ownCap).toBeNull();
  });

  test("knows no key that the document does not list: a revoked key is unknown", () => {
    const keys = STORED.keys.filter(({ id }) => id !== "key_a");
    expect(documentOf({ keys }).keys.get("key_a")).toBeUndefined();
    expect(documentOf({ keys: [] }).keys.size).toBe(0);
  });

  test("takes payments above the largest amount as the largest amount", () => {
    const netPaidOf = (net_paid: string) => documentOf({ net_paid }).tierInputs.netPaid as bigint;
    expect(netPaidOf("9007199254740991")).toBe(9_007_199_254_740_991n);
    expect(netPaidOf("9007199254740992")).toBe(9_007_199_254_740_991n);
    expect(netPaidOf("90071992547409930000")).toBe(9_007_199_254_740_991n);
    expect(netPaidOf("-5")).toBe(-5n);
  });

  test("refuses a document that this program cannot have written", () => {
    expect(() => documentOf({ own_cap: "1.5" })).toThrow(SyntaxError);
    expect(() => documentOf({ own_cap: "9007199254740992" })).toThrow(RangeError);
    expect(() => parseDocument("{")).toThrow(SyntaxError);
  });
});

describe("allowlist() and isListed()", () => {
  const CASES: readonly (readonly [list: string[], inside: string[], outside: string[]])[] = [
    [["192.0.2.7"], ["192.0.2.7"], ["192.0.2.6", "192.0.2.8", "2001:db8::1"]],
    [
      ["10.0.0.0/8"],
      [
        "10.0.0.0",
        "10.255.255.255",
        "::ffff:10.1.2.3",
        "::ffff:a01:203",
        "0:0:0:0:0:FFFF:0A01:0203",
      ],
      ["9.255.255.255", "11.0.0.0", "::ffff:11.0.0.0", "::10.1.2.3", "64:ff9b::10.1.2.3"],
    ],
    [["192.0.2.77/24"], ["192.0.2.0", "192.0.2.255"], ["192.0.3.0"]],
    [["192.0.2.0/25"], ["192.0.2.127"], ["192.0.2.128"]],
    [["0.0.0.0/0"], ["192.0.2.1", "::ffff:192.0.2.1"], ["::1", "2001:db8::1"]],
    [["2001:db8::1"], ["2001:db8::1", "2001:0DB8:0:0:0:0:0:1"], ["2001:db8::2", "192.0.2.1"]],
    [["2001:db8::/33"], ["2001:db8:7fff::1"], ["2001:db8:8000::", "2001:db9::"]],
    [["::ffff:192.0.2.7"], ["192.0.2.7", "::ffff:192.0.2.7"], ["192.0.2.8"]],
    [["::ffff:10.0.0.0/104"], ["10.1.2.3"], ["11.1.2.3"]],
    [["192.0.2.7", "2001:db8::/32"], ["192.0.2.7", "2001:db8::9"], ["192.0.2.9"]],
    [[], [], ["192.0.2.1", "::1"]],
  ];

  test("lists addresses and blocks; IPv4 written as IPv6 is the same address", () => {
    for (const [entries, inside, outside] of CASES) {
      const list = allowlist(entries);
      expect([entries, inside.filter((ip) => !isListed(list, ip))]).toEqual([entries, []]);
      expect([entries, outside.filter((ip) => isListed(list, ip))]).toEqual([entries, []]);
    }
  });

  test("never lists a text that is not an address", () => {
    const everything = allowlist(["0.0.0.0/0", "::/0"]);
    const strange = ["", "unknown", "192.0.2", "192.0.2.1:80", "[::1]", "192.0.2.1 ", "010.0.0.1"];
    expect(strange.filter((ip) => isListed(everything, ip))).toEqual([]);
  });

  test("refuses by name an entry that is neither an address nor a block", () => {
    const bad = [
      "",
      "*",
      "host.example",
      "192.0.2",
      "192.0.2.1/",
      "192.0.2.1/33",
      "192.0.2.1/-1",
      "192.0.2.1/8/8",
      "192.0.2.1/1e1",
      "192.0.2.1/ 8",
      " 192.0.2.1",
      "010.0.0.1",
      "::1/129",
      "2001:db8::/",
      "2001:db8::g",
      "192.0.2.1-192.0.2.9",
    ];
    for (const entry of bad) {
      expect(() => allowlist(["192.0.2.1", entry])).toThrow(`'${entry}' is neither`);
    }
  });
});

describe("decideAccess()", () => {
  const INSIDE = "192.0.2.200";
  const OUTSIDE = "198.51.100.1";

  function refusalOf(
    changes: Partial<StoredDocument>,
    scope: "models" | "search" | "maps" | "mail" | null,
    clientIp = INSIDE,
  ) {
    const document = documentOf(changes);
    const key = document.keys.get("key_a") as AccessKey;
    return decideAccess(document, key, { scope, clientIp, nowMs: NOW }).refusal;
  }

  test("lets a key with the scope, the address and the tier pass", () => {
    expect(refusalOf({}, "models")).toBeNull();
    expect(refusalOf({}, "models", "::ffff:192.0.2.1")).toBeNull();
    expect(refusalOf({}, "mail", "2001:db8::1")).toBeNull();
  });

  test("answers with the first row that applies: state, address, scope, tier", () => {
    const disputed = { state: "suspended", state_reason: "dispute", net_paid: "0" } as const;
    const poor = { net_paid: "0" } as const;
    const order: readonly (readonly [
      Partial<StoredDocument>,
      "search" | "mail",
      string,
      ErrorCode,
    ])[] = [
      [disputed, "search", OUTSIDE, "account_inactive"],
      [poor, "search", OUTSIDE, "ip_not_allowed"],
      [poor, "search", INSIDE, "insufficient_scope"],
      [poor, "mail", INSIDE, "tier_required"],
    ];
    for (const [changes, scope, ip, code] of order) {
      expect(refusalOf(changes, scope, ip)?.code).toBe(code);
    }
  });

  test("names the tier that has the service, and how it is reached", () => {
    expect(refusalOf({ net_paid: "0" }, "mail")?.message).toBe(
      "The free tier does not include the service 'mail'. " +
        "The build tier has it: $50 paid and 7 days since the first payment",
    );
  });

  test("refuses every call of an account that is not active, whatever the reason", () => {
    const states: readonly AccountState[] = ["suspended", "closed"];
    for (const state of states) {
      for (const state_reason of [null, "dispute", "operator"]) {
        const refusal = refusalOf({ state, state_reason }, null);
        expect(refusal?.code).toBe("account_inactive");
        expect(refusal?.message).toContain(state);
      }
    }
  });

  test("checks only state and address for a call without a scope", () => {
    expect(refusalOf({ net_paid: "0" }, null)).toBeNull();
    expect(refusalOf({}, null, OUTSIDE)?.code).toBe("ip_not_allowed");
  });

  test("a key without an allowlist may be used from anywhere, even from no address", () => {
    const document = documentOf();
    const key = document.keys.get("key_b") as AccessKey;
    for (const clientIp of [INSIDE, OUTSIDE, "::1", ""]) {
      const call = { scope: "maps", clientIp, nowMs: NOW } as const;
      expect(decideAccess(document, key, call).refusal).toBeNull();
    }
  });

  test("names the tier if neither the key nor the tier has the service", () => {
    const poor = refusalOf({ net_paid: "0" }, "search", INSIDE);
    expect(poor?.code).toBe("insufficient_scope");
    expect(poor?.message).toMatch(
      /^This key lacks the scope 'search'\. The \w+ tier does not include .* tier has it: \$/,
    );
    const rich = refusalOf({}, "search", INSIDE);
    expect([rich?.code, rich?.message]).toEqual([
      "insufficient_scope",
      "This key lacks the scope 'search'",
    ]);
  });

  test("derives the tier at the time of the call, for refused calls too", () => {
    const document = documentOf();
    const key = document.keys.get("key_a") as AccessKey;
    const tierAt = (nowMs: number, scope: "mail" | "maps") => {
      const { tier, refusal } = decideAccess(document, key, { scope, clientIp: INSIDE, nowMs });
      return [tier.name, refusal?.code ?? null];
    };
    expect(tierAt(NOW, "mail")).toEqual(["build", null]);
    expect(tierAt(NOW - 1, "mail")).toEqual(["starter", "tier_required"]);
    expect(tierAt(NOW, "maps")).toEqual(["build", "insufficient_scope"]);
  });
});

describe("lacksAllowance()", () => {
  const lacks = (changes: Partial<StoredDocument>, nowMs = NOW) =>
    lacksAllowance(documentOf({ plan: "free", ...changes }), nowMs);

  test("is true once a UTC month, from its first millisecond", () => {
    expect(lacks({})).toBe(true);
    expect(lacks({ allowance_month: 202_610 })).toBe(true);
    expect(lacks({ allowance_month: 202_611 })).toBe(false);
    expect(lacks({ allowance_month: 202_611 }, Date.UTC(2026, 11, 1) - 1)).toBe(false);
    expect(lacks({ allowance_month: 202_611 }, Date.UTC(2026, 11, 1))).toBe(true);
    expect(lacks({ allowance_month: 202_612 }, Date.UTC(2027, 0, 1))).toBe(true);
  });

  test("is never true for a paid plan, a Gateway account or an inactive account", () => {
    expect(lacks({ plan: "starter" })).toBe(false);
    expect(lacksAllowance(documentOf(), NOW)).toBe(false);
    expect(lacks({ state: "suspended" })).toBe(false);
    expect(lacks({ state: "closed" })).toBe(false);
    expect(lacks({ no_allowance: true })).toBe(false);
  });
});
