// A home of the first layout (commit db86232) starts with this release: nothing is lost.

import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import type { AccountActor } from "../../actors/account-actor.ts";
import { AccountActors } from "../../actors/account-actors.ts";
import { settleDetached, termsOfText } from "../../actors/detached-hold.ts";
import { type FirstLayoutDeps, upgradeFirstLayout } from "../../actors/first-layout.ts";
import { keyStateKey, limitKey } from "../../actors/keys.ts";
import { parseKeyState } from "../../actors/records.ts";
import { unpack } from "../../actors/script.ts";
import { changeAccount } from "../../src/accounts/administration.ts";
import { type AuditReport, audit } from "../../src/accounts/audit.ts";
import { describe as inWords } from "../../src/core/audit-finding.ts";
import { newId } from "../../src/core/ids.ts";
import { Accounts } from "../../src/store/accounts.ts";
import { AuditRepository } from "../../src/store/audit.ts";
import { UpgradeRequired } from "../../src/store/first-layout.ts";
import { Ledger } from "../../src/store/ledger.ts";
import { Payments } from "../../src/store/payments.ts";
import { fillUsage } from "../../src/store/usage-repair.ts";
import { WalletRepository } from "../../src/store/wallet-repository.ts";
import { flushJournal } from "../../workers/log-flush.ts";
import { sweepExpired } from "../../workers/sweep.ts";
import { eventLoopTurns, eventually } from "../support/eventually.ts";
import { Program } from "../support/program.ts";
import { random } from "../support/random.ts";
import { silent } from "../support/silent-log.ts";
import { DONE, nano } from "../support/world.ts";
import {
  EXPECTED,
  type ExpectedAccount,
  expectedAccount,
  type FixtureHome,
  type Outcome,
  openFixture,
  readOutcome,
} from "./fixture.ts";

const CLI = join(import.meta.dir, "../../src/cli/main.ts");
const LABELS = Object.keys(EXPECTED.accounts);

function actorsOf({ redis, database }: FixtureHome): AccountActors {
  return new AccountActors({
    redis,
    repository: new WalletRepository(database),
    now: Date.now,
    log: silent,
    processId: newId("process", random),
  });
}

function actorOf(actors: AccountActors, label: string): AccountActor {
  const { id, bucket } = expectedAccount(label);
  return actors.of(id, bucket);
}

/** What `farebox migrate` does after the schema. */
async function upgrade(home: FixtureHome, deps: FirstLayoutDeps = home.deps()) {
  const report = await upgradeFirstLayout(deps);
  await fillUsage(home.database);
  return report;
}

async function flush({ database }: FixtureHome, actors: AccountActors): Promise<void> {
  await flushJournal({
    scripts: actors.scripts,
    ledger: new Ledger(database),
    log: silent,
    keepMs: 0,
    rebuild: (buckets) => actors.rebuild(buckets),
    onFork: (bucket) => {
      throw new Error(`The journal of bucket ${bucket} contradicts the ledger`);
    },
  });
}

/** Builds every wallet, which applies what Postgres has and Redis was never given. */
async function touchAll(home: FixtureHome, actors: AccountActors): Promise<void> {
  for (const label of LABELS) await actorOf(actors, label).applyOperations();
  await flush(home, actors);
}

async function auditHome(home: FixtureHome, actors: AccountActors): Promise<AuditReport> {
  const report = await audit(
    {
      redis: home.redis,
      repository: new AuditRepository(home.database),
      graceMs: 30_000,
      flush: async () => {
        await flush(home, actors);
        return [];
      },
      sleep: () => eventLoopTurns(10),
    },
    null,
  );
  expect(report.difference === null ? "" : inWords(report.difference)).toBe("");
  expect(report.rejected).toEqual([]);
  return report;
}

