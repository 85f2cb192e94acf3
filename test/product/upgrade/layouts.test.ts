// Tests that a layout is raised while the service runs: until then release N and N+1 work side by
// side.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Hold } from "../../../actors/account.ts";
import { AccountActors } from "../../../actors/account-actors.ts";
import { announceProcess, checkLayouts, retractProcess } from "../../../actors/layout-upgrade.ts";
import { accountKeys, bucketKeys } from "../../../actors/records/keys.ts";
import { LAYOUT_MAX, LAYOUT_MIN, UnknownLayout } from "../../../actors/records/layouts.ts";
import type { ForcedRebuild } from "../../../actors/recovery.ts";
import type { ScriptTime } from "../../../actors/scripts/script.ts";
import { LEASE_MS } from "../../../src/core/access/limits.ts";
import { newId } from "../../../src/core/ids.ts";
import { describe as inWords } from "../../../src/core/journal/audit-finding.ts";
import { readyz } from "../../../src/http/health.ts";
import { WalletRepository } from "../../../src/store/accounts/wallet-repository.ts";
import { AuditRepository } from "../../../src/store/audit/audit.ts";
import { flushJournal } from "../../../workers/log-flush.ts";
import { eventLoopTurns } from "../../support/eventually.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { random } from "../../support/random.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import {
  accountIn,
  DONE,
  fewAtOnce,
  hold,
  openAccount,
  openWorld,
  usd,
  type World,
} from "../../support/stores/world.ts";
import { type NextBuild, openNextBuild } from "./next-build.ts";

const WALLET_BYTES = 160;

let next: NextBuild;
beforeAll(async () => {
  next = await openNextBuild();
});
afterAll(() => next[Symbol.dispose]());

let world: World;
let time: ScriptTime;
let logged: string[];
/** A process of release N, and one of N+1. */
let old: AccountActors;
let young: AccountActors;
beforeEach(async () => {
  world = await openWorld();
  time = 0;
  logged = [];
  old = new AccountActors(deps());
  young = new next.actors.AccountActors(deps());
});
afterEach(() => world[Symbol.asyncDispose]());

function deps() {
  return {
    redis: world.redis,
    repository: new WalletRepository(world.database),
    now: Date.now,
    log: {
      warn: () => {},
      error: ({ err }: { err?: unknown }, message: string) => {
        logged.push(`${message}: ${err instanceof Error ? err.message : ""}`);
      },
    },
    processId: newId("process", random),
    scriptTime: () => time,
  };
}

/** Makes calls of both releases at once, each of one cent; returns their total cost. */
async function callBoth(account: TestAccount, calls: number): Promise<bigint> {
  const cost = usd("0.01");
  const settle = async (hold: Hold) => (await hold.settle(cost, DONE)).charged;
  const releases = Array.from({ length: calls }, (_, index) => (index % 2 === 0 ? old : young));
  const charged = await fewAtOnce(releases, async (release) =>
    settle(await hold(accountIn(release, account), usd("0.02"))),
  );
  return charged.reduce<bigint>((sum, amount) => sum + amount, 0n);
}

async function walletBytes({ row }: TestAccount): Promise<Buffer> {
  const bytes = await world.redis.getBuffer(accountKeys(row.id, row.bucket).wallet);
  return bytes ?? Buffer.alloc(0);
}

async function ledgerPaid({ row }: TestAccount): Promise<bigint> {
  const [last] = await world.database.sql`
    SELECT paid_after + free_after AS owned FROM ledger_entries
    WHERE account = ${row.number} ORDER BY seq DESC LIMIT 1`;
  return BigInt(last?.owned ?? -1);
}

function flushDeps(actors: AccountActors) {
  return {
    scripts: actors.scripts,
    ledger: new next.ledger.Ledger(world.database),
    log: silent,
    keepMs: 60_000,
    rebuild: (buckets: readonly ForcedRebuild[]) => actors.rebuild(buckets),
    onFork: (bucket: number) => {
      throw new Error(`The journal of bucket ${bucket} contradicts the ledger`);
    },
  };
}

async function expectClean(): Promise<void> {
  const flush = async () => {
    await next.flush.flushJournal(flushDeps(young));
    return [];
  };
  const { difference } = await next.audit.audit(
    {
      redis: world.redis,
      repository: new AuditRepository(world.database),
      graceMs: 0,
      scriptTime: () => time,
      flush,
      sleep: () => eventLoopTurns(10),
    },
    null,
  );
  expect(difference === null ? "" : inWords(difference)).toBe("");
}

