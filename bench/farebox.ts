// Starts Farebox as in production: two processes and two stores, used only by this run, with paid
// accounts whose limits the load does not reach.

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AccountActors } from "../actors/account-actors.ts";
import { readJournal } from "../actors/journal.ts";
import { makeHome } from "../scripts/local/home.mjs";
import { startPostgres } from "../scripts/local/postgres.mjs";
import { startRedis, startRedisCluster } from "../scripts/local/redis.mjs";
import {
  changeAccount,
  changeBudget,
  createAccount,
  createKey,
  findAccount,
} from "../src/accounts/administration.ts";
import { changeEndUserBudget } from "../src/accounts/end-users.ts";
import { recordPayment } from "../src/accounts/payments.ts";
import type { Span, StandingSpan } from "../src/core/access/budgets.ts";
import { bucketOf, newId } from "../src/core/ids.ts";
import { usd } from "../src/core/money/money.ts";
import { Accounts, type NewKey } from "../src/store/accounts/accounts.ts";
import { WalletRepository } from "../src/store/accounts/wallet-repository.ts";
import { Ledger } from "../src/store/ledger/ledger.ts";
import { Payments } from "../src/store/payments/payments.ts";
import { type Database, openDatabase } from "../src/store/servers/database.ts";
import { migrate } from "../src/store/servers/migrate.ts";
import { openRedis } from "../src/store/servers/redis.ts";
import { BUN, freePort, PROJECT, type Program, startServer } from "./launch.ts";
import { MODEL_SUFFIXES } from "./load/requests.ts";
import type { Started, TargetSetting } from "./targets.ts";

/** An enterprise account may have 400 streams, and each of its keys 10,000 calls a minute. */
const ACCOUNTS = 8;
const KEYS_AN_ACCOUNT = 12;
const PAYMENT = usd("20000");
const PLACES = /^places-.*\.sqlite$/;
const BUILT_WITHIN_MS = 60_000;

export const SECRETS = { KEY_PEPPER: "benchmark pepper", IP_HASH_SECRET: "benchmark secret" };

export interface Caller {
  readonly accountId: string;
  readonly bucket: number;
  readonly keyId: string;
  readonly secret: string;
}

/** The addresses of the stores, and the folder for files. */
export interface StoreUrls {
  readonly home: string;
  /** The addresses that the processes of Farebox use. */
  readonly redisUrl: string;
  readonly databaseUrl: string;
}

/** One Redis, or a Cluster of three masters. */
export type RedisKind = "single" | "cluster";

export interface Stores extends StoreUrls {
  /** The same Redis by its port, for programs that cannot use sockets. */
  readonly redisPortUrl: string;
  /** The processes of Redis by name: `redis`, or `redis-0` to `redis-2`. */
  readonly redisPids: Readonly<Record<string, number>>;
  readonly postgresPid: number;
  readonly database: Database;
  readonly actors: AccountActors;
  readonly ledger: Ledger;
  stop(): Promise<void>;
}

const notNoted = () => () => Promise.resolve();
const log = { info: () => {}, warn: console.error, error: console.error };
export const random = (count: number) => crypto.getRandomValues(new Uint8Array(count));

/** Starts Redis and Postgres with the durability and addresses of `npm start`. */
export async function startStores(home: string, kind: RedisKind = "single"): Promise<Stores> {
  makeHome(home);
  const redis = await startRedisOf(kind, home);
  const postgres = await startPostgres({ home });
  await migrate(postgres.url);
  const database = openDatabase(postgres.url);
  const client = openRedis(redis.url);
  const actors = new AccountActors({
    redis: client,
    repository: new WalletRepository(database),
    now: Date.now,
    log,
    processId: newId("process", random),
  });
  const stop = async () => {
    client.disconnect();
    await database.close();
    await Promise.all([redis.stop(), postgres.stop()]);
  };
  return {
    home,
    redisUrl: redis.url,
    redisPortUrl: redis.portUrl,
    databaseUrl: postgres.url,
    redisPids: redis.pids,
    postgresPid: postgres.child.record.pid,
    database,
    actors,
    ledger: new Ledger(database),
    stop,
  };
}

async function startRedisOf(kind: RedisKind, home: string) {
  if (kind === "single") {
    const { socketUrl, url: portUrl, child, stop } = await startRedis({ home });
    return { url: socketUrl ?? portUrl, portUrl, pids: { redis: child.record.pid }, stop };
  }
  const { urls, nodes, stop } = await startRedisCluster(home);
  const pids = nodes.map(({ child }, index) => [`redis-${index}`, child.record.pid] as const);
  const url = urls.join(",");
  return { url, portUrl: url, pids: Object.fromEntries(pids), stop };
}

