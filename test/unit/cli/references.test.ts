// Tests the operator's own id of a change: a repeat with the same content returns the first change,
// a repeat with different content is refused, and nothing is booked.

import { expect, test } from "bun:test";
import { cliOf, jsonOf } from "../../support/product/run-cli.ts";
import { shared } from "../../support/shared.ts";
import { openAccount, openWorld } from "../../support/stores/world.ts";

const world = await shared(openWorld());
const cli = await cliOf(world);

interface Facts {
  readonly account: string;
  /** A payment of $20 with a bonus of $2. */
  readonly payment: string;
}

/** A command by an id, and commands by the same id with different content. */
interface Case {
  readonly name: string;
  readonly first: (facts: Facts) => readonly string[];
  readonly others: readonly (readonly [name: string, args: (facts: Facts) => readonly string[]])[];
}

const AT = ["--at", "2026-11-01T12:00:00Z"];

const record =
  (...args: string[]) =>
  ({ account }: Facts) => ["payment", "record", account, ...args];
const refund =
  (...args: string[]) =>
  ({ payment }: Facts) => ["payment", "refund", payment, ...args];
const adjust =
  (usd: string, reason = "goodwill") =>
  ({ account }: Facts) => ["account", "adjust", account, "--usd", usd, "--reason", reason];
const forgive =
  (usd: string, reason = "goodwill") =>
  ({ account }: Facts) => ["account", "forgive", account, "--usd", usd, "--reason", reason];

const CASES: readonly Case[] = [
  {
    name: "payment record",
    first: record("--usd", "5", "--bonus", "1"),
    others: [
      ["another amount", record("--usd", "6", "--bonus", "1")],
      ["another bonus", record("--usd", "5", "--bonus", "2")],
      ["no bonus", record("--usd", "5")],
      ["a time", record("--usd", "5", "--bonus", "1", ...AT)],
    ],
  },
  {
    name: "payment record with a time",
    first: record("--usd", "5", ...AT),
    others: [
      ["another time", record("--usd", "5", "--at", "2026-11-02T12:00:00Z")],
      ["another amount", record("--usd", "5.000000001", ...AT)],
    ],
  },
  {
    name: "payment refund of a part",
    first: refund("--usd", "5"),
    others: [
      ["another amount", refund("--usd", "7")],
      ["all that is left", refund()],
      ["an adjustment", adjust("-5")],
    ],
  },
  {
    name: "payment refund of all that is left",
    first: refund(),
    others: [["a part", refund("--usd", "5")]],
  },
  {
    name: "account adjust",
    first: adjust("-3.5"),
    others: [
      ["the other sign", adjust("3.5")],
      ["another amount", adjust("-3")],
      ["another reason", adjust("-3.5", "penalty")],
      ["what is forgiven", forgive("3.5")],
      ["a refund", refund("--usd", "3.5")],
    ],
  },
  {
    name: "account forgive",
    first: forgive("1"),
    others: [
      ["another amount", forgive("2")],
      ["another reason", forgive("1", "kindness")],
      ["an adjustment", adjust("1")],
    ],
  },
];

async function numbersOf(account: string) {
  const [row] = await world.database.sql`
    SELECT count(o.*)::int AS operations, (SELECT count(*)::int FROM payments p
      WHERE p.account = a.number) AS payments
    FROM accounts a LEFT JOIN operations o ON o.account = a.number
    WHERE a.id = ${account} GROUP BY a.number`;
  return [Number(row?.operations), Number(row?.payments)];
}

for (const [index, { name, first, others }] of CASES.entries()) {
  test(`${name}: the same content returns the first change, other content fails`, async () => {
    const { row } = await openAccount(world, { free: "0" });
    const paid = await cli("payment", "record", row.id, "--usd", "20", "--bonus", "2", "--json");
    const facts = { account: row.id, payment: String(jsonOf(paid).id) };
    const id = ["--id", `ticket ${index}`, "--json"];
    const answer = jsonOf(await cli(...first(facts), ...id));
    const before = await numbersOf(row.id);
    expect(jsonOf(await cli(...first(facts), ...id))).toEqual(answer);
    for (const [other, args] of others) {
      const { code, out } = await cli(...args(facts), ...id);
      expect([other, code, JSON.parse(out).error?.code]).toEqual([other, 1, "reference_reused"]);
    }
    expect(await numbersOf(row.id)).toEqual(before);
  });
}
