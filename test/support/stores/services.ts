// Starts the real stores of the tests. `npm test` starts a Postgres for the whole run and a Redis
// for each of its processes, and sets TEST_DATABASE_URL and TEST_REDIS_URLS. If a file is run with
// `bun test`, the stores are started here on first use and stopped with the process.

import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { makeHome } from "../../../scripts/local/home.mjs";
import { startPostgres } from "../../../scripts/local/postgres.mjs";
import { temporaryFolder } from "../../../scripts/local/processes.mjs";
import {
  type RedisCluster,
  type RedisOptions,
  type Service,
  startRedis,
  startRedisCluster,
} from "../../../scripts/local/redis.mjs";
import { migrate } from "../../../src/store/servers/migrate.ts";

/** A store of one test, which the test can kill, restart and damage. */
export interface PrivateStore extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** The folder of the data. */
  readonly dir: string;
  /** Kills it, like a power cut. */
  kill9(): Promise<void>;
  stop(): Promise<void>;
  /** Freezes the process, like a machine that hangs: commands stay unanswered. */
  hang(): void;
  resume(): void;
  /** Starts it again with the same port and data. */
  start(): Promise<void>;
}

export interface PrivateRedis extends PrivateStore {
  /**
   * The same server over its Unix socket; null if the path of its home is too long for a socket.
   */
  readonly socketUrl: string | null;
  /** Cuts bytes off the end of the append-only file. The Redis must be stopped. */
  cutAof(bytes: number): void;
  /** The length of that file in bytes. */
  aofBytes(): number;
  readAof(): Buffer;
}

export interface TestDatabase extends AsyncDisposable {
  readonly url: string;
  drop(): Promise<void>;
}

const TEMPLATE_LOCK = 7_261_034;

const shared: { redis?: Promise<string>; postgres?: Promise<string>; template?: Promise<string> } =
  {};

/** The Redis of all tests of this process. A test must use its own keys or buckets. */
export function testRedisUrl(): Promise<string> {
  shared.redis ??= redisOfProcess() ?? startPrivateRedis().then(({ url }) => url);
  return shared.redis;
}

/** The Postgres that all tests share. Most tests need `createTestDatabase` instead. */
export function testDatabaseUrl(): Promise<string> {
  const { TEST_DATABASE_URL: given } = process.env;
  shared.postgres ??=
    given === undefined
      ? startPrivatePostgres({ durable: false }).then(({ url }) => url)
      : Promise.resolve(given);
  return shared.postgres;
}

/** The folder for the data files of all tests, so that each file is built only once in a run. */
export function testDataDirectory(): string {
  return process.env.FAREBOX_DATA || join(import.meta.dir, "../../../.farebox/data");
}

/** Creates a migrated, empty database by copying a template, which takes about 30 ms. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const server = await testDatabaseUrl();
  shared.template ??= makeTemplate(server);
  const template = await shared.template;
  const name = `test_${randomBytes(8).toString("hex")}`;
  // Copied as files: the default writes every page to the log first, which takes ten times as long.
  await administer(server, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
  const drop = () => administer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  return { url: withDatabase(server, name), drop, [Symbol.asyncDispose]: drop };
}

/** Starts a Redis for one test, durable as in production; by default it repairs its file. */
export async function startPrivateRedis(
  options: Pick<RedisOptions, "repair" | "settings" | "password"> = {},
): Promise<PrivateRedis> {
  let socketUrl: string | null = null;
  const store = await startPrivate("redis", async (home, port) => {
    const redis = await startRedis({ ...options, home, ...port });
    socketUrl = redis.socketUrl;
    return redis;
  });
  return {
    ...store,
    socketUrl,
    aofBytes: () => statSync(lastAofFile(store.dir)).size,
    readAof: () => readFileSync(lastAofFile(store.dir)),
    cutAof: (bytes) => {
      const file = lastAofFile(store.dir);
      truncateSync(file, Math.max(0, statSync(file).size - bytes));
    },
  };
}

