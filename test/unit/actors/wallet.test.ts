import { expect, test } from "bun:test";
import { shared } from "../../support/shared.ts";
import {
  balances,
  DONE,
  hold,
  nano,
  openAccount,
  openWorld,
  usd,
  verdict,
} from "../../support/stores/world.ts";

const world = await shared(openWorld());

test("a new account has five dollars of free credit and nothing paid", async () => {
  const account = await openAccount(world);
  expect(await balances(account)).toEqual({ paid: nano(0n), free: usd("5"), held: nano(0n) });
});

test("settle() charges the exact cost and returns the rest of the hold", async () => {
  const account = await openAccount(world, { paid: "10" });
  const open = await hold(account, usd("6"));
  expect(await balances(account)).toEqual({ paid: usd("9"), free: nano(0n), held: usd("6") });
  expect(await open.settle(usd("5.5"), DONE)).toMatchObject({
    charged: usd("5.5"),
    free: usd("5"),
  });
  expect(await balances(account)).toEqual({ paid: usd("9.5"), free: nano(0n), held: nano(0n) });
  await world.flush();
  const rows = await world.database
    .sql`SELECT kind FROM ledger_entries WHERE account = ${account.row.number} ORDER BY seq`;
  expect(rows.map((row) => row.kind)).toEqual(["credit", "credit", "charge"]);
  const log = await world.database
    .sql`SELECT * FROM request_log WHERE account = ${account.row.number}`;
  expect(log.length).toBe(1);
  expect(log[0]?.cost).toBe(5_500_000_000n);
});

test("a call that may cost more than the balance is refused and changes nothing", async () => {
  const account = await openAccount(world, { paid: "10" });
  expect(await verdict(account, usd("15.000000001"))).toBe("insufficient_credits");
  expect(await verdict(account, usd("15"))).toBe("admitted");
});
