// Tests that the stores of each release are upgraded with all their data: accounts, keys, the
// ledger, journal entries that are not flushed, and the open hold of a process that was killed. The
// states were written by the code of these releases (record-state.ts).

import { afterEach, beforeEach, expect, test } from "bun:test";
import { toUuid } from "../../../src/core/ids.ts";
import { nano } from "../../../src/core/money/money.ts";
import { askChat } from "../../support/api/chat-client.ts";
import { eventually } from "../../support/eventually.ts";
import { openOperator } from "../../support/product/product.ts";
import { earlierTags } from "./earlier-release.ts";
import { type Recorded, readRecorded, recordedReleases } from "./recorded.ts";
import { balanceOf, farebox, type Ground, openGround, present, startRelease } from "./releases.ts";
import { fillStores } from "./store-state.ts";

let resources: AsyncDisposableStack;
beforeEach(() => {
  resources = new AsyncDisposableStack();
});
afterEach(() => resources.disposeAsync());

const releases = recordedReleases();

test("the first release and each one with a tag has a state", () => {
  expect(releases[0]).toBe("v0.1.0");
  expect(earlierTags().filter((tag) => !releases.includes(tag))).toEqual([]);
});

test.each(releases)("the stores of %s are upgraded, and no amount is lost", async (name) => {
  const recorded = readRecorded(name);
  const ground = await openRecorded(recorded);
  await farebox(present(), ground, ["migrate"]);
  const { api } = await startRelease(present(), ground);
  const { id, key } = recorded.account;
  const made = await askChat(api.url, key, { model: "ok" });
  expect(made.status).toBe(200);
  await eventually("the hold of the killed process is settled", async () => {
    return (await balanceOf(present(), ground, id)).held === 0n;
  });

  const expected = new Map(Object.entries(recorded.calls));
  expected.set(made.requestId, String(made.cost));
  const charged = await chargesOf(ground, id);
  const ofStream = charged.get(toUuid(recorded.open)) ?? 0n;
  charged.delete(toUuid(recorded.open));
  expect(charged).toEqual(
    new Map([...expected].map(([request, cost]) => [toUuid(request), BigInt(cost)])),
  );
  expect(ofStream).toBeGreaterThanOrEqual(0n);
  const spent = [...charged.values()].reduce((sum, cost) => sum + cost, ofStream);
  const { left } = await balanceOf(present(), ground, id);
  expect(left).toBe(nano(BigInt(recorded.credit) - spent));

  await farebox(present(), ground, ["migrate", "--finish"]);
  expect(await farebox(present(), ground, ["audit"])).toMatchObject({ difference: null });
  expect((await askChat(api.url, key, { model: "ok" })).status).toBe(200);
});

/** Opens private stores with the recorded content, and the settings of its release. */
async function openRecorded({ secrets, stores }: Recorded): Promise<Ground> {
  const ground = await openGround(resources);
  await fillStores(stores, ground.stores);
  return { ...ground, env: { ...ground.env, ...secrets } };
}

/** The charges of each request in the ledger, once the journal is in it. */
async function chargesOf({ env }: Ground, account: string): Promise<Map<string, bigint>> {
  const operator = openOperator(env.REDIS_URL ?? "", env.DATABASE_URL ?? "");
  try {
    await operator.flush();
    const rows = await operator.database.sql`
      SELECT request::text AS request, -sum(paid_delta + free_delta)::bigint AS cost
      FROM ledger_entries JOIN accounts a ON a.number = account
      WHERE a.id = ${account} AND kind = 'charge' GROUP BY request`;
    return new Map(rows.map(({ request, cost }) => [String(request), BigInt(cost)]));
  } finally {
    await operator.close();
  }
}