/** What the workers of db86232 made of it, but for the message that they settled meanwhile. */
function expectedOutcome(label: string, account: ExpectedAccount): Outcome {
  const { owned, seq, charged, expired, creditsApplied, logRows, loggedRequests, loggedCost } =
    account.afterWorkers.soon;
  const plain = { owned, seq, charged, expired, creditsApplied, logRows, loggedRequests };
  const held = { paid: "0", free: "0" };
  if (label !== "gateway-build") return { ...plain, held, loggedCost };
  const unsettled = 1_500_000n;
  return {
    ...plain,
    held,
    owned: { ...owned, paid: String(BigInt(owned.paid) + unsettled) },
    seq: seq - 1,
    charged: String(BigInt(charged) - unsettled),
    logRows: logRows - 1,
    loggedRequests: loggedRequests - 1,
    loggedCost: String(BigInt(loggedCost) - unsettled),
  };
}

/** Every account, exactly, and what Redis and the audit say of it. */
async function expectNothingLost(home: FixtureHome): Promise<AccountActors> {
  const actors = actorsOf(home);
  await touchAll(home, actors);
  for (const [label, account] of Object.entries(EXPECTED.accounts)) {
    const outcome = await readOutcome(home, account);
    expect({ label, ...outcome }).toEqual({ label, ...expectedOutcome(label, account) });
    const { wallet } = await actorOf(actors, label).state();
    const mail = label === "gateway-build" ? 5_500_000n : 0n;
    expect({
      label,
      owned: [wallet.paid + wallet.heldPaid, wallet.free + wallet.heldFree].map(String),
      held: [wallet.heldPaid, wallet.heldFree],
      calls: [wallet.calls, wallet.streams],
    }).toEqual({
      label,
      owned: [outcome.owned.paid, outcome.owned.free],
      held: [nano(mail), nano(0n)],
      calls: [0, 0],
    });
  }
  // No mail hold is due yet, however late the workers come.
  expect((await sweepExpired({ scripts: actors.scripts })).expired).toBe(0);
  const { accounts, openHolds } = await auditHome(home, actors);
  expect({ accounts, openHolds }).toEqual({ accounts: LABELS.length, openHolds: 3 });
  expect(home.warnings).toEqual([]);
  return actors;
}

describe.each([{ kept: true }, { kept: false }])("a home of the first layout, %o", ({ kept }) => {
  test("keeps every balance, charge, log row and hold of waiting mail", async () => {
    await using home = await openFixture({ kept });
    const report = await upgrade(home);
    expect(report).toMatchObject({ buckets: 64, mailHolds: 3 });
    await expectNothingLost(home);
    const left = await home.redis.keys("{b*}:*");
    const old = left.filter((name) => /:(meta|first-layout|journal|wallet|window)\b/.test(name));
    expect(old).toEqual([]);
    expect(left.filter((name) => name.includes(":holds:"))).toEqual(["{b12}:holds:mail"]);
    expect(await upgrade(home)).toMatchObject({ buckets: 0 });
  });
});

