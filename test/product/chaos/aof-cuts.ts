// Cuts the append-only file of Redis at any byte: the rest must be a beginning of the acknowledged
// changes, and with Postgres it becomes sound again without a person, and without a tool that
// repairs the file before Redis starts.

import { cpSync, readdirSync, statSync, truncateSync } from "node:fs";
import { basename, join } from "node:path";
import postgres from "postgres";
import { makeHome } from "../../../scripts/local/home.mjs";
import { temporaryFolder } from "../../../scripts/local/processes.mjs";
import { type RedisService, startRedis } from "../../../scripts/local/redis.mjs";
import { audit } from "../../../src/accounts/audit.ts";
import type { Stores } from "../../../src/cli/stores.ts";
import { LEASE_MS } from "../../../src/core/access/limits.ts";
import { ApiError } from "../../../src/core/errors.ts";
import { describe as describeDifference } from "../../../src/core/journal/audit-finding.ts";
import { nano } from "../../../src/core/money/money.ts";
import { PendingWork } from "../../../src/store/accounts/pending-work.ts";
import { AuditRepository } from "../../../src/store/audit/audit.ts";
import { completeChanges } from "../../../workers/completer.ts";
import { sweepExpired } from "../../../workers/sweep.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { openOperator } from "../../support/product/product.ts";
import { must } from "../../support/product/product-checks.ts";
import { createTestDatabase, startPrivateRedis } from "../../support/stores/services.ts";
import { ask, DONE } from "../../support/stores/world.ts";
import type { ChaosOptions } from "./gateway-kills.ts";
import { type History, type HistoryAccount, LEASES_AT, makeHistory, stateOf } from "./history.ts";

const CHANGES = 300;
const CUTS_A_HISTORY = 50;
const AT_ONCE = 2;
const BOUND = nano(1_000_000n);

/** Cuts the files of some histories at this many random bytes in total. */
export async function cutAof(options: ChaosOptions): Promise<void> {
  for (let left = options.times; left > 0; left -= CUTS_A_HISTORY) {
    await cutHistory({ ...options, times: Math.min(left, CUTS_A_HISTORY) });
  }
}

