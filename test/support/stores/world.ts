// Opens the environment for tests of money: real Redis, real Postgres, actors and workers.

import type {
  Asking,
  AskingCall,
  CallMetadata,
  CallTerms,
  Hold,
  Outcome,
} from "../../../actors/account.ts";
import { AccountActors, type AccountActorsDeps } from "../../../actors/account-actors.ts";
import type { Wallet } from "../../../actors/records/records.ts";
import type { RedisClient, ScriptTime } from "../../../actors/scripts/script.ts";
import type { AdministrationDeps } from "../../../src/accounts/administration.ts";
import { BUCKETS } from "../../../src/core/access/limits.ts";
import { newId } from "../../../src/core/ids.ts";
import { type NanoUsd, nano, usd } from "../../../src/core/money/money.ts";
import { secretId } from "../../../src/core/secrets.ts";
import { Accounts } from "../../../src/store/accounts/accounts.ts";
import { KeyDirectory } from "../../../src/store/accounts/key-directory.ts";
import { WalletRepository } from "../../../src/store/accounts/wallet-repository.ts";
import { Ledger } from "../../../src/store/ledger/ledger.ts";
import { Payments } from "../../../src/store/payments/payments.ts";
import { type Database, openDatabase } from "../../../src/store/servers/database.ts";
import { openRedis } from "../../../src/store/servers/redis.ts";
import { flushJournal } from "../../../workers/log-flush.ts";
import { silent } from "../fakes/silent-log.ts";
import { random } from "../random.ts";
import { type AccountTerms, createTestAccount, type TestAccount } from "./accounts.ts";
import { createTestDatabase, testRedisUrl } from "./services.ts";
import { holdIn, orErrorCode, verdictIn } from "./verdicts.ts";

/** The pepper of all API keys in worlds. */
export const WORLD_PEPPER = "test pepper of sixteen";

/** A key directory with a single pepper. */
export function keyDirectory(database: Database, pepper: string): KeyDirectory {
  const onNotMoved = (error: unknown) => {
    throw error;
  };
  const id = secretId("KEY_PEPPER", pepper);
  return new KeyDirectory({ database, now: Date.now, pepper: id, onNotMoved });
}

export interface WorldOptions {
  readonly redisUrl?: string;
  readonly databaseUrl?: string;
  readonly scriptTime?: () => ScriptTime;
  readonly now?: () => number;
}

export interface World extends AsyncDisposable {
  readonly redis: RedisClient;
  readonly redisUrl: string;
  readonly database: Database;
  readonly databaseUrl: string;
  readonly accounts: AccountActors;
  readonly store: Accounts;
  readonly payments: Payments;
  /** The actors of another process on the same connections, with parts that the test brings. */
  process(parts?: Partial<AccountActorsDeps>): AccountActors;
  flush(): Promise<number>;
}

/** Opens the stores: a new database unless one is given, and a Redis that is emptied. */
export async function openWorld(options: WorldOptions = {}): Promise<World> {
  const own = options.databaseUrl === undefined ? await createTestDatabase() : null;
  const databaseUrl = options.databaseUrl ?? own?.url ?? "";
  const database = openDatabase(databaseUrl);
  const redisUrl = options.redisUrl ?? (await testRedisUrl());
  const redis = openRedis(redisUrl);
  // Each process of a world listens for the event that a client reached a new server.
  redis.setMaxListeners(0);
  await emptied(redis);
  const actorDeps = {
    redis,
    repository: new WalletRepository(database),
    now: options.now ?? Date.now,
    log: silent,
    ...(options.scriptTime === undefined ? {} : { scriptTime: options.scriptTime }),
  };
  const process = (parts: Partial<AccountActorsDeps> = {}) =>
    new AccountActors({ ...actorDeps, processId: newId("process", random), ...parts });
  const accounts = process();
  const ledger = new Ledger(database);
  const store = new Accounts({ database, random, keyPepper: WORLD_PEPPER });
  return {
    redis,
    redisUrl,
    database,
    databaseUrl,
    accounts,
    store,
    payments: new Payments({ database, random }),
    process,
    flush: () =>
      flushJournal({
        scripts: accounts.scripts,
        ledger,
        log: silent,
        keepMs: 60_000,
        rebuild: (buckets) => accounts.rebuild(buckets),
        onFork: () => {},
      }),
    [Symbol.asyncDispose]: async () => {
      redis.disconnect();
      await database.close();
      await own?.drop();
    },
  };
}

async function emptied(redis: RedisClient): Promise<void> {
  const servers = "nodes" in redis ? await mastersOf(redis) : [redis];
  await Promise.all(servers.map((server) => server.flushall()));
}

async function mastersOf(redis: Extract<RedisClient, { nodes: unknown }>) {
  await redis.ping();
  return redis.nodes("master");
}

/** A new account, of which Redis learns when it is first used. */
export async function openAccount(world: World, terms: AccountTerms = {}): Promise<TestAccount> {
  const { store: accounts, payments } = world;
  const account = await createTestAccount({ accounts, payments }, terms);
  const { id, bucket } = account;
  usedBuckets(world).add(bucket);
  return { ...account, actor: world.accounts.of(id, bucket) };
}