/** Starts a Postgres for one test with an empty database `farebox`; `durable: false` is faster. */
export function startPrivatePostgres(
  options: { durable?: boolean; settings?: Readonly<Record<string, string>> } = {},
): Promise<PrivateStore> {
  return startPrivate("postgres", (home, port) => startPostgres({ ...options, home, ...port }));
}

/** A Redis Cluster of three masters without passwords. */
export async function startCluster(): Promise<RedisCluster & AsyncDisposable> {
  const folder = temporaryFolder("farebox-test-cluster-");
  const cluster = await startRedisCluster(folder.path);
  const stop = async () => {
    await cluster.stop();
    folder.remove();
  };
  return { ...cluster, stop, [Symbol.asyncDispose]: stop };
}

async function startPrivate(
  name: string,
  start: (home: string, port: { port?: number }) => Promise<Service>,
): Promise<PrivateStore> {
  const folder = temporaryFolder(`farebox-test-${name}-`);
  makeHome(folder.path);
  const first = await start(folder.path, {});
  let current = first;
  return {
    url: first.url,
    port: first.port,
    dir: first.dir,
    kill9: () => current.child.kill9(),
    stop: () => current.stop(),
    hang: () => signal("SIGSTOP", current.child.record.pid),
    resume: () => signal("SIGCONT", current.child.record.pid),
    start: async () => {
      await current.stop();
      current = await start(folder.path, { port: first.port });
    },
    [Symbol.asyncDispose]: async () => {
      await current.stop();
      folder.remove();
    },
  };
}

/** Sends a signal to a process and to its children. */
function signal(name: "SIGSTOP" | "SIGCONT", pid: number): void {
  process.kill(pid, name);
  const list = spawnSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" }).stdout;
  for (const [, child, parent] of list.matchAll(/(\d+) +(\d+)/g)) {
    if (Number(parent) === pid) process.kill(Number(child), name);
  }
}

/**
 * Returns the Redis that `npm test` started for this process, by the number that Bun gives the
 * process.
 */
function redisOfProcess(): Promise<string> | undefined {
  const number = Number(process.env.BUN_TEST_WORKER_ID ?? 1);
  const url = process.env.TEST_REDIS_URLS?.split(" ")[number - 1];
  return url === undefined ? undefined : Promise.resolve(url);
}

function lastAofFile(dir: string): string {
  const folder = join(dir, "appendonlydir");
  const sequence = (name: string) => Number(/\.(\d+)\.incr\.aof$/.exec(name)?.[1] ?? 0);
  const last = readdirSync(folder)
    .sort((a, b) => sequence(a) - sequence(b))
    .at(-1);
  if (last === undefined || sequence(last) === 0)
    throw new Error(`No append-only file in ${folder}`);
  return join(folder, last);
}

/** Creates the migrated template once per server, even if several test processes need it. */
async function makeTemplate(server: string): Promise<string> {
  const name = "farebox_template";
  const admin = postgres(server, { max: 1, onnotice: () => {} });
  try {
    await admin`SELECT pg_advisory_lock(${TEMPLATE_LOCK})`;
    const known = await admin`SELECT 1 FROM pg_database WHERE datname = ${name}`;
    if (known.length > 0) return name;
    const draft = `${name}_${randomBytes(4).toString("hex")}`;
    await admin.unsafe(`CREATE DATABASE ${draft}`);
    await migrate(withDatabase(server, draft));
    await admin.unsafe(`ALTER DATABASE ${draft} RENAME TO ${name}`);
    return name;
  } finally {
    await admin.end();
  }
}

async function administer(server: string, statement: string): Promise<void> {
  const admin = postgres(server, { max: 1, onnotice: () => {} });
  try {
    await admin.unsafe(statement);
  } finally {
    await admin.end();
  }
}

function withDatabase(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