describe("the step from the first layout", () => {
  test("killed at any point and started again ends the same", async () => {
    await using home = await openFixture({ kept: true });
    let kills = 0;
    // Each run gets a little further than the one before.
    for (let allowed = 1; ; allowed += 1 + Math.floor(allowed / 6)) {
      try {
        await upgrade(home, mortal(home.deps(), allowed));
        break;
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
        kills += 1;
      }
    }
    expect(kills).toBeGreaterThan(20);
    await expectNothingLost(home);
  });

  test("takes over what was counted in time, to the last request", async () => {
    await using home = await openFixture({ kept: true });
    const { redis } = home;
    const windows = await Promise.all(
      (await redis.keys("{b*}:window:*")).map(
        async (name) => [name, await redis.hgetall(name)] as const,
      ),
    );
    expect(windows.length).toBeGreaterThan(10);
    await upgrade(home);
    const build = expectedAccount("gateway-build");
    const place = { bucket: build.bucket, account: build.id };
    const day = await redis.getBuffer(limitKey(place, "recipients"));
    expect(unpack(day ?? Buffer.alloc(0))).toEqual([20_778, 6]);
    const minute = await redis.getBuffer(limitKey(place, "messages"));
    const second = Math.floor(EXPECTED.takenAtMs / 1000);
    expect(unpack((minute ?? Buffer.alloc(0)).subarray(0, 24))).toEqual([second, second, 2]);
    expect(await redis.pttl(limitKey(place, "recipients"))).toBeGreaterThan(0);
    for (const [name, before] of windows) {
      const [bucket, keyId = ""] = name.slice(2).split("}:window:");
      const state = await redis.getBuffer(keyStateKey(Number(bucket), keyId));
      const { window } = parseKeyState(state ?? Buffer.alloc(0));
      const inSlots = window.counts.reduce((sum, count) => sum + count, 0);
      const { total, last } = before;
      expect({ name, counts: [window.total, inSlots, window.lastSecond] }).toEqual({
        name,
        counts: [total, total, last].map(Number),
      });
    }
  });

  test("leaves out a hold of nothing, which no admission takes and no wallet shows", async () => {
    await using home = await openFixture({ kept: true });
    const { redis } = home;
    const { id, bucket } = expectedAccount("gateway-build");
    const [holds, wallet] = [`{b${bucket}}:holds:${id}`, `{b${bucket}}:wallet:${id}`];
    const mail = await home.deps().firstLayout.unsettledMail();
    const [request = ""] = (await redis.hkeys(holds)).filter((held) => mail.has(held));
    const [paid = "", free = "", ...others] = String(await redis.hget(holds, request)).split(" ");
    await redis.hset(holds, request, ["0", "0", ...others].join(" "));
    for (const [balance, amount] of Object.entries({ paid, free })) {
      await redis.hincrby(wallet, balance, Number(amount));
      await redis.hincrby(wallet, `held_${balance}`, 0 - Number(amount));
    }
    expect(await upgrade(home)).toMatchObject({ mailHolds: 2 });
    expect(home.warnings).toEqual([]);
    expect(await redis.hexists(`{b${bucket}}:holds:mail`, request)).toBe(0);
    const actors = actorsOf(home);
    await touchAll(home, actors);
    expect(await auditHome(home, actors)).toMatchObject({ openHolds: 2 });
  });

  test("lets an owner that comes back settle what was swept before", async () => {
    await using home = await openFixture({ kept: true });
    await upgrade(home);
    const actors = actorsOf(home);
    const [terms] = Object.values(EXPECTED.ownersAway).map((away) => away.terms);
    const actor = actorOf(actors, "gateway-starter");
    const cost = nano(150_000_000n);
    const ending = { cost, outcome: DONE };
    const settled = await settleDetached(actor, termsOfText(JSON.stringify(terms)), ending);
    expect(settled.charged).toBe(cost);
    await touchAll(home, actors);
    const account = expectedAccount("gateway-starter");
    const { charged } = await readOutcome(home, account);
    expect(charged).toBe(String(BigInt(account.afterWorkers.soon.charged) + 50_000_000n));
    await auditHome(home, actors);
  });

  test("leaves an account that owed a payment suspended until an operator resumes it", async () => {
    await using home = await openFixture({ kept: false });
    await upgrade(home);
    const actors = actorsOf(home);
    const { database } = home;
    const accounts = new Accounts({ database, random, keyPepper: EXPECTED.secrets.keyPepper });
    const payments = new Payments({ database, random });
    const { id } = expectedAccount("gateway-owing");
    expect((await accounts.find(id))?.state).toBe("suspended");
    const deps = { accounts, payments, actors, now: Date.now, onDelayed: () => {} };
    await changeAccount(deps, id, { kind: "resume" });
    expect((await accounts.find(id))?.state).toBe("active");
  });
});

describe("before the step", () => {
  test("no process serves from such a home, nor sets its buckets up", async () => {
    await using home = await openFixture({ kept: true });
    const state = actorOf(actorsOf(home), "plan-pro").state();
    const error = await state.catch((reason: Error) => reason);
    expect(error).toMatchObject({ code: "service_unavailable" });
    expect((error as Error).cause).toBeInstanceOf(UpgradeRequired);
    expect(await home.redis.keys("{b*}:bucket")).toEqual([]);
  });

  test.each(["src/main.ts", "workers/main.ts"])("%s does not start, and says why", async (file) => {
    await using home = await openFixture({ kept: true });
    const program = new Program({
      name: "p",
      file,
      env: await envOf(home),
      logFile: logFile(home),
    });
    await expect(program.start()).rejects.toThrow("run `farebox migrate`");
  });
});