describe("two builds that differ in layout", () => {
  test("work on the same wallets while the older layout is in force", async () => {
    const account = await openAccount(world, { paid: "20" });
    const charged = await callBoth(account, 40);
    expect(charged).toBe(usd("0.4"));
    expect(await walletBytes(account)).toHaveLength(WALLET_BYTES);
    await flushJournal(flushDeps(old));
    expect(await ledgerPaid(account)).toBe(usd("24.6"));
    await expectClean();
  });

  test("the newer layout waits for the last process of the older release", async () => {
    const account = await openAccount(world, { paid: "20" });
    await callBoth(account, 2);
    await announceProcess(world.redis, old.deps.processId);
    await next.layouts.announceProcess(world.redis, young.deps.processId);
    const early = next.layouts.raiseLayouts(world.redis);
    await expect(early).rejects.toThrow(`1 processes do not know layout 3: ${old.deps.processId}`);
    await retractProcess(world.redis, old.deps.processId);
    expect(await next.layouts.raiseLayouts(world.redis)).toBeGreaterThan(0);
    expect(await next.layouts.raiseLayouts(world.redis)).toBe(0);
    // Idle wallets have the new layout too.
    const bytes = await walletBytes(account);
    expect([bytes.length, bytes.readDoubleLE(0)]).toEqual([WALLET_BYTES + 8, 3]);
    await expectClean();
  });

  test("once it is in force, N refuses in words and nothing is lost", async () => {
    const account = await openAccount(world, { paid: "20" });
    await callBoth(account, 10);
    // An unknown process with an open call that has streamed seven cents' worth.
    const left = await hold(accountIn(old, account), usd("1"), { stream: true });
    left.checkpoint(usd("0.07"));
    await old.renewLeases();
    await next.layouts.raiseLayouts(world.redis);

    const refused = await hold(accountIn(old, account), usd("0.02")).catch(
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({
      code: "service_unavailable",
      cause: { message: expect.stringContaining("layout 3, and this release knows only 2") },
    });
    expect(logged).toEqual([expect.stringContaining("Calls are refused: Redis is in layout 3")]);

    // N+1 goes on in the new layout, even with data that N had written.
    const cost = usd("0.03");
    expect(
      (await (await hold(accountIn(young, account), usd("1"))).settle(cost, DONE)).charged,
    ).toBe(cost);
    const bytes = await walletBytes(account);
    expect([bytes.length, bytes.readDoubleLE(0)]).toEqual([WALLET_BYTES + 8, 3]);

    // N moves nothing, rejects nothing, rebuilds nothing.
    await expect(flushJournal(flushDeps(old))).rejects.toThrow("could not be flushed");
    const rejected = await world.database.sql`SELECT 1 FROM rejected_entries`;
    const cursors = await world.database.sql`SELECT 1 FROM journal_cursors WHERE entry > 0`;
    expect([rejected.length, cursors.length]).toEqual([0, 0]);
    await old.rebuild([{ bucket: account.row.bucket === 0 ? 1 : 0 }]);
    expect((await walletBytes(account)).readDoubleLE(0)).toBe(3);

    // The call that N had open is settled to its checkpoint, by N+1, once N no longer renews it.
    time = Date.now() + 2 * LEASE_MS;
    await next.sweep.sweepExpired({ scripts: young.scripts, scriptTime: () => time });
    await expectClean();
    expect(await ledgerPaid(account)).toBe(usd("24.8"));
  });

  test("/readyz of a process that does not know the layout reports it", async () => {
    const clock = { after: () => () => {} };
    await callBoth(await openAccount(world, { paid: "20" }), 2);
    const versions = () => ({ configuration: 0, documents: 0 });
    const deps = { checks: { layout: () => checkLayouts(world.redis) }, versions, clock };
    const request = new Request("http://127.0.0.1/readyz");
    const ask = () => readyz.answer(deps, { request, server: null });
    expect((await ask()).status).toBe(200);
    await next.layouts.raiseLayouts(world.redis);
    const answer = await ask();
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({
      checks: { layout: expect.stringContaining("this release knows only 2") },
    });
  });
});

test("the scripts and the program know the same layouts", () => {
  const lua = readFileSync(join(import.meta.dir, "../../../actors/lua/shared/records.lua"), "utf8");
  expect(lua).toContain(`local LAYOUT_MIN, LAYOUT_MAX = ${LAYOUT_MIN}, ${LAYOUT_MAX}\n`);
});

test("a bucket that Redis loses is set up in the layout that both releases know", async () => {
  await callBoth(await openAccount(world, { paid: "20" }), 2);
  await next.layouts.raiseLayouts(world.redis);
  await world.redis.del(bucketKeys(5).bucket);
  await young.scripts.prepare();
  expect((await next.layouts.layoutsInForce(world.redis))[5]).toBe(LAYOUT_MIN);
  await expect(checkLayouts(world.redis)).rejects.toBeInstanceOf(UnknownLayout);
});