export interface CallersShape {
  readonly accountCount?: number;
  readonly keysAnAccount?: number;
  /** Limits of each key. */
  readonly key?: Partial<NewKey>;
  /** The spans of each account's budgets, which the load does not reach. */
  readonly budgets?: readonly StandingSpan[];
  /** The spans of the budgets of its end users. */
  readonly endUsers?: readonly Span[];
}

/** Accounts with an enterprise contract and money, and their keys. */
export async function makeCallers(
  { database, actors }: Stores,
  {
    accountCount = ACCOUNTS,
    keysAnAccount = KEYS_AN_ACCOUNT,
    key,
    budgets = [],
    endUsers = [],
  }: CallersShape = {},
): Promise<Caller[]> {
  const accounts = new Accounts({ database, random, keyPepper: SECRETS.KEY_PEPPER });
  const onDelayed = (id: string, error: unknown) => log.error(id, error);
  const payments = new Payments({ database, random });
  const deps = { accounts, payments, actors, now: Date.now, onDelayed };
  const callers: Caller[] = [];
  for (let made = 0; made < accountCount; made += 1) {
    const { id } = await createAccount(deps, { surface: "gateway", email: null });
    await changeAccount(deps, id, { kind: "contract", contract: "enterprise" });
    await recordPayment(deps, id, { amount: PAYMENT, paidAt: new Date() });
    const account = await findAccount(deps, id);
    for (const span of budgets) {
      await changeBudget(deps, account, { key: null, span, amount: PAYMENT });
    }
    for (const span of endUsers) {
      const each = { endUser: null, key: null, span, amount: PAYMENT, note: notNoted };
      await changeEndUserBudget(deps, account, each);
    }
    for (let count = 0; count < keysAnAccount; count += 1) {
      const terms = {
        name: "bench",
        scopes: ["models", "search"],
        ipAllowlist: [],
        monthlyLimit: null,
        ...key,
      } as const;
      const { id: keyId, key: secret } = await createKey(deps, id, terms);
      callers.push({ accountId: id, bucket: bucketOf(id), keyId, secret });
    }
  }
  // Calls use the callers in turn, so two consecutive callers should have different accounts.
  const place = (index: number) => (index % keysAnAccount) * accountCount + index / keysAnAccount;
  return callers
    .map((caller, index) => ({ caller, place: place(index) }))
    .sort((a, b) => a.place - b.place)
    .map(({ caller }) => caller);
}

interface ApiTerms {
  readonly secrets: readonly string[];
  /** The version that is started; by default this one. */
  readonly folder?: string;
}

/** Starts the API process of the version in `folder`. Several may run on the same stores. */
export async function startApi(
  stores: StoreUrls,
  place: TargetSetting,
  { secrets, folder = PROJECT }: ApiTerms,
): Promise<Started> {
  const port = await freePort();
  const program = await startServer({
    name: `api-${port}`,
    command: [BUN, "src/main.ts"],
    cwd: folder,
    env: {
      ...(await environment(stores, place.upstreamUrl, folder)),
      ...place.env,
      PORT: String(port),
    },
    logFolder: place.logFolder,
    readyUrl: `http://127.0.0.1:${port}/readyz`,
  });
  await untilBuilt(join(stores.home, "data"), join(place.logFolder, `api-${port}.log`));
  const callers = secrets.map((secret) => ({ authorization: `Bearer ${secret}` }));
  const url = `http://127.0.0.1:${port}/v1/chat/completions`;
  return { ...program, target: { name: "farebox", url, callers, pid: program.pid } };
}

/** Waits until a first start has built its map of places, which takes seconds of CPU. */
async function untilBuilt(data: string, logFile: string): Promise<void> {
  const isBuilt = () => existsSync(data) && readdirSync(data).some((name) => PLACES.test(name));
  // Versions without maps start no such thread.
  if (!readFileSync(logFile, "utf8").includes("The atlas thread")) return;
  for (const endMs = Date.now() + BUILT_WITHIN_MS; !isBuilt(); await Bun.sleep(50)) {
    if (Date.now() > endMs) throw new Error("The map of places was not built in time");
  }
}

/** Starts the worker process of the version in `folder`. */
export async function startWorker(
  stores: StoreUrls,
  place: TargetSetting,
  folder = PROJECT,
): Promise<Program> {
  const port = String(await freePort());
  return await startServer({
    name: `worker-${port}`,
    command: [BUN, "workers/main.ts"],
    cwd: folder,
    env: { ...(await environment(stores, place.upstreamUrl, folder)), METRICS_PORT: port },
    logFolder: place.logFolder,
    readyUrl: `http://127.0.0.1:${port}/metrics`,
  });
}

