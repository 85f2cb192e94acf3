// Checks src/core/access/limits.ts against the specification, typed out and never taken from its
// own tables: limits.test.ts runs them against the source, mutants.test.ts against copies with a
// fault.

import { expect } from "bun:test";
import type { PlanName, TierInputs } from "../../../src/core/access/limits.ts";
import type { TierName } from "../../../src/core/access/services.ts";
import type { NanoUsd } from "../../../src/core/money/money.ts";
import type { Checks } from "./source-mutants.ts";

type Limits = typeof import("../../../src/core/access/limits.ts");

const usd = (dollars: number) => (BigInt(dollars) * 1_000_000_000n) as NanoUsd;
const ALL = ["models", "search", "maps", "mail"] as const;
const DAY = 86_400_000;
/** The time of the first payment. */
const PAID_AT = 1_790_000_000_000;

/** SPEC 8.1: requests a minute, streams, monthly cap; 8.2: services; 4.4: batch size. */
const SPEC_TIERS = [
  ["free", 20, 2, usd(5), ["models"], 0],
  ["starter", 60, 5, usd(100), ["models", "search", "maps"], 10],
  ["build", 300, 20, usd(1_000), ALL, 50],
  ["scale", 1_000, 50, usd(5_000), ALL, 100],
  ["pro", 3_000, 100, usd(25_000), ALL, 100],
  ["enterprise", 10_000, 400, usd(250_000), ALL, 100],
] as const;

/** SPEC 8.1: dollars paid, and days since the first payment. */
const SPEC_UNLOCKS = [
  ["free", null],
  ["starter", { paid: usd(5), days: 0 }],
  ["build", { paid: usd(50), days: 7 }],
  ["scale", { paid: usd(250), days: 14 }],
  ["pro", { paid: usd(1_000), days: 30 }],
  ["enterprise", null],
] as const;

/** SPEC 8.3: recipients a day, messages a minute, recipients a message. */
const SPEC_MAIL: [TierName, number[] | null][] = [
  ["free", null],
  ["starter", null],
  ["build", [100, 5, 10]],
  ["scale", [1_000, 30, 50]],
  ["pro", [10_000, 120, 100]],
  ["enterprise", [100_000, 600, 500]],
];

export const TABLE_CHECKS: Checks<Limits> = {
  "each tier has the rate, streams, cap, services and batch size of SPEC 8.1, 8.2 and 4.4": ({
    TIERS,
  }) => {
    expect(
      TIERS.map((tier) => [
        tier.name,
        tier.requestsPerMinute,
        tier.streams,
        tier.monthlyCap,
        tier.services,
        tier.batchSearches,
      ]),
    ).toEqual(SPEC_TIERS.map((row) => [...row]));
  },

  "each tier unlocks by the amount and the days of SPEC 8.1": ({ TIERS }) => {
    expect(TIERS.map(({ name, unlock }) => [name, unlock])).toEqual(
      SPEC_UNLOCKS.map((row) => [...row]),
    );
  },

  "each tier has the mail limits of SPEC 8.3": ({ TIERS }) => {
    const rows = TIERS.map(({ name, mail }) => [
      name,
      mail && [mail.recipientsPerDay, mail.messagesPerMinute, mail.recipientsPerMessage],
    ]);
    expect(rows).toEqual(SPEC_MAIL);
  },

  "a tier limits single keys and no sum of them": ({ TIERS }) => {
    expect(TIERS.map((tier) => [tier.kind, tier.accountRequestsPerMinute])).toEqual(
      Array.from({ length: 6 }, () => ["tier", null]),
    );
  },

  "each plan has the requests a minute of SPEC 8.6 and carries 60 a minute on one key": ({
    PLANS,
    PLAN_NAMES,
  }) => {
    const rows = Object.values(PLANS).map((plan) => [
      plan.name,
      plan.kind,
      plan.accountRequestsPerMinute,
      plan.requestsPerMinute,
    ]);
    expect(rows).toEqual([
      ["free", "plan", 10, 60],
      ["starter", "plan", 30, 60],
      ["pro", "plan", 60, 60],
      ["max", "plan", 120, 60],
    ]);
    expect([...PLAN_NAMES]).toEqual(["free", "starter", "pro", "max"]);
  },

  "a plan has models alone, and neither a cap nor a stream limit that could be reached": ({
    PLANS,
  }) => {
    for (const plan of Object.values(PLANS)) {
      expect(plan).toMatchObject({ services: ["models"], batchSearches: 0, mail: null });
      expect(plan).toMatchObject({ unlock: null, monthlyCap: 9_007_199_254_740_991n });
      // 120 requests in each of the 15 minutes that a stream may last.
      expect(plan.streams).toBeGreaterThanOrEqual(1_800);
    }
  },

  "chat has the limits of SPEC 8.4": ({ CHAT }) => {
    expect(CHAT).toEqual({
      messagesMax: 256,
      maxTokensDefault: 4_096,
      maxTokensMax: 32_768,
      temperatureMax: 2,
      topPMax: 1,
      streamIdleMs: 90_000,
      streamMaxMs: 900_000,
      bodyBytesMax: 4_194_304,
      mediaBodyBytesMax: 33_554_432,
      mediaMax: 256,
    });
  },

  "mail has the limits of SPEC 4.6 and 8.4": ({ MAIL }) => {
    expect(MAIL).toMatchObject({
      subjectCharactersMax: 200,
      textBytesMax: 131_072,
      htmlBytesMax: 262_144,
      fromNameCharactersMax: 64,
      bodyBytesMax: 4_194_304,
    });
  },

  "a batch takes larger bodies than a search, and every body is limited": ({
    SEARCH,
    JSON_DEPTH_MAX,
  }) => {
    expect(SEARCH).toMatchObject({ bodyBytesMax: 65_536, batchBodyBytesMax: 1_048_576 });
    expect(JSON_DEPTH_MAX).toBe(64);
  },

  "free credit is $5 for 90 days, and hashes of addresses live 90 days (SPEC 8.7)": (limits) => {
    expect(limits.FREE_CREDIT).toBe(usd(5));
    expect(limits.FREE_CREDIT_DAYS).toBe(90);
    expect(limits.IP_HASH_DAYS).toBe(90);
  },

  "leases, buckets and the limits of strangers and refusals have the numbers decided for them": (
    limits,
  ) => {
    expect(limits.ANONYMOUS_REQUESTS_PER_MINUTE).toBe(60);
    expect(limits.REFUSED_ROWS_PER_MINUTE).toBe(100);
    expect(limits.LEASE_MS).toBe(60_000);
    expect(limits.LEASE_RENEWAL_MS).toBe(5_000);
    expect(limits.CHECKPOINT_MS).toBe(1_000);
    expect(limits.UNSAVED_MAX).toBe((usd(1) / 200n) as NanoUsd);
    expect(limits.BUCKETS).toBe(64);
  },
};

