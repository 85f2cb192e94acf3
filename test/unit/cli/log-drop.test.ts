import { expect, test } from "bun:test";
import { LogUpkeep } from "../../../src/store/usage/log-upkeep.ts";
import { cliOf, jsonOf } from "../../support/product/run-cli.ts";
import { openWorld } from "../../support/stores/world.ts";

test("farebox log drop drops the months before the given one, and no other", async () => {
  await using world = await openWorld();
  await new LogUpkeep(world.database).ensurePartitions(new Date("2025-01-01T00:00:00Z"), 2);
  const farebox = await cliOf(world);
  const refusals = [
    ["2025-13", "--before must be a month such as 2026-08, but is '2025-13'"],
    ["9999-01", "--before must not be after this month"],
  ] as const;
  for (const [month, words] of refusals) {
    const { code, err } = await farebox("log", "drop", "--before", month);
    expect({ code, isNamed: err.includes(words) }).toEqual({ code: 2, isNamed: true });
  }
  const dropped = await farebox("log", "drop", "--before", "2025-03", "--json");
  expect(jsonOf(dropped)).toEqual({ before: "2025-03", months: ["2025-01", "2025-02"] });
  const tables = await world.database.sql`
    SELECT relname FROM pg_class WHERE relname ~ '^request_log_[0-9]{6}$'`;
  expect(tables.map(({ relname }) => relname)).toEqual(["request_log_202503"]);
});
