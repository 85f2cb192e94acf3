import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { bucketKeys } from "../../actors/keys.ts";
import { audit } from "../../src/accounts/audit.ts";
import { sweepExpired } from "../../workers/sweep.ts";
import { eventLoopTurns } from "../support/eventually.ts";
import { ask, DONE, hold, openAccount, openWorld, usd, type World } from "../support/world.ts";
import {
  auditDeps,
  auditOne,
  busyAccount,
  charge,
  damageBook,
  found,
  foundAtOnce,
} from "./audit-lab.ts";
import { cliOf, jsonOf } from "./run-cli.ts";

// Each step is a process of its own.
setDefaultTimeout(30_000);

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

describe("a sound world", () => {
  test("a busy account is proven, with what it owns, spent and holds", async () => {
    const account = await busyAccount(world);
    const report = await auditOne(world, account);
    expect(report).toEqual({
      difference: null,
      accounts: 1,
      entries: 5,
      balance: usd("19.249999999"),
      credited: usd("25"),
      charged: usd("5.750000001"),
      expired: 0n,
      openHolds: 1,
      wallets: 1,
    });
  });

  test("entries that are only in the journal yet count", async () => {
    const account = await busyAccount(world);
    await charge(account, usd("3"));
    expect(await foundAtOnce(world, account)).toBe("");
  });

  test("an evicted wallet is no difference, nor is one of an older epoch", async () => {
    const evicted = await busyAccount(world, false);
    expect(await evicted.actor.evict(-1)).toBe(true);
    expect((await auditOne(world, evicted)).wallets).toBe(0);
    const rebuilt = await busyAccount(world);
    await world.accounts.rebuild(rebuilt.row.bucket);
    expect(await found(world, rebuilt)).toBe("");
    await charge(rebuilt, usd("1"));
    expect(await found(world, rebuilt)).toBe("");
  });

  test("expired free credit and swept holds are proven", async () => {
    const createdAt = new Date(Date.now() - 91 * 86_400_000);
    const account = await openAccount(world, { createdAt, paid: usd("5") });
    await account.actor.expireFree();
    const open = await hold(account, usd("2"), { stream: true });
    open.checkpoint(usd("0.5"));
    await account.actor.renewLeases();
    const { leases } = account.actor.keys;
    await world.redis.zadd(leases, Date.now() - 1, `${account.row.id}/${open.id}`);
    expect((await sweepExpired({ scripts: world.accounts.scripts })).expired).toBeGreaterThan(0);
    await open.settle(usd("1.5"), DONE);
    const report = await auditOne(world, account);
    expect(report).toMatchObject({ difference: null, balance: usd("3.5"), expired: usd("5") });
  });

  test("one look is enough while calls, settlements, payments and flushes go on", async () => {
    const account = await openAccount(world, { paid: usd("400"), paidAt: new Date(0) });
    await world.store.change(account.row, { contract: "enterprise" }, new Date());
    await account.actor.configure();
    await account.actor.applyCredits();
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
    const payer = (async () => {
      while (running) {
        await world.store.recordPayment(account.row, { amount: usd("1"), paidAt: new Date() });
        await account.actor.applyCredits();
        await eventLoopTurns(5);
      }
    })();
    const differences = new Set<string>();
    for (let look = 0; look < 25; look += 1) {
      // A credit may be applied between the two readings; it alone needs a second look.
      const words = await foundAtOnce(world, account);
      if (!words.includes("a credits row")) differences.add(words);
    }
    running = false;
    await Promise.all([...callers, flusher, payer]);
    expect([...differences]).toEqual([""]);
    expect((await auditOne(world, account)).entries).toBeGreaterThan(200);
    expect(await found(world, account)).toBe("");
  }, 30_000);
});

