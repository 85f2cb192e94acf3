// Tests the tests of money: each mutant is a copy of a source file with one fault, which a check
// must find. The copy without a fault must pass, and a mutant whose text is no longer in the source
// fails.

import { describe, expect, test } from "bun:test";
import { atEnd } from "../../support/shared.ts";
import { RULE_CHECKS, TABLE_CHECKS } from "./limits-checks.ts";
import { BOUNDS_CHECKS, PRICE_CHECKS, TEXT_CHECKS } from "./money-checks.ts";
import {
  type Change,
  Mutants,
  type Mutation,
  replaced,
  stepped,
  testMutants,
} from "./source-mutants.ts";

const mutants = new Mutants();
atEnd(() => mutants[Symbol.dispose]());

const TIER_FIELDS = ["requestsPerMinute", "streams", "monthlyCap", "batchSearches"];
const UNLOCK_FIELDS = ["paid", "days"];
const MAIL_FIELDS = ["recipientsPerDay", "messagesPerMinute", "recipientsPerMessage"];
const FIELDS_BY_TIER = {
  free: TIER_FIELDS,
  starter: [...TIER_FIELDS, ...UNLOCK_FIELDS],
  build: [...TIER_FIELDS, ...UNLOCK_FIELDS, ...MAIL_FIELDS],
  scale: [...TIER_FIELDS, ...UNLOCK_FIELDS, ...MAIL_FIELDS],
  pro: [...TIER_FIELDS, ...UNLOCK_FIELDS, ...MAIL_FIELDS],
  enterprise: [...TIER_FIELDS, ...MAIL_FIELDS],
};

const CHAT_FIELDS = [
  "messagesMax",
  "maxTokensDefault",
  "maxTokensMax",
  "temperatureMax",
  "topPMax",
  "streamIdleMs",
  "streamMaxMs",
  "bodyBytesMax",
];
const MAIL_ITEM_FIELDS = [
  "subjectCharactersMax",
  "textBytesMax",
  "htmlBytesMax",
  "fromNameCharactersMax",
  "bodyBytesMax",
];
const CONSTANTS = [
  "FREE_CREDIT_DAYS",
  "IP_HASH_DAYS",
  "JSON_DEPTH_MAX",
  "LEASE_MS",
  "LEASE_RENEWAL_MS",
  "CHECKPOINT_MS",
  "ANONYMOUS_REQUESTS_PER_MINUTE",
  "REFUSED_ROWS_PER_MINUTE",
  "BUCKETS",
];

/** Adds one to, and takes one from, each number below `anchor`, or the number that follows it. */
function offByOne(owner: string, anchor: string, fields: readonly string[] = [""]): Mutation[] {
  return fields.flatMap((field): Mutation[] => [
    [`${owner} ${field} is one more`, stepped(anchor, 1, field)],
    [`${owner} ${field} is one less`, stepped(anchor, -1, field)],
  ]);
}

describe("limits.ts: numbers", () => {
  testMutants(mutants, {
    file: "src/core/access/limits.ts",
    checks: TABLE_CHECKS,
    mutations: [
      ...Object.entries(FIELDS_BY_TIER).flatMap(([tier, fields]) =>
        offByOne(tier, `gatewayTier({\n    name: "${tier}",`, fields),
      ),
      ...["free", "starter", "pro", "max"].flatMap((plan) =>
        offByOne(`the plan ${plan}`, `applicationPlan("${plan}",`),
      ),
      ...offByOne("a plan's key", "const PLAN_KEY_REQUESTS_PER_MINUTE ="),
      ...offByOne("chat", "export const CHAT =", CHAT_FIELDS),
      ...offByOne("mail", "export const MAIL =", MAIL_ITEM_FIELDS),
      ...offByOne("a search", "export const SEARCH =", ["bodyBytesMax", "batchBodyBytesMax"]),
      ...offByOne("free credit", 'export const FREE_CREDIT = usd("'),
      ...CONSTANTS.flatMap((name) => offByOne(name, `export const ${name} =`)),
      ["a plan has the cap of a tier", replaced("monthlyCap: AMOUNT_MAX", 'monthlyCap: usd("5")')],
    ],
  });
});

const ANOTHER_CONTRACT = `  gatewayTier({
    name: "partner" as TierName,
    requestsPerMinute: 2_000,
    streams: 80,
    monthlyCap: usd("9000"),
    unlock: null,
    batchSearches: 100,
    mail: null,
  }),
`;

function contractBefore(tier: string): Change {
  const row = `  gatewayTier({\n    name: "${tier}"`;
  return replaced(row, ANOTHER_CONTRACT + row);
}

const BY_INDEX = replaced(
  "return tierNamed(inputs.contract)",
  "return TIERS[5] ?? tierNamed('pro')",
);
const DIRECTLY_ABOVE = replaced(
  "return above.find(({ unlock }) => unlock !== null) ?? null;",
  "return above[0]?.unlock ? above[0] : null;",
);

