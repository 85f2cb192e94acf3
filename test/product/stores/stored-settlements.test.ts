// Tests settlements that Redis does not take: Postgres keeps them, and the first process that
// delivers them charges, exactly once.

import { expect, test } from "bun:test";
import type { Hold } from "../../../actors/account.ts";
import { deliverStored } from "../../../actors/waiting-settlement.ts";
import { WalletRepository } from "../../../src/store/accounts/wallet-repository.ts";
import { WaitingSettlements } from "../../../src/store/ledger/waiting-settlements.ts";
import { deliverAndSweep, deliverSettlements, sweepExpired } from "../../../workers/sweep.ts";
import { eventually } from "../../support/eventually.ts";
import {
  type ActorProcess,
  Gate,
  openProcess,
  tapScripts,
} from "../../support/product/actor-process.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { found } from "../../support/stores/audit-lab.ts";
import { expectSound, logOf } from "../../support/stores/ledger-checks.ts";
import { startPrivateRedis } from "../../support/stores/services.ts";
import {
  accountIn,
  balances,
  DONE,
  hold,
  openAccount,
  openWorld,
  usd,
  type World,
} from "../../support/stores/world.ts";

const NONE = usd("0");

const world = await shared(openWorld());

function settlementsOf({ accounts, database }: Pick<World, "accounts" | "database">) {
  return { accounts, scripts: accounts.scripts, waiting: new WaitingSettlements(database) };
}

async function countRows({ database }: World): Promise<number> {
  const [row] = await database.sql`SELECT count(*)::int AS rows FROM waiting_settlements`;
  return row?.rows;
}

/** Lets the lease of a process in the account's bucket run out. */
async function endLease(of: World, { actor }: TestAccount, owner: string): Promise<void> {
  await of.redis.hset(actor.keys.leases, owner, Date.now() - 1);
}

async function expectCharged(of: World, account: TestAccount, total: string): Promise<void> {
  const left = usd("15") - usd(total);
  const { paid, free, held } = await balances(account);
  expect([paid + free, held]).toEqual([left, NONE]);
  await expectSound(of, account);
  expect(await found(of, account)).toBe("");
}