/** Versions without a file of settings get this setting from `npm start`. */
const FIRST_SETTINGS = { BUN_CONFIG_MAX_HTTP_REQUESTS: "20000" } as const;

/** The settings of Bun that a version starts its processes with. */
export async function bunSettingsOf(folder: string): Promise<Readonly<Record<string, string>>> {
  const file = join(folder, "scripts/bun-settings.mjs");
  return existsSync(file) ? (await import(file)).BUN_SETTINGS : FIRST_SETTINGS;
}

/** Waits until the journal is flushed to Postgres. */
export async function untilFlushed(stores: Stores): Promise<void> {
  for (const endMs = Date.now() + 60_000; Date.now() < endMs; await Bun.sleep(100)) {
    if ((await unflushed(stores)) === 0) return;
  }
  throw new Error("The worker did not flush the journal within a minute");
}

/** The number of journal entries that Postgres does not have yet. */
export async function unflushed({ actors, ledger }: Stores): Promise<number> {
  const behind = await Promise.all(
    (await ledger.cursors()).map(async ({ bucket, epoch, entry }) => {
      const { written } = await readJournal(actors.scripts.redis, bucket, {
        epoch,
        entry,
        count: 1,
      });
      return Math.max(0, written - entry);
    }),
  );
  return behind.reduce((sum, entries) => sum + entries, 0);
}

/** The sum of all charges in the ledger, in nano-USD. */
async function chargedNano({ database }: Stores): Promise<bigint> {
  const [row] = await database.sql`
    SELECT coalesce(-sum(paid_delta + free_delta), 0)::bigint AS charged FROM ledger_entries
    WHERE kind IN ('charge', 'late_charge')`;
  return BigInt(row?.charged ?? 0);
}

/**
 * Requires that the sum of the charges in the callers' replies equals the ledger's, and is more
 * than zero.
 */
export async function proveBilling(stores: Stores, byCallersNano: bigint) {
  const byLedgerNano = await chargedNano(stores);
  if (byCallersNano > 0n && byCallersNano === byLedgerNano) return { byCallersNano, byLedgerNano };
  throw new Error(`Callers paid ${byCallersNano} nano-USD, the ledger has ${byLedgerNano}`);
}

/**
 * Returns the environment of a process of the version in `folder`. Also writes the configuration
 * file that it names.
 */
export async function environment(
  stores: StoreUrls,
  upstreamUrl: string,
  folder: string,
): Promise<Record<string, string>> {
  const file = join(stores.home, "farebox.config.json");
  // Earlier versions refuse a provider of a form that they do not pass through.
  const forms = FORMS.filter((form) => existsSync(join(folder, "src/services/chat/doors", form)));
  writeFileSync(file, JSON.stringify(catalogue(upstreamUrl, forms)));
  return {
    ...SECRETS,
    ...(await bunSettingsOf(folder)),
    HOST: "127.0.0.1",
    METRICS_PORT: "0",
    TRUSTED_PROXIES: "127.0.0.1",
    FAREBOX_DATA: join(stores.home, "data"),
    REDIS_URL: stores.redisUrl,
    DATABASE_URL: stores.databaseUrl,
    FAREBOX_CONFIG: file,
    STUB_API_KEY: "stub",
  };
}

/** Models whose names begin so are at a server of that form, under the rest of their name. */
export const PASSED = { messages: "messages-", responses: "responses-" } as const;
const PROVIDERS = { messages: "anthropic", responses: "openai-responses" } as const;
const FORMS = ["messages", "responses"] as const;

function catalogue(upstreamUrl: string, forms: readonly (keyof typeof PASSED)[]): object {
  const model = (name: string, prefix = "", provider = "stub") => ({
    id: prefix + name,
    label: prefix + name,
    family: "stub",
    owned_by: "bench",
    context_length: 128_000,
    pricing: [{ input_usd_per_m: "0.15", output_usd_per_m: "0.60" }],
    routes: [{ provider, model: name }],
  });
  const named = (ids: readonly string[]) =>
    ids.flatMap((id) => MODEL_SUFFIXES.map((suffix) => id + suffix));
  const stub = { base_url: upstreamUrl, concurrency: 10_000 };
  const own = forms.map((form) => {
    return [form, { ...stub, provider: PROVIDERS[form], api_key_env: "STUB_API_KEY" }] as const;
  });
  return {
    providers: { stub, ...Object.fromEntries(own) },
    models: [
      ...named(["plain", "slow", "chunks-200", "held"]).map((name) => model(name)),
      ...forms.flatMap((form) =>
        named(["plain", "chunks-200"]).map((name) => model(name, PASSED[form], form)),
      ),
    ],
    search: { providers: [{ kind: "searxng", base_url: upstreamUrl, concurrency: 10_000 }] },
  };
}
