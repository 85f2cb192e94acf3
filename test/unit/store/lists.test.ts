// Tests that a list of values is one parameter: a statement has the same text for any number of
// values, so each connection prepares it once (D-336).

import { expect, test } from "bun:test";
import { openDatabase } from "../../../src/store/servers/database.ts";
import { shared } from "../../support/shared.ts";
import { createTestDatabase } from "../../support/stores/services.ts";
import { keyDirectory, WORLD_PEPPER } from "../../support/stores/world.ts";

const { url } = await shared(createTestDatabase());
const database = await shared(open());

function open() {
  const opened = openDatabase(url, { connectionsMax: 1 });
  return { ...opened, [Symbol.asyncDispose]: () => opened.close() };
}

test("keys are looked up by one statement, however many there are", async () => {
  const directory = keyDirectory(database, WORLD_PEPPER);
  const others = ["b", "c", "d", "e"];
  for (let count = 0; count <= others.length; count += 1) {
    const digests = [`a${count}`, ...others.slice(0, count)] as const;
    expect(await directory.find(digests, async () => true)).toBeNull();
  }
  const prepared = await database.sql`
    SELECT statement FROM pg_prepared_statements WHERE statement LIKE 'select%"digest"%'`;
  expect(prepared).toHaveLength(1);
});
