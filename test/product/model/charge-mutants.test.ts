// Shows that the comparison of the charges of random calls (console/charges-agree) finds faults.
// Each is put into the source of a process of its own, which must see the places disagree.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { PROJECT } from "../../../scripts/local/home.mjs";

const PRELOAD = join(import.meta.dir, "../../support/product/mutant-preload.ts");
const COMPARISON = "./test/unit/console/charges-agree.test.ts";

const MUTANTS = [
  {
    breaks: "a receipt counts the free credit that paid for late charges",
    file: "src/store/usage/request-log.ts",
    good: "AND kind IN ('charge', 'late_charge')) b",
    bad: "AND kind = 'charge') b",
  },
  {
    breaks: "the cost of a receipt has the part that free credit paid",
    file: "src/readings/signed/signed-receipts.ts",
    good: "cost_usd: toDecimal(nano(call.cost))",
    bad: "cost_usd: toDecimal(nano(call.cost - call.freeCost))",
  },
  {
    breaks: "a statement has late charges",
    file: "src/readings/signed/signed-statement.ts",
    good: "changes.filter(({ kind }) => CHARGES.has(kind))",
    bad: 'changes.filter(({ kind }) => kind === "charge")',
  },
  {
    breaks: "a late charge is added to the log's",
    file: "src/store/usage/log-rows.ts",
    good: 'cost: { kind: "amount", late: "add" }',
    bad: 'cost: { kind: "amount", late: "set" }',
  },
  {
    breaks: "the sums of usage count a corrected call once",
    file: "src/store/usage/usage-changes.ts",
    good: "if (change.before !== null) changes.push",
    bad: "if (false) changes.push",
  },
  {
    breaks: "the FOCUS file has what prices cannot divide",
    file: "src/readings/focus/focus.ts",
    good: "if (rest !== 0n) {",
    bad: "if (rest < 0n) {",
  },
  {
    breaks: "the credits of the FOCUS file are the free credit",
    file: "src/readings/focus/focus.ts",
    good: "billed: -freeCost, sku: null",
    bad: "billed: -cost, sku: null",
  },
] as const;

test.each(MUTANTS)("a reader that breaks this is caught: $breaks", async (mutant) => {
  const options = ["--timeout", "180000", "--preload", PRELOAD];
  const child = Bun.spawn([process.execPath, "test", ...options, COMPARISON], {
    cwd: PROJECT,
    env: { ...process.env, MUTANT: JSON.stringify(mutant) },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, words] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  expect(`${out}${words}`).toContain("expect(received).toEqual(expected)");
  expect(await child.exited).toBe(1);
});