describe("damage in the ledger", () => {
  const kinds: readonly (readonly [name: string, sql: (a: number) => string, words: RegExp])[] = [
    [
      "a missing entry",
      (a) => `DELETE FROM ledger_entries WHERE account = ${a} AND seq = 3`,
      /ledger entry 3: the entries are numbered without gaps: expected 3, found 4/,
    ],
    [
      "a wrong paid balance",
      (a) =>
        `UPDATE ledger_entries SET paid_after = paid_after + 1 WHERE account = ${a} AND seq = 4`,
      /ledger entry 4: the paid balance after it: expected \$19\.25 \(.*\), found \$19\.250000001/,
    ],
    [
      "a wrong delta",
      (a) =>
        `UPDATE ledger_entries SET free_delta = free_delta - 1 WHERE account = ${a} AND seq = 3`,
      /ledger entry 3: the free balance after it/,
    ],
    [
      "a balance below zero",
      (a) => `UPDATE ledger_entries SET paid_delta = paid_delta - 30000000000,
        paid_after = paid_after - 30000000000 WHERE account = ${a} AND seq = 5`,
      /ledger entry 5: the paid balance after it: expected \$0 or more, found \$-10\.75/,
    ],
    [
      "a credit entry that is not its credit",
      (a) => `UPDATE credits SET amount = amount + 1 WHERE account = ${a} AND purse = 'free'`,
      /ledger entry 1: what credit 1 gives: expected \$0 paid and \$5\.000000001 free, found/,
    ],
    [
      "a credit that was never applied",
      (a) => `INSERT INTO credits (account, number, purse, amount, created_at)
        VALUES (${a}, 3, 'free', 7, now() - interval '1 minute')`,
      /credit 3 of \$0\.000000007: expected applied, found not applied after 6\d s/,
    ],
    [
      "a gap in the credits",
      (a) => `UPDATE credits SET number = 4 WHERE account = ${a} AND number = 2`,
      /credits are numbered without gaps: expected 2, found 4/,
    ],
    [
      "credits applied out of order",
      (a) => `UPDATE ledger_entries SET credit = 9 WHERE account = ${a} AND seq = 1`,
      /ledger entry 1: credits in order: expected credit 1, found credit 9/,
    ],
    [
      "an entry whose credit is gone",
      (a) => `UPDATE ledger_entries SET credit = 3 WHERE account = ${a} AND seq = 3`,
      /ledger entry 3: a charge applies no credit: expected none, found credit 3/,
    ],
    [
      "a charge that gives money",
      (a) => `UPDATE ledger_entries SET paid_delta = 5, paid_after = 20000000005
        WHERE account = ${a} AND seq = 3`,
      /ledger entry 3: a charge takes money/,
    ],
    [
      "a charge without a request",
      (a) => `UPDATE ledger_entries SET request = NULL WHERE account = ${a} AND seq = 3`,
      /ledger entry 3: the call charged: expected a request, found none/,
    ],
    [
      "a charge for another account's key",
      (a) => `UPDATE ledger_entries SET key = (SELECT min(number) FROM keys WHERE account <> ${a})
        WHERE account = ${a} AND seq = 3`,
      /ledger entry 3: the key charged: expected a key of this account, found none/,
    ],
    [
      "a charge in another month",
      (a) => `UPDATE ledger_entries SET month = 202001 WHERE account = ${a} AND seq = 3`,
      /ledger entry 3: the month charged: expected 20\d{4}, found 202001/,
    ],
    [
      "an expiry that came too soon",
      (a) => `UPDATE ledger_entries SET kind = 'free_expired', paid_delta = 0, free_delta = -1,
        request = NULL, key = NULL, month = NULL WHERE account = ${a} AND seq = 3`,
      /ledger entry 3: when free credit ended: expected .*Z or later/,
    ],
    [
      "a wrong sum of a month",
      (a) => `UPDATE month_spend SET spent = spent + 2 WHERE account = ${a}`,
      /month_spend of 20\d{4} and key_\w+: expected \$5\.750000001, found \$5\.750000003/,
    ],
    [
      "a missing sum of a month",
      (a) => `DELETE FROM month_spend WHERE account = ${a}`,
      /month_spend of 20\d{4} and key_\w+: expected \$5\.750000001, found \$0/,
    ],
    [
      "a logged cost that was not charged",
      (a) => `UPDATE request_log SET cost = cost + 1 WHERE account = ${a} AND cost = 0`,
      /the request log's cost of req_\w+: expected \$0 in 1 row, found \$0\.000000001 in 1 row/,
    ],
    [
      "a logged cost that is not the charge",
      (a) => `UPDATE request_log SET cost = cost - 1 WHERE account = ${a} AND cost > 1000000000`,
      /ledger entry 3: the request log's cost of req_\w+: .*\$4\.5 in 1 row, found \$4\.4999/,
    ],
    [
      "a charge that was not logged",
      (a) => `DELETE FROM request_log WHERE account = ${a} AND cost = 4500000000`,
      /ledger entry 3: the request log's cost of req_\w+: expected \$4\.5 in 1 row, found no row/,
    ],
    [
      "a call logged twice",
      (a) => `INSERT INTO request_log SELECT at + interval '1 ms', account, key, request, 0,
        latency_ms, first_token_ms, prompt_tokens, cached_tokens, completion_tokens, requests,
        status, endpoint, service, model, error_code, country, ip_hash
        FROM request_log WHERE account = ${a} AND cost = 4500000000`,
      /the request log's cost of req_\w+: expected \$4\.5 in 1 row, found \$4\.5 in 2 row/,
    ],
    [
      "a payment that is not its credit",
      (a) => `UPDATE payments SET amount = amount - 1 WHERE account = ${a}`,
      /what credit 2 gives for payment pay_\w+: expected \$19\.999999999, found \$20/,
    ],
    [
      "a payment without a credit",
      (a) => `INSERT INTO payments (id, account, amount, paid_at)
        VALUES ('pay_lost${a}', ${a}, 9, now())`,
      /the credit of payment pay_lost\d+: expected \$0\.000000009, found none/,
    ],
    [
      "a paid credit that nobody paid",
      (a) => `UPDATE credits SET payment = NULL WHERE account = ${a} AND purse = 'paid'`,
      /the payment of credit 2: expected one of this account, found \$20 that nobody paid/,
    ],
  ];

  test.each(kinds.map((kind) => [...kind]))("%s is named", async (_, sql, words) => {
    const account = await busyAccount(world);
    expect(await found(world, account)).toBe("");
    await damageBook(world, account, sql as (a: number) => string);
    expect(await found(world, account)).toMatch(words as RegExp);
    expect(await found(world, account)).toStartWith(account.row.id);
  });
});

