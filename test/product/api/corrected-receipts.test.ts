// Tests the receipts of calls that are corrected while receipts are issued: at each statement that
// an issuing process sends, the process dies, or another one issues receipts and the correction is
// booked. No receipt may mix both states, and the first one must keep its bytes.

import { expect, test } from "bun:test";
import { toUuid } from "../../../src/core/ids.ts";
import { nano, ofCents, toDecimal } from "../../../src/core/money/money.ts";
import { type ReceiptClaims, verifyReceipt } from "../../../src/core/receipts/receipt-jws.ts";
import {
  type SignedReceipt,
  SignedReceipts,
} from "../../../src/readings/signed/signed-receipts.ts";
import type { Database } from "../../../src/store/servers/database.ts";
import { RECEIPT_KEY } from "../../support/api/api-world.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { realClock } from "../../support/fakes/fake-clock.ts";
import { sweepHold } from "../../support/stores/late-calls.ts";
import { DONE, hold } from "../../support/stores/world.ts";

const api = await sharedApi();
const { stores } = api.parts;
const { database } = stores;
/** In cents: the sweep charges a part of the free credit, the late settlement the rest and more. */
const [HOLD, SEEN, COST, FREE] = [20, 5, 15, 10];
const usdOf = (cents: number) => toDecimal(ofCents(cents));
const EARLY = { cost_usd: usdOf(SEEN), free_usd: usdOf(SEEN) };
const LATE = { cost_usd: usdOf(COST), free_usd: usdOf(FREE) };

const issuer = (of: Database) =>
  new SignedReceipts({ database: of, clock: realClock, key: RECEIPT_KEY, issuer: "Farebox" });

/** A call that the sweep has charged, and that is not settled by its own process yet. */
async function openLate() {
  const account = await api.account({ paid: "5", free: usdOf(FREE) });
  const open = await hold(account, ofCents(HOLD));
  await sweepHold(stores, open, ofCents(SEEN));
  const question = { account: account.id, keyId: account.keyId, request: open.id };
  return {
    askBy: (of: Database) => issuer(of).of(question),
    correct: async () => {
      await open.settle(ofCents(COST), DONE);
      await stores.flush();
    },
    /** The receipts that are kept, in order. */
    kept: async () => {
      const rows = await database.sql<{ jws: string }[]>`
        SELECT jws FROM receipts WHERE request = ${toUuid(open.id)} ORDER BY number`;
      return await Promise.all(rows.map(({ jws }) => verifyReceipt(jws, [RECEIPT_KEY.publicJwk])));
    },
    booked: async () => {
      const [row] = await database.sql`
        SELECT (-sum(paid_delta + free_delta))::text AS cost FROM ledger_entries
        WHERE request = ${toUuid(open.id)} AND kind IN ('charge', 'late_charge')`;
      return toDecimal(nano(String(row?.cost)));
    },
  };
}

/** The database with an act before its statement of this number; counts the statements. */
function interposed(number: number, act: () => Promise<void>) {
  let statements = 0;
  const sql = new Proxy(database.sql, {
    apply: (target, self, asked) => {
      statements += 1;
      const send = () => Reflect.apply(target, self, asked);
      return statements === number ? act().then(send) : send();
    },
  });
  return { database: { ...database, sql }, count: () => statements };
}

/** The receipts that were issued, and the one that the process got; null if it died. */
type Check = (world: Awaited<ReturnType<typeof openLate>>, got: SignedReceipt | null) => unknown;

/** Has a process issue a receipt, with the act before each of its statements in turn. */
async function atEachStatement(
  begin: (world: Awaited<ReturnType<typeof openLate>>) => Promise<unknown>,
  act: (world: Awaited<ReturnType<typeof openLate>>) => Promise<void>,
  check: Check,
): Promise<void> {
  for (let number = 1; ; number += 1) {
    const world = await openLate();
    await begin(world);
    const { database: between, count } = interposed(number, () => act(world));
    const got = await world.askBy(between).catch(() => null);
    if (count() < number) break;
    await check(world, got);
    const last = await world.askBy(database);
    expect(last.claims.receipt).toMatchObject(LATE);
    expect(await world.booked()).toBe(LATE.cost_usd);
    expect((await world.askBy(database)).jws).toBe(last.jws);
    for (const [index, { receipt }] of (await world.kept()).entries()) {
      expect([receipt.number, receipt.corrects]).toEqual([index + 1, index === 0 ? null : index]);
    }
  }
}

test("a process that dies before a statement of a second receipt leaves it to others", async () => {
  await atEachStatement(
    async ({ askBy, correct }) => {
      expect((await askBy(database)).claims.receipt).toMatchObject(EARLY);
      await correct();
    },
    () => Promise.reject(new Error("killed")),
    async ({ kept }, got) => {
      expect(got).toBeNull();
      expect((await kept())[0]?.receipt).toMatchObject(EARLY);
    },
  );
});

test.each([false, true])(
  "a correction between any statements gives right receipts (issued before: %p)",
  async (isIssued) => {
    await atEachStatement(
      async ({ askBy }) => {
        if (isIssued) await askBy(database);
      },
      async ({ correct, askBy }) => {
        await correct();
        await askBy(database);
      },
      async ({ kept }, got) => {
        const costs = (await kept()).map(({ receipt: { cost_usd, free_usd } }) => ({
          cost_usd,
          free_usd,
        }));
        expect([[EARLY], [LATE], [EARLY, LATE]]).toContainEqual(costs);
        expect((await kept()).map((claims) => claims.receipt)).toContainEqual(
          got?.claims.receipt as ReceiptClaims["receipt"],
        );
      },
    );
  },
);