/**
 * An account in a bucket that no account had before, for tests that damage or count data that all
 * accounts of a bucket share: its journal, its refusals, the holds of a process.
 */
export async function openAccountAlone(world: World, terms?: AccountTerms): Promise<TestAccount> {
  for (;;) {
    const used = new Set(usedBuckets(world));
    if (used.size === BUCKETS) throw new Error("Every bucket has an account: open another world");
    const account = await openAccount(world, terms);
    if (!used.has(account.row.bucket)) return account;
  }
}

/** The account as another process of the same stores serves it. */
export function accountIn(accounts: AccountActors, account: TestAccount): TestAccount {
  return { ...account, actor: accounts.of(account.row.id, account.row.bucket) };
}

const bucketsByWorld = new WeakMap<World, Set<number>>();

/** The buckets in which this world has accounts. */
function usedBuckets(world: World): Set<number> {
  const used = bucketsByWorld.get(world) ?? new Set();
  bucketsByWorld.set(world, used);
  return used;
}

/** The metadata of a call of which a test says nothing else. */
export const ASKED = {
  endpoint: "/v1/chat/completions",
  service: "models",
  model: "m",
  country: "DE",
  ipHash: "0011223344556677",
  priceVersion: "v1",
} as const satisfies CallMetadata;

/** The parts of a call and of its terms that a test sets. */
export interface Asked extends Partial<Omit<AskingCall, "identity">>, Partial<CallTerms> {}

/** An attempt of this key to be admitted. */
export function ask(keyId: string, bound: NanoUsd, more: Asked = {}): Asking {
  const { requestId = newId("request", random), clientIp = "127.0.0.1", ...others } = more;
  const { endpoint = ASKED.endpoint, run = null, endUser = null, markers = null, ...rest } = others;
  const { country = ASKED.country, ipHash = ASKED.ipHash, ahead = null, ...asked } = rest;
  const { partOf, askedModel, ...terms } = asked;
  const { service, model, priceVersion } = ASKED;
  const identity = { keyId };
  const facts = { requestId, identity, endpoint, clientIp, country, ipHash };
  return {
    call: { ...facts, run, endUser, markers, partOf, askedModel, ahead },
    terms: { scope: service, service, model, priceVersion, ...FREE, bound, ...terms },
    elapsedMs: 1,
  };
}

const FREE = { freeEligible: true, stream: false } as const;

export const DONE: Outcome = {
  status: 200,
  errorCode: null,
  latencyMs: 12,
  firstTokenMs: null,
  promptTokens: 3,
  cachedTokens: 0,
  completionTokens: 4,
  requests: 1,
};

/** A key of an account, in a process. */
type Caller = Pick<TestAccount, "actor" | "keyId">;

/** Admits a call that must be admitted. */
export async function hold(account: Caller, bound: NanoUsd, more: Asked = {}): Promise<Hold> {
  return holdIn(await account.actor.admit(ask(account.keyId, bound, more)));
}

/** The number of calls that every account may have open at once. */
const FEW = 8;

/** Makes calls in parallel, but never more at once than every account may have open. */
export async function fewAtOnce<Item, Result>(
  items: readonly Item[],
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const left = items.values();
  const takeTurns = async () => {
    for (const item of left) results.push(await run(item));
  };
  await Promise.all(Array.from({ length: FEW }, takeTurns));
  return results;
}

/** The code of a refused admission, "short", or "admitted", in which case the hold is released. */
export async function verdict(account: Caller, bound: NanoUsd, more: Asked = {}): Promise<string> {
  const decision = await account.actor.admit(ask(account.keyId, bound, more));
  if (decision.verdict === "admitted") await decision.hold.release(DONE);
  return verdictIn(decision);
}

/** As `verdict`; also the code of an error with which the call fails before a decision. */
export function verdictOrError(...call: Parameters<typeof verdict>): Promise<string> {
  return orErrorCode(verdict(...call));
}

/** The parts of an administration of this world, on the clock of a test. */
export function administrationOf(
  { store, payments, accounts: actors }: World,
  now: () => number = Date.now,
): AdministrationDeps {
  return { accounts: store, payments, actors, now, onDelayed: () => {} };
}

/** Books a payment and its credit without applying it to Redis. */
export async function pay(
  { payments }: World,
  { row }: TestAccount,
  amount: NanoUsd,
  paidAt = new Date(),
): Promise<string> {
  const { id } = await payments.record(row, { amount, paidAt });
  return id;
}

/** The available paid and free balances, and the sum of the held amounts. */
export async function balances(account: TestAccount) {
  const { paid, free, heldPaid, heldFree } = await walletOf(account);
  return { paid, free, held: nano(heldPaid + heldFree) };
}

/** The wallet in Redis, which is hydrated first if it is missing. */
export async function walletOf({ actor }: TestAccount): Promise<Wallet> {
  return (await actor.state()).wallet;
}

/** True if a statement in the world's database waits for a lock. */
export async function isAnyLockAwaited({ database }: World): Promise<boolean> {
  const [row] = await database.sql`
    SELECT count(*)::int AS waiting FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  return Number(row?.waiting) > 0;
}

export { nano, usd };
