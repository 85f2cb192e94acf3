// Tests an operation that Redis can never apply: audit, doctor and the log name it, and an operator
// sets it aside and books it again; no other operation waits for it.

import { expect, test } from "bun:test";
import { applyChangesNow } from "../../../actors/changed-account.ts";
import { AMOUNT_MAX, nano } from "../../../src/core/money/money.ts";
import { setOperationAside } from "../../../src/store/ledger/set-aside.ts";
import { isRefusedByScript } from "../../../src/store/servers/redis-errors.ts";
import { completeChanges } from "../../../workers/completer.ts";
import { cliOf, jsonOf } from "../../support/product/run-cli.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { busyAccountAlone, damageLedger, found } from "../../support/stores/audit-lab.ts";
import {
  DONE,
  hold,
  openAccountAlone,
  openWorld,
  usd,
  walletOf,
} from "../../support/stores/world.ts";

const world = await shared(openWorld());
const cli = await cliOf(world);
const TERMS = { actor: "operator", reason: "test", reference: null };
const LARGEST = "9007199.254740991";

/** An account whose last operation was booked although its balance is full, a minute ago. */
async function stuckAccount(free = "0"): Promise<TestAccount> {
  const account = await openAccountAlone(world, { free });
  const amount = nano(AMOUNT_MAX - usd(free));
  await world.payments.record(account.row, { amount, paidAt: new Date() });
  await account.actor.applyOperations();
  await account.actor.configure();
  await world.flush();
  const [number, credit] = [free === "0" ? 2 : 3, usd(free) + usd("0.5")];
  await world.database.sql`
    INSERT INTO operations (account, number, kind, balance, amount, created_at, expires_at)
    VALUES (${account.row.number}, ${number}, 'credit', 'free', ${credit},
      now() - interval '1 minute', now() + interval '30 days')`;
  return account;
}

test("free credit that does not fit beside the balance is refused whole", async () => {
  const account = await openAccountAlone(world, { free: "0" });
  jsonOf(await cli("payment", "record", account.id, "--usd", LARGEST, "--json"));
  const refused = await cli("grant", "free", account.id);
  expect(refused.code).toBe(1);
  expect(refused.err).toContain("larger than Redis can count exactly");
  const [payment] = await world.payments.list(account.row);
  const refund = await cli("payment", "refund", payment?.id ?? "", "--json");
  expect(jsonOf(refund).applied).toBe(true);
  expect((await walletOf(account)).paid).toBe(nano(0n));
  await world.flush();
  expect(await found(world, account)).toBe("");
});

test("a refusal of Redis is distinguished from a Redis that is away", async () => {
  const account = await stuckAccount();
  const adjusted = await cli(
    "account",
    "adjust",
    account.id,
    "--usd",
    "-1",
    "--reason",
    "test",
    "--json",
  );
  expect(jsonOf(adjusted).applied).toBe(false);
  expect(adjusted.err).toContain("Redis refuses it and never can take it");
  expect(adjusted.err).not.toContain("does not answer");
  const errors: unknown[] = [];
  await applyChangesNow(
    () => account.actor,
    (error) => errors.push(error),
  );
  expect(errors.map(isRefusedByScript)).toEqual([true]);
});

test("doctor, the list, the audit and the worker's log name it", async () => {
  const account = await stuckAccount();
  const open = jsonOf(await cli("operation", "open", "--json")).open as { account: string }[];
  expect(open).toContainEqual(
    expect.objectContaining({ account: account.id, operation: 2, set_aside: false }),
  );
  expect(await found(world, account)).toMatch(/operation 2 \(credit, \$0\.5\): expected applied/);
  const lines: string[] = [];
  await completeChanges({
    pendingWork: {
      unapplied: async () => [account],
      withExpiredFreeCredit: async () => [],
    } as never,
    accounts: world.accounts,
    log: { error: (_, message) => lines.push(message) },
    now: async () => Date.now(),
    graceMs: 0,
  });
  expect(lines).toEqual(["Redis can never apply an operation: set it aside"]);
  const doctor = JSON.parse((await (await cliOf(world))("doctor", "--json")).out) as {
    findings: { check: string; text: string }[];
  };
  const texts = doctor.findings.filter(({ check }) => check === "operations");
  expect(texts.map(({ text }) => text).join("\n")).toContain(`operation 2 of ${account.id}`);
});

test("set aside it changes nothing, later ones are applied, and it is booked again", async () => {
  const account = await stuckAccount();
  const refusedFirst = await cli("operation", "set-aside", account.id, "1", "--reason", "x");
  expect([refusedFirst.code, refusedFirst.err]).toEqual([
    1,
    expect.stringContaining("refuses operation 2, not 1"),
  ]);
  const [payment] = await world.payments.list(account.row);
  await cli("payment", "refund", payment?.id ?? "", "--usd", "1");
  expect((await walletOf(account)).paid).toBe(AMOUNT_MAX);
  const aside = await cli(
    "operation",
    "set-aside",
    account.id,
    "2",
    "--reason",
    "no room",
    "--json",
  );
  expect(jsonOf(aside)).toMatchObject({ operation: 2, applied: true });
  expect((await walletOf(account)).paid).toBe(nano(AMOUNT_MAX - usd("1")));
  expect((await walletOf(account)).free).toBe(usd("0"));
  await world.flush();
  expect(await found(world, account)).toMatch(
    /operation 2 \(credit\), which is set aside: expected booked again/,
  );
  const again = await cli("operation", "book-again", account.id, "2", "--json");
  expect(jsonOf(again)).toMatchObject({ booked_as: 4, amount_usd: 0.5, applied: true });
  const wallet = await walletOf(account);
  expect(wallet.free).toBe(usd("0.5"));
  expect(wallet.freeEnds.lastMs).toBeGreaterThan(Date.now());
  await world.flush();
  expect(await found(world, account)).toBe("");
  expect((await cli("operation", "book-again", account.id, "2")).code).toBe(1);
  expect((await cli("operation", "set-aside", account.id, "4", "--reason", "x")).code).toBe(1);
  // A rebuilt wallet skips the operation too.
  await world.accounts.rebuild([{ bucket: account.row.bucket }]);
  expect((await walletOf(account)).free).toBe(usd("0.5"));
  expect(await found(world, account)).toBe("");
});