describe("limits.ts: rules, with another contract's tier below enterprise", () => {
  testMutants(mutants, {
    file: "src/core/access/limits.ts",
    checks: RULE_CHECKS,
    harmless: [contractBefore("enterprise")],
    mutations: [["the contract's tier is found by its index", BY_INDEX]],
  });
});

describe("limits.ts: rules, with a contract's tier between those that payments unlock", () => {
  testMutants(mutants, {
    file: "src/core/access/limits.ts",
    checks: RULE_CHECKS,
    harmless: [contractBefore("scale")],
    mutations: [
      ["the contract's tier is found by its index", BY_INDEX],
      ["the next tier is the row above, whatever unlocks it", DIRECTLY_ABOVE],
    ],
  });
});

describe("limits.ts: rules", () => {
  testMutants(mutants, {
    file: "src/core/access/limits.ts",
    checks: RULE_CHECKS,
    mutations: [
      ["a contract is ignored", replaced("if (inputs.contract !== null)", "if (false)")],
      ["a plan is ignored", replaced("if (inputs.plan !== null)", "if (false)")],
      [
        "an amount unlocks only above itself",
        replaced("netPaid < unlock.paid", "netPaid <= unlock.paid"),
      ],
      [
        "days unlock only above themselves",
        replaced(">= unlock.days * DAY_MS", "> unlock.days * DAY_MS"),
      ],
      ["days do not matter", replaced(">= unlock.days * DAY_MS", ">= 0")],
      ["the amount does not matter", replaced("inputs.netPaid < unlock.paid", "false")],
      ["who never paid is as old as time", replaced("|| inputs.firstPaymentAtMs === null", "")],
      ["the lowest unlocked tier is taken", replaced("TIERS.findLast(", "TIERS.find(")],
      ["the next tier is the current one", replaced("current.name) + 1", "current.name)")],
      ["a plan has the next tier of a tier", replaced('current.kind === "plan"', "false")],
    ],
  });
});

describe("money.ts", () => {
  testMutants(mutants, {
    file: "src/core/money/money.ts",
    checks: { ...TEXT_CHECKS, ...BOUNDS_CHECKS, ...PRICE_CHECKS },
    mutations: [
      ["a charge is rounded down", replaced("(sum(parts) + PICO_PER_NANO - 1n)", "sum(parts)")],
      [
        "a charge is rounded to the next nano always",
        replaced("+ PICO_PER_NANO - 1n)", "+ PICO_PER_NANO)"),
      ],
      [
        "a charge is summed in doubles",
        replaced(
          "pico += BigInt(quantity) * unit",
          "pico = BigInt(Number(pico) + quantity * Number(unit))",
        ),
      ],
      ["an amount has no upper bound", replaced("value > AMOUNT_MAX || ", "")],
      ["an amount has no lower bound", replaced(" || value < AMOUNT_MIN", "")],
      [
        "the bound is 2^53",
        replaced("BigInt(Number.MAX_SAFE_INTEGER) as", "BigInt(Number.MAX_SAFE_INTEGER + 1) as"),
      ],
      [
        "a sum is not bounded",
        replaced(
          "return nano(amounts.reduce<bigint>((sum, amount) => sum + amount, 0n))",
          "return amounts.reduce<bigint>((sum, amount) => sum + amount, 0n) as NanoUsd",
        ),
      ],
      ["a difference is not bounded", replaced("return nano(a - b)", "return (a - b) as NanoUsd")],
      ["an amount below a dollar loses its zero", replaced("padStart(10,", "padStart(9,")],
      [
        "an amount goes through a float that has not all of its digits",
        replaced("PLAIN_MAX = 1e15 - 1", "PLAIN_MAX = 1e16"),
      ],
      [
        "a small amount is printed with an exponent",
        replaced("PLAIN_MIN = 1_000", "PLAIN_MIN = 1"),
      ],
      ["a sign is lost", replaced('const sign = amount < 0n ? "-" : ""', 'const sign = ""')],
      ["decimals beyond the last are cut", replaced("fraction.length > places", "false")],
      ["a price is rounded", replaced("amount % picoScale !== 0n", "false")],
      ["a price is negative", replaced("amount < 0n) throw", "false) throw")],
      [
        "what is affordable forgets what else is bought",
        replaced("PICO_PER_NANO - sum(parts)", "PICO_PER_NANO"),
      ],
      ["debt buys what is free", replaced("if (left < 0n) return 0;", "")],
    ],
  });
});

test("a mutation of a text that is not in the source, or there twice, is an error", async () => {
  const load = (change: Change) => mutants.load("src/core/access/limits.ts", [change]);
  expect(load(replaced("no such text", ""))).rejects.toThrow("not exactly once");
  expect(load(replaced("readonly", ""))).rejects.toThrow("not exactly once");
  expect(load(stepped('name: "gold"', 1, "streams"))).rejects.toThrow("not exactly once");
  expect(load(stepped('name: "free",\n', 1, "credits"))).rejects.toThrow("no number");
  expect(load(stepped("export const BUCKETS =", 0))).rejects.toThrow("did not change");
});