describe("damage in Redis", () => {
  type Damage = (account: Awaited<ReturnType<typeof busyAccount>>) => Promise<unknown>;
  const wallet = (field: string, by: number): Damage => {
    return ({ actor }) => world.redis.hincrby(actor.keys.wallet, field, by);
  };
  const month = () => new Date().toISOString().slice(0, 7).replace("-", "");
  const kinds: readonly (readonly [name: string, damage: Damage, words: RegExp])[] = [
    [
      "a paid balance",
      wallet("paid", 1),
      /'paid' in Redis .*: expected \$17\.2\d+, found \$17\.25/,
    ],
    ["a free balance", wallet("free", 5), /'free' in Redis .*: expected \$0, found \$0\.000000005/],
    [
      "a paid hold sum",
      wallet("held_paid", -1),
      /'held_paid' .*: expected \$2, found \$1\.999999999/,
    ],
    [
      "a free hold sum",
      wallet("held_free", 1),
      /'held_free' .*: expected \$0, found \$0\.000000001/,
    ],
    ["an open stream too many", wallet("streams", 1), /'streams' in Redis .*: expected 1, found 2/],
    ["a ledger number", wallet("seq", 1), /'seq' in Redis .*: expected 5, found 6/],
    ["a credit number", wallet("credits", 1), /'credits' in Redis .*: expected 2, found 3/],
    ["an expiry", wallet("free_expires", 1), /'free_expires' in Redis/],
    ["a month's spending", (a) => wallet(`s${month()}`, 1)(a), /'s\d{6}' in Redis \(spent in that/],
    [
      "a key's spending",
      (a) => wallet(`s${month()}:${a.keyId}`, -1)(a),
      /'s\d{6}:key_\w+' in Redis \(spent in that month\): expected \$5\.750000001, found \$5\.75$/,
    ],
    [
      "a month's spending that is gone",
      ({ actor }) => world.redis.hdel(actor.keys.wallet, `s${month()}`),
      /'s\d{6}' in Redis \(spent in that month\): expected \$5\.750000001, found \$0/,
    ],
    [
      "a month's holds",
      (a) => wallet(`h${month()}`, 1)(a),
      /'h\d{6}' in Redis \(held in that month/,
    ],
    ["the holds of a past month", wallet("h202001", 7), /'h202001' in Redis .*expected \$0/],
    [
      "a text that is no amount",
      ({ actor }) => world.redis.hset(actor.keys.wallet, "paid", "1e+14"),
      /'paid' in Redis .*found '1e\+14'/,
    ],
    [
      "a hold without a lease",
      ({ actor, row }) => removeLeases(actor.keys.leases, row.id),
      /the lease of the hold of req_\w+: expected one, found none/,
    ],
    [
      "a lease without a hold",
      ({ actor, row }) => world.redis.zadd(actor.keys.leases, Date.now(), `${row.id}/req_ghost`),
      /the hold of the lease of req_ghost: expected one, found none/,
    ],
    [
      "a hold long past its lease",
      async ({ actor, row }) => {
        const [id] = await world.redis.hkeys(actor.keys.holds);
        await world.redis.zadd(actor.keys.leases, Date.now() - 151_000, `${row.id}/${id}`);
      },
      /the hold of req_\w+: expected at most 150 s past its lease, found 151 s/,
    ],
    [
      "a hold that cannot be read",
      async ({ actor }) => {
        const [id = ""] = await world.redis.hkeys(actor.keys.holds);
        await world.redis.hset(actor.keys.holds, id, "nonsense");
      },
      /the hold of req_\w+: expected a readable record/,
    ],
    [
      "holds without a wallet",
      ({ actor }) => world.redis.del(actor.keys.wallet),
      /open holds without a wallet: expected none, found 1/,
    ],
    [
      "an access document that Redis was given and has not",
      ({ actor }) => world.redis.hset(actor.keys.wallet, "version", 1),
      /the version of the access document in Redis: expected \d or later, found 1/,
    ],
    [
      "an access document with another text",
      async ({ actor }) => {
        const document = await world.redis.hget(actor.keys.wallet, "document");
        const changed = (document ?? "").replace('"models"', '"mail"');
        await world.redis.hset(actor.keys.wallet, "document", changed);
      },
      /the access document in Redis \(version \d\)/,
    ],
  ];

  test.each(kinds.map((kind) => [...kind]))("%s is named", async (_, damage, words) => {
    const account = await busyAccount(world);
    expect(await found(world, account)).toBe("");
    await (damage as Damage)(account);
    expect(await found(world, account)).toMatch(words as RegExp);
    await world.redis.del(account.actor.keys.wallet, account.actor.keys.holds);
    await removeLeases(account.actor.keys.leases, account.row.id);
  });

  test("a journal entry that is gone is named", async () => {
    const account = await busyAccount(world);
    await charge(account, usd("0.5"));
    await charge(account, usd("0.25"));
    const { journal } = account.actor.keys;
    const [first] = await world.redis.xrevrange(journal, "+", "-", "COUNT", 2);
    if (first === undefined) throw new Error("The journal is empty");
    await world.redis.xdel(journal, first[0]);
    expect(await foundAtOnce(world, account)).toMatch(
      /bucket \d+: the last journal entry: expected \d+, found \d+/,
    );
    await world.accounts.rebuild(account.row.bucket);
    expect(await found(world, account)).toBe("");
  });

  test("a bucket that is older than the ledger, or of another epoch, is named", async () => {
    const account = await busyAccount(world);
    const { meta } = bucketKeys(account.row.bucket);
    await world.redis.hincrby(meta, "entry", -1);
    expect(await found(world, account)).toMatch(/the last journal entry in Redis: expected \d+ or/);
    await world.redis.hincrby(meta, "entry", 1);
    await world.redis.hincrby(meta, "epoch", 1);
    expect(await found(world, account)).toMatch(/the epoch in Redis: expected \d+, found \d+/);
    await world.redis.hdel(meta, "epoch");
    expect(await found(world, account)).toMatch(/the epoch in Redis: expected \d+, found none/);
    await world.accounts.rebuild(account.row.bucket);
    expect(await found(world, account)).toBe("");
  });
});

describe("the command", () => {
  test("`audit` sums up a sound world and exits 0; a difference exits 1 and is told", async () => {
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
      accounts: 3,
      balance_usd: 57.749999997,
    });
    const [first, second] = accounts;
    if (first === undefined || second === undefined) throw new Error("There are too few accounts");
    await fresh.redis.hincrby(second.actor.keys.wallet, "paid", 1);
    const one = await cli("audit", first.row.id, "--json");
    expect(jsonOf(one)).toMatchObject({ id: first.row.id, ok: true, accounts: 1 });
    const told = await cli("audit");
    expect(told).toMatchObject({ code: 1, out: "" });
    expect(told.err).toStartWith(`AuditFinding: ${second.row.id}: 'paid' in Redis`);
    const json = await cli("audit", "--json");
    expect(json.code).toBe(1);
    expect(JSON.parse(json.out)).toMatchObject({
      ok: false,
      difference: { account: second.row.id, seq: null },
    });
  }, 30_000);

  test("rows of the ledger that belong to no account are found by an audit of all", async () => {
    await using fresh = await openWorld();
    const account = await busyAccount(fresh);
    await damageBook(
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

async function removeLeases(leases: string, account: string): Promise<void> {
  const members = await world.redis.zrange(leases, "0", "-1");
  const own = members.filter((member) => member.startsWith(`${account}/`));
  if (own.length > 0) await world.redis.zrem(leases, ...own);
}