for (const [what, spent, amount] of [
  ["what an empty balance cannot give is owed", "5", "-5"],
  ["a part of it is owed", "3", "-5"],
  ["the balance gives all of it", "0", "-5"],
  ["it adds to the balance", "0", "5"],
] as const) {
  test(`an operation applied while it was set aside is not booked again: ${what}`, async () => {
    const account = await openAccountAlone(world, { free: "0" });
    const paid = { amount: usd("10"), paidAt: new Date() };
    const { id } = await world.payments.record(account.row, paid);
    await world.payments.change(id, { terms: TERMS, decide: () => ({ refunded: usd("5") }) });
    await account.actor.applyOperations();
    await account.actor.configure();
    await (await hold(account, usd("5"))).settle(usd(spent), DONE);
    await world.flush();
    // The process read the operation before it was set aside.
    const change = { refunded: amount === "5" ? usd("0") : usd("10") };
    await world.payments.change(id, { terms: TERMS, decide: () => change });
    await account.actor.applyOperations();
    const operation = { account: account.row.number, number: 3, reason: "no room" };
    expect(await setOperationAside(world.database, operation)).toBe(true);
    await world.flush();
    expect((await cli("operation", "book-again", account.id, "3")).code).toBe(1);
    const { owed, paid: left } = await walletOf(account);
    expect(left - owed).toBe(usd("5") - usd(spent) + (amount === "5" ? usd("5") : -usd("5")));
    expect(await found(world, account)).toBe("");
  });
}

/** Sets the last operation of an account aside before Redis has it, as if it were refused. */
async function setLastAside({ row }: TestAccount): Promise<number> {
  const [last] = await world.database.sql`
    UPDATE operations SET set_aside_at = now(), set_aside_reason = 'test'
    WHERE account = ${row.number}
      AND number = (SELECT max(number) FROM operations WHERE account = ${row.number})
    RETURNING number`;
  return last?.number;
}

for (const [what, first] of [
  ["account adjust", (id: string) => ["account", "adjust", id, "--usd", "-1", "--reason", "r"]],
  ["account forgive", (id: string) => ["account", "forgive", id, "--usd", "1", "--reason", "r"]],
  ["payment record", (id: string) => ["payment", "record", id, "--usd", "3"]],
  ["payment refund", (_: string, payment: string) => ["payment", "refund", payment, "--usd", "1"]],
] as const) {
  test(`a repeat of ${what} says that its operation is set aside`, async () => {
    const account = await openAccountAlone(world, { free: "0", paid: "10" });
    const [payment] = await world.payments.list(account.row);
    const words = first(account.id, payment?.id ?? "");
    const repeat = () => cli(...words, "--id", "once-aside");
    expect((await repeat()).code).toBe(0);
    expect((await repeat()).code).toBe(0);
    const number = await setLastAside(account);
    const refused = await repeat();
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringContaining(
        `Operation ${number} was booked with this reference and is set aside`,
      ),
    ]);
    await world.database.sql`
      UPDATE operations SET replaced_by = 99
      WHERE account = ${account.row.number} AND number = ${number}`;
    expect((await repeat()).code).toBe(0);
  });
}

test("free credit that ended while it was set aside does not come back beside newer", async () => {
  const account = await stuckAccount("5");
  await cli("operation", "set-aside", account.id, "3", "--reason", "no room");
  await world.database.sql`
    UPDATE operations SET expires_at = now() - interval '1 second'
    WHERE account = ${account.row.number} AND number = 3`;
  const [payment] = await world.payments.list(account.row);
  await cli("payment", "refund", payment?.id ?? "", "--usd", "1");
  const before = await walletOf(account);
  const again = jsonOf(await cli("operation", "book-again", account.id, "3", "--json"));
  expect(again).toMatchObject({ booked_as: null, applied: true });
  const { free, freeEnds } = await walletOf(account);
  expect([free, freeEnds]).toEqual([usd("5"), before.freeEnds]);
  await world.flush();
  expect(await found(world, account)).toBe("");
  expect((await cli("operation", "book-again", account.id, "3")).code).toBe(1);
});

test("booked again only when there is room", async () => {
  const account = await stuckAccount();
  await cli("operation", "set-aside", account.id, "2", "--reason", "no room");
  const refused = await cli("operation", "book-again", account.id, "2");
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("larger than Redis")]);
});

test("a finding about one account does not end the audit of the others", async () => {
  const accounts = [await busyAccountAlone(world), await busyAccountAlone(world)];
  for (const account of accounts) {
    await damageLedger(
      world,
      account,
      (number) => `UPDATE ledger_entries SET owed_after = 1 WHERE account = ${number} AND seq = 4`,
    );
  }
  const { code, out } = await cli("audit", "--json");
  expect(code).toBe(1);
  const { differences } = JSON.parse(out) as { differences: { account: string }[] };
  const named = differences.map(({ account }) => account);
  for (const { id } of accounts) expect(named).toContain(id);
});