function inputs(netPaid: bigint, rest: Partial<TierInputs> = {}): TierInputs {
  return {
    plan: null,
    netPaid: netPaid as NanoUsd,
    firstPaymentAtMs: PAID_AT,
    contract: null,
    ...rest,
  };
}

/** The tier at each age of the first payment: 0, 1 ms before and at 7, 14 and 30 days. */
const AGES = [0, 7 * DAY - 1, 7 * DAY, 14 * DAY - 1, 14 * DAY, 30 * DAY - 1, 30 * DAY] as const;
const BY_AMOUNT: readonly (readonly [netPaid: bigint, ...tiers: TierName[]])[] = [
  [0n, "free", "free", "free", "free", "free", "free", "free"],
  [usd(5) - 1n, "free", "free", "free", "free", "free", "free", "free"],
  [usd(5), "starter", "starter", "starter", "starter", "starter", "starter", "starter"],
  [usd(50) - 1n, "starter", "starter", "starter", "starter", "starter", "starter", "starter"],
  [usd(50), "starter", "starter", "build", "build", "build", "build", "build"],
  [usd(250) - 1n, "starter", "starter", "build", "build", "build", "build", "build"],
  [usd(250), "starter", "starter", "build", "build", "scale", "scale", "scale"],
  [usd(1_000) - 1n, "starter", "starter", "build", "build", "scale", "scale", "scale"],
  [usd(1_000), "starter", "starter", "build", "build", "scale", "scale", "pro"],
  [usd(9_000_000), "starter", "starter", "build", "build", "scale", "scale", "pro"],
];

/** Checks that hold whatever other rows the table of tiers has. */
export const RULE_CHECKS: Checks<Limits> = {
  "a tier is unlocked at exactly its amount and its days, and not a nano or a millisecond before":
    ({ deriveTier }) => {
      for (const [netPaid, ...expected] of BY_AMOUNT) {
        const derived = AGES.map((age) => deriveTier(inputs(netPaid), PAID_AT + age).name);
        expect(derived).toEqual(expected);
      }
    },

  "an account that never paid, or was refunded all of it, is free at any age": ({ deriveTier }) => {
    const late = PAID_AT + 1_000 * DAY;
    const never = inputs(usd(1_000), { firstPaymentAtMs: null });
    expect(deriveTier(never, late).name).toBe("free");
    expect(deriveTier(inputs(0n), late).name).toBe("free");
    expect(deriveTier(inputs(-1n), late).name).toBe("free");
  },

  "a contract gives the enterprise tier, whatever was paid": ({ deriveTier }) => {
    for (const netPaid of [0n, usd(5), usd(9_000_000)]) {
      for (const firstPaymentAtMs of [null, PAID_AT]) {
        const contracted = inputs(netPaid, { firstPaymentAtMs, contract: "enterprise" });
        expect(deriveTier(contracted, PAID_AT + 31 * DAY)).toMatchObject({
          kind: "tier",
          name: "enterprise",
          requestsPerMinute: 10_000,
        });
      }
    }
  },

  "an application account has the limits of its plan, whatever was paid": ({ deriveTier }) => {
    const plans: readonly [PlanName, number][] = [
      ["free", 10],
      ["starter", 30],
      ["pro", 60],
      ["max", 120],
    ];
    for (const [plan, accountRequestsPerMinute] of plans) {
      const tier = deriveTier(inputs(usd(1_000), { plan }), PAID_AT + 31 * DAY);
      expect(tier).toMatchObject({ kind: "plan", name: plan, accountRequestsPerMinute });
    }
  },

  "the next tier is the next one that payments unlock; above pro and enterprise is none": ({
    TIERS,
    nextTier,
  }) => {
    const next = Object.fromEntries(
      TIERS.map((tier) => [tier.name, nextTier(tier)?.name ?? null] as const),
    );
    expect(next).toMatchObject({
      free: "starter",
      starter: "build",
      build: "scale",
      scale: "pro",
      pro: null,
      enterprise: null,
    });
  },

  "a plan has no next tier": ({ PLANS, nextTier }) => {
    expect(Object.values(PLANS).map(nextTier)).toEqual([null, null, null, null]);
  },
};