async function cutHistory({ times, random, say }: ChaosOptions): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const redis = resources.use(await startPrivateRedis());
  const database = resources.use(await createTestDatabase());
  const operator = openOperator(redis.url, database.url);
  const { aofBytes } = redis;
  const history = await makeHistory({ operator, aofBytes, changes: CHANGES, random });
  await redis.kill9();
  await operator.close();

  const whole = history.moments.at(-1)?.aofBytes ?? 0;
  const cuts = Array.from({ length: times }, (_, index) =>
    // Every second cut leaves Postgres with less than Redis had.
    random.between(index % 2 === 0 ? 0 : history.flushedBytes, whole),
  );
  const original = { redisDir: redis.dir, databaseUrl: database.url, history };
  const rebuilt: number[] = [];
  const lane = async () => {
    for (let cut = cuts.pop(); cut !== undefined; cut = cuts.pop()) {
      try {
        rebuilt.push(await recoverFrom(original, cut));
      } catch (error) {
        throw new Error(`Cut at byte ${cut} of ${whole}`, { cause: error });
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  const older = rebuilt.filter((buckets) => buckets > 0).length;
  say(`${times} cuts of an append-only file of ${whole} bytes, ${history.moments.length} changes`);
  say(
    `  each a beginning of what was acknowledged; ${older} older than Postgres and rebuilt; ` +
      "no credit lost, no revoked key alive, audit clean",
  );
}

interface Original {
  readonly redisDir: string;
  readonly databaseUrl: string;
  readonly history: History;
}

/**
 * Boots from a cut copy, uses it, boots again. Returns the number of buckets that had to be
 * rebuilt.
 */
async function recoverFrom(original: Original, cut: number): Promise<number> {
  await using resources = new AsyncDisposableStack();
  const { history } = original;
  const folder = temporaryFolder("farebox-chaos-aof-");
  resources.defer(() => folder.remove());
  copyCut(original.redisDir, folder.path, cut);
  const first = await startRedis({ home: folder.path, repair: false });
  const running = { redis: first };
  resources.defer(() => running.redis.stop());
  const databaseUrl = resources.use(await copyDatabase(original.databaseUrl)).url;
  const operator = openOperator(first.url, databaseUrl);
  resources.defer(() => operator.close());

  await checkBeginning(operator, history, cut);
  const before = await epochSum(operator);
  await recover(operator, history.accounts);
  const state = await stateOf(operator.actors.scripts.redis, history.accounts);
  await running.redis.child.kill9();
  running.redis = await restart(folder.path, first);
  await untilAnswers(operator);
  const again = await stateOf(operator.actors.scripts.redis, history.accounts);
  must(again === state, () => "The second boot brought something else than was there before");
  await use(operator, history.accounts);
  await checkBooks(operator, history.accounts);
  return (await epochSum(operator)) - before;
}

function restart(home: string, { port }: RedisService): Promise<RedisService> {
  return startRedis({ home, port, repair: false });
}

/** Requires the state after the last acknowledged change that is in the file. */
async function checkBeginning(operator: Stores, history: History, cut: number): Promise<void> {
  const { accounts, moments } = history;
  const found = await stateOf(operator.actors.scripts.redis, accounts);
  const last = moments.findLastIndex(({ aofBytes }) => aofBytes <= cut);
  const expected = moments[last]?.state;
  // Before the last account was made there were fewer accounts.
  if (expected === undefined || expected.length < 2) return;
  // A renewal is one script in each bucket, and the cut may be between two of them.
  if (moments[last + 1]?.what === "renew") return;
  const isSame =
    found === expected ||
    found.startsWith(expected.slice(0, -1)) ||
    isWithLeases(found, expected, moments[last + 1]?.state);
  const change = `change ${last} (${moments[last]?.what})`;
  must(isSame, () => `Not the state after ${change}:\n${found}\nexpected:\n${expected}`);
}

/**
 * True if this is a state with the leases of the next: an admission takes a lease before it holds.
 */
function isWithLeases(found: string, before: string, next: string | undefined): boolean {
  if (next === undefined) return false;
  const leases: unknown[][] = JSON.parse(next).map((account: unknown[]) => account[LEASES_AT]);
  const accounts: unknown[][] = JSON.parse(before);
  const taken = accounts.map((account, index) => account.with(LEASES_AT, leases[index]));
  return found === JSON.stringify(taken);
}

/** Does the work that happens without an operator: the jobs of a worker, and the next calls. */
async function recover(operator: Stores, accounts: readonly HistoryAccount[]): Promise<void> {
  const { actors, database } = operator;
  // The first call finds that this is a different server.
  for (const { row } of accounts) await actors.of(row.id, row.bucket).state();
  await operator.flush();
  const pendingWork = new PendingWork(database);
  const done = await completeChanges({
    pendingWork,
    accounts: actors,
    log: silent,
    now: () => pendingWork.nowMs(),
    graceMs: 0,
  });
  must(done.failed === 0, () => `${done.failed} changes could not be completed`);
  await use(operator, accounts);
  const later = Date.now() + 3 * LEASE_MS;
  await sweepExpired({ scripts: actors.scripts, scriptTime: () => later });
}

/** Requires that every account is served. */
async function use(operator: Stores, accounts: readonly HistoryAccount[]): Promise<void> {
  for (const { row, keys } of accounts) {
    const actor = operator.actors.of(row.id, row.bucket);
    const admission = await actor.admit(ask(keys.at(-1) ?? "", BOUND));
    if (admission.verdict === "admitted") await admission.hold.settle(BOUND, DONE);
    else must(admission.verdict === "refused" && isMoney(admission.error), () => "Not served");
  }
}

function isMoney(error: ApiError): boolean {
  return error.code === "insufficient_credits";
}

async function checkBooks(operator: Stores, accounts: readonly HistoryAccount[]): Promise<void> {
  const { actors, database, flush } = operator;
  const redis = actors.scripts.redis;
  const repository = new AuditRepository(database);
  const deps = { redis, repository, graceMs: 0, flush, sleep: Bun.sleep };
  const { difference, openHolds } = await audit(deps, null);
  must(difference === null, () => `audit: ${difference && describeDifference(difference)}`);
  must(openHolds === 0, () => `${openHolds} holds are open`);
  for (const { row, revoked } of accounts) {
    const actor = actors.of(row.id, row.bucket);
    for (const keyId of revoked) {
      const code = await actor.admit(ask(keyId, BOUND)).then(
        ({ verdict }) => verdict,
        (error) => (error instanceof ApiError ? error.code : String(error)),
      );
      must(code === "invalid_api_key", () => `A revoked key was answered '${code}'`);
    }
  }
}

async function epochSum({ database }: Stores): Promise<number> {
  const [row] = await database.sql`SELECT sum(epoch)::int AS sum FROM journal_cursors`;
  return Number(row?.sum);
}

async function untilAnswers({ actors }: Stores): Promise<void> {
  const endMs = performance.now() + 10_000;
  while ((await actors.scripts.redis.ping().catch(() => "")) !== "PONG") {
    if (performance.now() > endMs) throw new Error("Redis does not answer");
    await Bun.sleep(5);
  }
}

/** Copies a data folder, its append-only file cut. */
function copyCut(redisDir: string, home: string, cut: number): void {
  makeHome(home);
  const dir = join(home, basename(redisDir));
  cpSync(redisDir, dir, { recursive: true });
  const folder = join(dir, "appendonlydir");
  const file = readdirSync(folder).find((name) => name.endsWith(".incr.aof"));
  if (file === undefined) throw new Error(`There is no append-only file in ${folder}`);
  const path = join(folder, file);
  truncateSync(path, Math.min(cut, statSync(path).size));
}

/** A copy of a database without open connections. */
async function copyDatabase(url: string): Promise<AsyncDisposable & { readonly url: string }> {
  const from = new URL(url).pathname.slice(1);
  const to = `${from}_${crypto.randomUUID().slice(0, 8).replaceAll("-", "")}`;
  const server = new URL(url);
  server.pathname = "/postgres";
  const administer = async (statement: string) => {
    const sql = postgres(server.href, { max: 1, onnotice: () => {} });
    await sql.unsafe(statement).finally(() => sql.end());
  };
  await administer(`CREATE DATABASE ${to} TEMPLATE ${from}`);
  const copy = new URL(url);
  copy.pathname = `/${to}`;
  return {
    url: copy.href,
    [Symbol.asyncDispose]: () => administer(`DROP DATABASE IF EXISTS ${to} WITH (FORCE)`),
  };
}