/** A process of the operating system that has taken three holds. */
async function spawnProcess(of: World, { row, keyId }: TestAccount) {
  const script = `${import.meta.dir}/settling-process.ts`;
  const args = [of.redisUrl, of.databaseUrl, row.id, String(row.bucket), keyId];
  const child = Bun.spawn([process.execPath, script, ...args], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  expect((await lines.read()).value).toBe("held\n");
  return {
    endCalls: async () => {
      child.stdin.write("go\n");
      await child.stdin.flush();
      return (await lines.read()).value;
    },
    kill9: async () => {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

for (const isLeaseOver of [false, true]) {
  const when = isLeaseOver ? "after its lease" : "before its lease ends";
  test(`calls that ended without Redis cost their amount, after a kill -9: ${when}`, async () => {
    await using store = await startPrivateRedis();
    await using own = await openWorld({ redisUrl: store.url });
    own.redis.on("error", () => {});
    const account = await openAccount(own, { paid: "10" });
    const other = await spawnProcess(own, account);
    const [owner = ""] = await own.redis.hkeys(account.actor.keys.leases);
    await store.kill9();
    expect(await other.endCalls()).toBe("1250000000 1500000000 0\n");
    await other.kill9();
    expect(await countRows(own)).toBe(3);
    await store.start();
    await eventually("Redis answers", () =>
      own.redis.ping().then(
        () => true,
        () => false,
      ),
    );
    if (isLeaseOver) await endLease(own, account, owner);
    await deliverAndSweep(settlementsOf(own));
    await expectCharged(own, account, "2.75");
    await endLease(own, account, owner);
    await deliverAndSweep(settlementsOf(own));
    await expectCharged(own, account, "2.75");
    expect(await countRows(own)).toBe(0);
    expect(await own.redis.hlen(account.actor.keys.leases)).toBe(0);
    const rows = (await logOf(own, account)).map(({ cost, status }) => [cost, status]);
    const ok = [usd("1.25"), usd("1.5")].map((cost) => [cost, 200]);
    expect(rows.toSorted(([a = 0], [b = 0]) => Number(a) - Number(b))).toEqual([
      [NONE, 502],
      ...ok,
    ]);
  });
}

interface Cut extends AsyncDisposable {
  readonly process: ActorProcess;
  /** True if no script of this process reaches Redis. */
  isAway: boolean;
}

/** A process whose connection to Redis can be cut. */
function cutProcess(repository?: WalletRepository): Cut {
  const process = openProcess(world, repository && { repository: () => repository });
  const close = () => process[Symbol.asyncDispose]();
  const cut = { process, isAway: false, [Symbol.asyncDispose]: close };
  tapScripts(process.redis, async (send) => {
    if (cut.isAway) throw new Error("Connection is closed.");
    return await send();
  });
  return cut;
}

/** A stream of $2 in a process, with $0.75 stored. */
async function openStream({ process }: Cut, account: TestAccount): Promise<Hold> {
  const stream = await hold(accountIn(process.accounts, account), usd("2"), { stream: true });
  stream.checkpoint(usd("0.75"));
  await process.accounts.leases.saveCosts();
  return stream;
}

const isEnded = ({ process }: Cut) => process.accounts.openCalls === 0;

test("a worker that delivers first charges once, and the process gets its reply", async () => {
  await using cut = cutProcess();
  const account = await openAccount(world, { paid: "10" });
  const hold = await openStream(cut, account);
  cut.isAway = true;
  expect(await hold.settle(usd("1.5"), DONE)).toMatchObject({ charged: usd("1.5"), left: null });
  expect(await deliverSettlements(settlementsOf(world))).toBe(1);
  await expectCharged(world, account, "1.5");
  cut.isAway = false;
  await eventually("the process delivers too", () => isEnded(cut));
  await expectCharged(world, account, "1.5");
});

test("a process that delivers first leaves nothing to the worker", async () => {
  await using cut = cutProcess();
  const account = await openAccount(world, { paid: "10" });
  const hold = await openStream(cut, account);
  cut.isAway = true;
  await hold.release({ ...DONE, status: 502 });
  expect(await countRows(world)).toBe(1);
  cut.isAway = false;
  await eventually("the process delivers", () => isEnded(cut));
  expect(await deliverSettlements(settlementsOf(world))).toBe(0);
  await expectCharged(world, account, "0");
});

test("a worker that stands still while it delivers charges nothing again", async () => {
  await using cut = cutProcess();
  const account = await openAccount(world, { paid: "10" });
  const hold = await openStream(cut, account);
  cut.isAway = true;
  await hold.settle(usd("1.5"), DONE);
  const gate = new Gate();
  const delivering = settlementsOf(world).waiting.deliver(async (settlement) => {
    await gate.pass();
    return await deliverStored(account.actor, settlement);
  });
  await gate.reached;
  // Another worker finds nothing to deliver meanwhile.
  expect(await deliverSettlements(settlementsOf(world))).toBe(0);
  cut.isAway = false;
  await eventually(
    "the process delivers",
    async () => (await balances(account)).held === NONE,
    5_000,
  );
  await cut.process.accounts.renewLeases();
  expect(isEnded(cut)).toBe(false);
  gate.open();
  expect(await delivering).toMatchObject({ delivered: 1, failures: [] });
  await eventually("the process has removed the row", () => isEnded(cut));
  await expectCharged(world, account, "1.5");
});

for (const cost of ["1.5", "0"]) {
  test(`a sweep without Postgres does not change that a call costs ${cost}`, async () => {
    await using cut = cutProcess();
    const account = await openAccount(world, { paid: "10" });
    const hold = await openStream(cut, account);
    cut.isAway = true;
    await hold.settle(usd(cost), DONE);
    await endLease(world, account, cut.process.accounts.leases.owner);
    await sweepExpired({ scripts: world.accounts.scripts });
    await expectCharged(world, account, "0.75");
    expect(await deliverSettlements(settlementsOf(world))).toBe(1);
    await expectCharged(world, account, cost);
    cut.isAway = false;
    await eventually("the process delivers too", () => isEnded(cut));
    await expectCharged(world, account, cost);
  });
}

class LostSettlements extends WaitingSettlements {
  isLost = true;

  override keep(...settlement: Parameters<WaitingSettlements["keep"]>): Promise<void> {
    if (this.isLost) throw new Error("connect ECONNREFUSED");
    return super.keep(...settlement);
  }
}

class LostBook extends WalletRepository {
  override readonly waiting = new LostSettlements(this.database);
}

test("without both stores the checkpoint counts, and the cost when Postgres is back", async () => {
  const repository = new LostBook(world.database);
  await using cut = cutProcess(repository);
  const account = await openAccount(world, { paid: "10" });
  const hold = await openStream(cut, account);
  cut.isAway = true;
  expect(await hold.settle(usd("1.5"), DONE)).toMatchObject({ charged: usd("1.5") });
  expect(await countRows(world)).toBe(0);
  await endLease(world, account, cut.process.accounts.leases.owner);
  await deliverAndSweep(settlementsOf(world));
  await expectCharged(world, account, "0.75");
  repository.waiting.isLost = false;
  await eventually(
    "Postgres keeps the settlement",
    async () => (await countRows(world)) === 1,
    5_000,
  );
  await deliverAndSweep(settlementsOf(world));
  await expectCharged(world, account, "1.5");
});

test("a settlement that cannot be delivered keeps no other one waiting", async () => {
  await using cut = cutProcess();
  const [account, other] = [await openAccount(world), await openAccount(world, { paid: "10" })];
  const [bad, good] = [await openStream(cut, account), await openStream(cut, other)];
  cut.isAway = true;
  await Promise.all([bad.settle(usd("1"), DONE), good.settle(usd("1"), DONE)]);
  await world.database.sql`
    UPDATE waiting_settlements SET hold = 'no JSON' WHERE account = ${account.row.number}`;
  const failing = deliverAndSweep(settlementsOf(world));
  await expect(failing).rejects.toThrow("1 stored settlements could not be delivered");
  await expectCharged(world, other, "1");
  expect(await countRows(world)).toBe(1);
  await world.database.sql`DELETE FROM waiting_settlements`;
});

test("many stored settlements are delivered in pages", async () => {
  await using cut = cutProcess();
  const accounts = await Promise.all(
    Array.from({ length: 60 }, () => openAccount(world, { paid: "10" })),
  );
  const holds = [];
  for (const account of accounts) {
    for (let calls = 0; calls < 4; calls++) holds.push(await openStream(cut, account));
  }
  cut.isAway = true;
  await Promise.all(holds.map((hold) => hold.settle(usd("1.5"), DONE)));
  expect(await deliverSettlements(settlementsOf(world))).toBe(240);
  expect(await countRows(world)).toBe(0);
  for (const account of accounts) await expectCharged(world, account, "6");
});
