import { describe, expect, test } from "bun:test";
import { audit } from "../../../src/accounts/audit.ts";
import { describe as inWords } from "../../../src/core/journal/audit-finding.ts";
import { repairUsage } from "../../../src/store/usage/usage-repair.ts";
import { sweepExpired } from "../../../workers/sweep.ts";
import { cliOf, jsonOf } from "../../support/product/run-cli.ts";
import { shared } from "../../support/shared.ts";
import {
  addToRecord,
  auditDeps,
  auditOne,
  busyAccount,
  busyAccountAlone,
  charge,
  damageLedger,
  found,
  foundAtOnce,
  owingAccount,
  WALLET_PAID,
} from "../../support/stores/audit-lab.ts";
import { ask, DONE, hold, openAccount, openWorld, usd } from "../../support/stores/world.ts";

const world = await shared(openWorld());

describe("a sound world", () => {
  test("a busy account is proven, with its balance, spending and holds", async () => {
    const account = await busyAccountAlone(world);
    const report = await auditOne(world, account);
    expect(report).toEqual({
      difference: null,
      differences: [],
      rejected: [],
      accounts: 1,
      entries: 5,
      balance: usd("19.249999999"),
      owed: 0n,
      credited: usd("25"),
      reversed: 0n,
      repaid: 0n,
      charged: usd("5.750000001"),
      expired: 0n,
      openHolds: 1,
      wallets: 1,
    });
  });

  test("entries that are only in the journal so far count", async () => {
    const account = await busyAccountAlone(world);
    await charge(account, usd("3"));
    expect(await foundAtOnce(world, account)).toBe("");
  });

  test("an evicted wallet is no difference, nor is one of an older epoch", async () => {
    const evicted = await busyAccount(world, false);
    expect(await evicted.actor.evict(-1)).toBe(true);
    expect((await auditOne(world, evicted)).wallets).toBe(0);
    const rebuilt = await busyAccountAlone(world);
    await world.accounts.rebuild([{ bucket: rebuilt.row.bucket }]);
    expect(await found(world, rebuilt)).toBe("");
    await charge(rebuilt, usd("1"));
    expect(await found(world, rebuilt)).toBe("");
  });

  test("a reversal, the debt it leaves, and all that pays or forgives it are proven", async () => {
    const account = await owingAccount(world);
    expect(await auditOne(world, account)).toMatchObject({
      difference: null,
      balance: usd("2"),
      owed: usd("2.750000001"),
      reversed: usd("17.249999999"),
      repaid: 0n,
    });
    const adjust = async (kind: "adjustment" | "forgiven", amount: string) => {
      const terms = { kind, amount: usd(amount), reason: "test", reference: null };
      await world.store.adjust(account.row, terms);
      await account.actor.applyOperations();
      return await auditOne(world, account);
    };
    const none = { difference: null };
    expect(await adjust("forgiven", "0.75")).toMatchObject({ ...none, owed: usd("2.000000001") });
    expect(await adjust("adjustment", "-1")).toMatchObject({ ...none, owed: usd("2.000000001") });
    expect(await adjust("adjustment", "0.5")).toMatchObject({
      ...none,
      owed: usd("1.500000001"),
      repaid: usd("0.5"),
    });
    const { leases } = world.accounts;
    await world.redis.hset(account.actor.keys.leases, leases.owner, Date.now() - 1);
    await sweepExpired({ scripts: world.accounts.scripts });
    expect(await auditOne(world, account)).toMatchObject({
      ...none,
      owed: 0n,
      repaid: usd("2.000000001"),
      balance: usd("0.499999999"),
      openHolds: 0,
    });
  });

  test("a rebuilt wallet pays its debt from the amounts of its lost holds", async () => {
    const account = await owingAccount(world);
    await world.flush();
    await world.accounts.rebuild([{ bucket: account.row.bucket }]);
    expect(await auditOne(world, account)).toMatchObject({
      difference: null,
      owed: usd("2.750000001"),
    });
    await account.actor.hydrate();
    expect(await auditOne(world, account)).toMatchObject({
      difference: null,
      owed: usd("0.750000001"),
      repaid: usd("2"),
      balance: 0n,
    });
  });

  test("disputes of several payments are proven at every step", async () => {
    const account = await busyAccountAlone(world);
    const terms = { actor: "stripe", reason: "dispute", reference: null };
    const second = await world.payments.record(account.row, {
      amount: usd("7"),
      bonus: usd("0.777777777"),
      paidAt: new Date(),
    });
    const [first] = await world.payments.list(account.row);
    if (first === undefined) throw new Error("There is no payment");
    for (const [id, dispute, disputed] of [
      [first.id, "open", "20"],
      [second.id, "open", "5"],
      [first.id, "won", "0"],
      [second.id, "lost", "5"],
      [first.id, "lost", "20"],
    ] as const) {
      await world.payments.change(id, {
        terms,
        decide: () => ({ dispute, disputed: usd(disputed) }),
      });
      expect(await foundAtOnce(world, account)).toBe("");
      await account.actor.applyOperations();
      await account.actor.configure();
      expect(await found(world, account)).toBe("");
    }
    expect((await auditOne(world, account)).owed).toBeGreaterThan(0n);
  });

  test("expired free credit and swept holds are proven", async () => {
    const createdAt = new Date(Date.now() - 91 * 86_400_000);
    const account = await openAccount(world, { createdAt, paid: "5" });
    await account.actor.expireFree(Date.now());
    const open = await hold(account, usd("2"), { stream: true });
    open.checkpoint(usd("0.5"));
    await world.accounts.renewLeases();
    const { leases } = world.accounts;
    await world.redis.hset(account.actor.keys.leases, leases.owner, Date.now() - 1);
    expect((await sweepExpired({ scripts: world.accounts.scripts })).expired).toBeGreaterThan(0);
    await open.settle(usd("1.5"), DONE);
    const report = await auditOne(world, account);
    expect(report).toMatchObject({ difference: null, balance: usd("3.5"), expired: usd("5") });
  });

  test("one look is enough while calls, settlements, payments and flushes go on", async () => {
    const account = await openAccount(world, { paid: "400", paidAt: new Date(0) });
    await world.store.change(account.row, { contract: "enterprise" }, new Date());
    await account.actor.configure();
    await account.actor.applyOperations();
    const pay = async () => {
      await world.payments.record(account.row, { amount: usd("1"), paidAt: new Date() });
      await account.actor.applyOperations();
    };
    let running = true;
    const callers = Array.from({ length: 8 }, async () => {
      for (let n = 0; running; n += 1) {
        const admission = await account.actor.admit(
          ask(account.keyId, usd("0.002"), { stream: n % 3 === 0 }),
        );
        if (admission.verdict === "admitted") {
          await admission.hold.settle(usd(n % 2 === 0 ? "0.0015" : "0"), DONE);
        }
      }
    });
    const flusher = (async () => {
      while (running) await world.flush();
    })();
    const differences = new Set<string>();
    try {
      for (let looks = 0; looks < 20; looks += 1) {
        const paying = pay();
        const words = await foundAtOnce(world, account);
        await paying;
        // The payment may be applied between the two readings; only then a second look is needed.
        const applied = words.includes("that it applies");
        differences.add(applied ? await foundAtOnce(world, account) : words);
      }
    } finally {
      running = false;
      await Promise.all([...callers, flusher]);
    }
    expect([...differences]).toEqual([""]);
    expect((await auditOne(world, account)).entries).toBeGreaterThan(200);
    expect(await found(world, account)).toBe("");
  });
});