describe("waiting mail", () => {
  test("is sent and charged by the workers of this release", async () => {
    await using home = await openFixture({ kept: true });
    await home.database.sql`
      UPDATE mail_messages SET created_at = now(), next_attempt_at = now()
      WHERE status = 'queued'`;
    const environment = await envOf(home);
    const migrated = spawnSync(process.execPath, [CLI, "migrate", "--finish", "--json"], {
      env: { PATH: process.env.PATH, ...environment },
      encoding: "utf8",
    });
    expect(migrated.stderr).toBe("");
    expect(JSON.parse(migrated.stdout)).toMatchObject({ buckets_rebuilt: 64, mail_holds_kept: 3 });
    for (const [name, key] of Object.entries(EXPECTED.mail.contentKeys)) {
      expect((await home.redis.getBuffer(name))?.toString("base64")).toBe(key);
    }
    const file = "workers/main.ts";
    const worker = new Program({ name: "w", file, env: environment, logFile: logFile(home) });
    await worker.start();
    const costs = await settledCosts(home);
    await worker.stop();
    expect(costs).toEqual([0n, 1_500_000n, 1_500_000n, 1_500_000n, 2_500_000n]);
    const actors = actorsOf(home);
    await touchAll(home, actors);
    expect((await auditHome(home, actors)).openHolds).toBe(0);
  });
});

/** The costs of all messages once none is open. */
async function settledCosts({ database }: FixtureHome): Promise<bigint[]> {
  await eventually(
    "every message is settled",
    async () => {
      const open = await database.sql`SELECT 1 FROM mail_messages WHERE settled_at IS NULL`;
      return open.length === 0;
    },
    30_000,
  );
  const rows = await database.sql`SELECT cost FROM mail_messages ORDER BY cost`;
  return rows.map((row) => BigInt(row.cost));
}

async function envOf(home: FixtureHome): Promise<Record<string, string>> {
  const { redis, redisUrl, databaseUrl, folder } = home;
  // The programs refuse a Redis that could lose money.
  if (!("nodes" in redis)) await redis.config("SET", "appendfsync", "always");
  const { keyPepper, ipHashSecret, mailDomain } = EXPECTED.secrets;
  return {
    REDIS_URL: redisUrl,
    DATABASE_URL: databaseUrl,
    KEY_PEPPER: keyPepper,
    IP_HASH_SECRET: ipHashSecret,
    MAIL_DOMAIN: mailDomain,
    FAREBOX_HOME: folder,
    METRICS_PORT: "0",
    PORT: "0",
  };
}

function logFile({ folder }: FixtureHome): string {
  return `${folder}/logs/program.log`;
}

/** The process is gone: what it had asked of a store is done, what comes after is not. */
class Killed extends Error {
  override readonly name = "Killed";
}

/** The same stores for a process that dies after so many steps. */
function mortal(deps: FirstLayoutDeps, allowed: number): FirstLayoutDeps {
  let steps = 0;
  const step = () => {
    steps += 1;
    if (steps > allowed) throw new Killed();
  };
  const watched = <Of extends object>(target: Of): Of =>
    new Proxy(target, {
      get(of, name) {
        const value: unknown = Reflect.get(of, name);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          step();
          const result: unknown = value.apply(of, args);
          // Committed, but nobody heard of it.
          return result instanceof Promise ? result.then(heard) : result;
        };
      },
    });
  const heard = <Value>(value: Value): Value => {
    step();
    return value;
  };
  const { redis, firstLayout, repository, ledger, warn } = deps;
  return {
    redis: watched(redis),
    firstLayout: watched(firstLayout),
    repository: watched(repository),
    ledger: watched(ledger),
    warn,
  };
}
