// Tests that the spending of spans goes long after their ends, and that audits know which rows may
// be gone.

import { expect, test } from "bun:test";
import { DAY_MS } from "../../../src/core/durations.ts";
import { SPANS_KEPT_MS } from "../../../src/store/accounts/budget-spans.ts";
import { deleteOldSpans } from "../../../workers/eviction.ts";
import { TestClock } from "../../support/product/actor-process.ts";
import { shared } from "../../support/shared.ts";
import { foundAtOnce } from "../../support/stores/audit-lab.ts";
import { endUserLab } from "../../support/stores/end-user-lab.ts";
import { openWorld } from "../../support/stores/world.ts";

const NOW = Date.now();
const clock = new TestClock(new Date(NOW - 2 * SPANS_KEPT_MS).toISOString());
const world = await shared(openWorld(clock.options));
const { account, set, spend, verdict, forget, kept } = endUserLab(world, clock);
const { database } = world;

const remove = () => deleteOldSpans({ database, now: () => clock.ms });

async function startsOf({ row }: { readonly row: { readonly number: number } }) {
  const rows = await database.sql`
    SELECT start FROM budget_spend WHERE account = ${row.number} ORDER BY start`;
  return rows.map(({ start }) => Number(start));
}

test("spans go 100 days after their begins, but those of all time, and audits agree", async () => {
  const mine = await account();
  await set(mine, "day", "3");
  await set(mine, "total", "9");
  const first = clock.ms - (clock.ms % DAY_MS);
  await spend(mine, "1");
  clock.ms += DAY_MS;
  await spend(mine, "2");
  await world.flush();
  expect(await startsOf(mine)).toEqual([0, first, first + DAY_MS]);
  clock.ms = first + SPANS_KEPT_MS;
  await remove();
  expect(await startsOf(mine)).toEqual([0, first, first + DAY_MS]);
  clock.ms += 1;
  await remove();
  expect(await startsOf(mine)).toEqual([0, first + DAY_MS]);
  clock.ms += DAY_MS;
  await remove();
  expect(await startsOf(mine)).toEqual([0]);
  expect(await foundAtOnce(world, mine)).toBe("");
  // What is left still binds, and a new span begins at zero.
  expect(await verdict(mine, "3.5")).toBe("end_user_budget_exceeded");
  await spend(mine, "3");
  expect(await verdict(mine, "0.1")).toBe("end_user_budget_exceeded");
  await database.sql`UPDATE budget_spend SET spent = spent + 1 WHERE account = ${mine.row.number}
    AND start = 0`;
  expect(await foundAtOnce(world, mine)).toContain("budget_spend of budget");
});

test("counts are forgotten after their span, though the span before is gone already", async () => {
  clock.ms = NOW - 2 * SPANS_KEPT_MS;
  const mine = await account();
  await set(mine, "week", "3");
  await spend(mine, "1");
  await world.flush();
  // Just before the deletion, Redis learns of both spans.
  clock.ms += SPANS_KEPT_MS - 7 * DAY_MS;
  await spend(mine, "1");
  await world.flush();
  clock.ms += 15 * DAY_MS;
  await remove();
  expect(await startsOf(mine)).toHaveLength(1);
  expect(await kept(mine)).toBe(1);
  await forget();
  expect(await kept(mine)).toBe(0);
  expect(await foundAtOnce(world, mine)).toBe("");
});

test("a row that is gone before its time is found, and so is one that is wrong", async () => {
  clock.ms = NOW;
  const mine = await account();
  await set(mine, "day", "3");
  await spend(mine, "1");
  await world.flush();
  expect(await foundAtOnce(world, mine)).toBe("");
  const rows = await database.sql`
    DELETE FROM budget_spend WHERE account = ${mine.row.number} RETURNING *`;
  expect(rows).toHaveLength(1);
  expect(await foundAtOnce(world, mine)).toContain("budget_spend of budget");
  // An old row may be gone or have a part of what was charged, but never more.
  await database.sql`INSERT INTO budget_spend ${database.sql(rows)}`;
  await database.sql`INSERT INTO budget_spend (account, budget, start, spent)
    VALUES (${mine.row.number}, 7, 5, 9)`;
  expect(await foundAtOnce(world, mine)).toContain("budget_spend of budget 7 from 5");
});