describe("the command", () => {
  test("`audit` sums up a sound world and exits 0; a finding is named and exits 1", async () => {
    await using fresh = await openWorld();
    const accounts = [await busyAccount(fresh), await busyAccount(fresh), await busyAccount(fresh)];
    const cli = await cliOf(fresh);
    const clean = await cli("audit");
    expect(clean).toEqual({
      code: 0,
      out: "Clean: 3 accounts, 15 ledger entries, $57.749999997 in balances, 3 open holds.\n",
      err: "",
    });
    expect(jsonOf(await cli("audit", "--json"))).toMatchObject({
      id: null,
      ok: true,
      difference: null,
      rejected: [],
      accounts: 3,
      owed_usd: 0,
      balance_usd: 57.749999997,
    });
    const [first, second] = accounts;
    if (first === undefined || second === undefined) throw new Error("There are too few accounts");
    const { wallet } = second.actor.keys;
    await addToRecord(fresh, wallet, WALLET_PAID, 1);
    const one = await cli("audit", first.row.id, "--json");
    expect(jsonOf(one)).toMatchObject({ id: first.row.id, ok: true, accounts: 1 });
    const told = await cli("audit");
    expect(told).toMatchObject({ code: 1, out: "" });
    expect(told.err).toStartWith(
      `Difference: ${second.row.id}: the available paid balance in Redis`,
    );
    const json = await cli("audit", "--json");
    expect(json.code).toBe(1);
    expect(JSON.parse(json.out)).toMatchObject({
      ok: false,
      difference: { account: second.row.id, seq: null },
    });
  });

  test("a balance below zero in Redis suspends its account", async () => {
    await using fresh = await openWorld();
    const account = await busyAccount(fresh, false);
    await addToRecord(fresh, account.actor.keys.wallet, WALLET_PAID, -30e9);
    const cli = await cliOf(fresh);
    const { code, err } = await cli("audit", account.row.id);
    expect(code).toBe(1);
    expect(err).toContain("the available paid balance in Redis: expected $0 or more, found -$1");
    expect(await fresh.store.find(account.row.id)).toMatchObject({
      state: "suspended",
      stateReason: "negative_balance",
    });
  });

  test("a rejected entry is named, and the audit goes past the hole that it left", async () => {
    await using fresh = await openWorld();
    const [account, other] = [await busyAccount(fresh), await busyAccount(fresh)];
    const { id, bucket } = account.row;
    await damageLedger(
      fresh,
      account,
      (a) => `
        INSERT INTO rejected_entries (bucket, epoch, entry, account, seq, reason, content)
          VALUES (${bucket}, 1, 7, '${id}', 4, '22P02 bad value', '');
        DELETE FROM request_log WHERE account = ${a} AND cost = 1250000000;
        UPDATE month_spend SET spent = spent - 1250000000 WHERE account = ${a};
        DELETE FROM ledger_entries WHERE account = ${a} AND seq = 4`,
    );
    await repairUsage(fresh.database, id);
    const report = await auditOne(fresh, account);
    expect(report).toMatchObject({ difference: null, entries: 4, balance: usd("19.249999999") });
    expect(report.rejected.map(inWords)).toEqual([
      `${id}, bucket ${bucket}, ledger entry 4: journal entry 1-7: ` +
        "expected its rows in Postgres, found rejected: 22P02 bad value",
    ]);
    await fresh.redis.del(other.actor.keys.document);
    const cli = await cliOf(fresh);
    const { code, err } = await cli("audit");
    expect([code, err.split("\n").length]).toEqual([1, 3]);
    expect(err).toContain(`Difference: ${other.row.id}: the access document in Redis`);
    expect(err).toContain(`Rejected: ${id}, bucket ${bucket}, ledger entry 4`);
  });

  test("a log row that was refused is named, and its charge needs none", async () => {
    const account = await busyAccountAlone(world);
    const { id, bucket } = account.row;
    await damageLedger(
      world,
      account,
      (a) => `
        DELETE FROM request_log WHERE account = ${a} AND cost = 1250000000;
        INSERT INTO rejected_entries
          (bucket, epoch, entry, account, seq, reason, content, ledger_written)
          VALUES (${bucket}, 1, 900${a}, '${id}', 4, '23514', '', true)`,
    );
    await repairUsage(world.database, id);
    const report = await auditOne(world, account);
    expect(report).toMatchObject({ difference: null, entries: 5 });
    expect(report.rejected[0]).toMatchObject({ expected: "its row in the request log" });
  });

  test("rows of the ledger that belong to no account are found by an audit of all", async () => {
    await using fresh = await openWorld();
    const account = await busyAccount(fresh);
    await damageLedger(
      fresh,
      account,
      (a) =>
        `INSERT INTO month_spend (account, month, key, spent) VALUES (${a} + 999, 202601, 1, 1)`,
    );
    expect((await audit(auditDeps(fresh), null)).difference).toMatchObject({
      fact: "the account of the rows in month_spend",
    });
  });
});
