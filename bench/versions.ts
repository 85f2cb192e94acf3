// Runs Farebox of any git ref with its own entry points and its own stores, so that versions with
// different layouts of Redis and Postgres can be compared.

import { existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { makeHome } from "../scripts/local/home.mjs";
import { startPostgres } from "../scripts/local/postgres.mjs";
import { startRedis } from "../scripts/local/redis.mjs";
import { environment, SECRETS, type StoreUrls, startApi, startWorker } from "./farebox.ts";
import { BUN, PROJECT, type Program } from "./launch.ts";
import type { Started, TargetSetting } from "./targets.ts";

const ACCOUNTS = 8;
const KEYS_AN_ACCOUNT = 6;
const PAYMENT_USD = "20000";
const FLUSHED_WITHIN_MS = 60_000;
const POLL_MS = 25;

/** A version of Farebox: its name in the report, and the folder with its files. */
export interface Version {
  readonly name: string;
  readonly folder: string;
}

/** The running stores of a version, with paid accounts. */
export interface VersionStores extends StoreUrls {
  readonly redisPid: number;
  readonly postgresPid: number;
  readonly secrets: readonly string[];
  /** The number of requests in the log in Postgres. */
  loggedRequests(): Promise<number>;
  stop(): Promise<void>;
}

/**
 * Extracts the files of a git ref into a folder below `parent`. Uses an archive and not a worktree,
 * so that nothing stays registered in git if this run is killed.
 */
export function checkOut(ref: string, parent: string): Version {
  const commit = git(["rev-parse", "--verify", "--end-of-options", `${ref}^{commit}`]).trim();
  const folder = join(parent, `version-${commit.slice(0, 12)}`);
  mkdirSync(folder, { recursive: true });
  const archive = join(parent, `${commit.slice(0, 12)}.tar`);
  git(["archive", "--format=tar", `--output=${archive}`, commit]);
  succeed(["tar", "-xf", archive, "-C", folder], PROJECT);
  linkPackages(folder);
  return { name: ref, folder };
}

/** Starts the stores of a version and sets them up with its own programs. */
export async function startVersionStores(
  { folder }: Version,
  home: string,
): Promise<VersionStores> {
  makeHome(home);
  const redis = await startRedis({ home });
  const database = await startPostgres({ home });
  // Both sides use the port: earlier versions do not support `unix://`.
  const urls: StoreUrls = { home, redisUrl: redis.url, databaseUrl: database.url };
  const sql = postgres(database.url, { max: 1, onnotice: () => {} });
  const stop = async () => {
    await sql.end({ timeout: 5 });
    await Promise.all([redis.stop(), database.stop()]);
  };
  try {
    const env = {
      ...(await environment(urls, "http://127.0.0.1:1/v1", folder)),
      FAREBOX_DEMO_FILE: join(home, "demo.json"),
    };
    await run(folder, ["scripts/setup.ts"], env);
    const secrets = await makeKeys(folder, env);
    const loggedRequests = async () => {
      const [row] = await sql`SELECT count(*)::int AS requests FROM request_log`;
      return Number(row?.requests ?? 0);
    };
    const pids = { redisPid: redis.child.record.pid, postgresPid: database.child.record.pid };
    return { ...urls, ...pids, secrets, loggedRequests, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

export async function startVersionApi(
  { name, folder }: Version,
  stores: VersionStores,
  place: TargetSetting,
): Promise<Started> {
  const api = await startApi(stores, place, { secrets: stores.secrets, folder });
  return { ...api, target: { ...api.target, name } };
}

export function startVersionWorker(
  { folder }: Version,
  stores: VersionStores,
  place: TargetSetting,
): Promise<Program> {
  return startWorker(stores, place, folder);
}

/** Waits until the log in Postgres has this many requests; throws after a minute. */
export async function untilLogged(stores: VersionStores, requests: number): Promise<void> {
  let logged = 0;
  for (const endMs = Date.now() + FLUSHED_WITHIN_MS; Date.now() < endMs; ) {
    logged = await stores.loggedRequests();
    if (logged >= requests) return;
    await Bun.sleep(POLL_MS);
  }
  throw new Error(`The log has ${logged} of ${requests} requests after a minute`);
}

/** Links the installed packages if their versions match, otherwise installs them. */
function linkPackages(folder: string): void {
  const installed = realpathSync(join(PROJECT, "node_modules"));
  const { dependencies = {} } = readPackage(join(folder, "package.json"));
  const missing = Object.entries(dependencies).filter(([name, version]) => {
    const file = join(installed, name, "package.json");
    return !existsSync(file) || readPackage(file).version !== version;
  });
  if (missing.length === 0) {
    symlinkSync(installed, join(folder, "node_modules"));
    return;
  }
  console.error(`- installing ${missing.map(([name]) => name).join(", ")} for that version`);
  succeed(["npm", "ci", "--no-audit", "--no-fund"], folder);
}

function readPackage(file: string): {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
} {
  return JSON.parse(readFileSync(file, "utf8"));
}

/**
 * Creates accounts with the command line, which changes less between versions than the code does.
 */
async function makeKeys(folder: string, env: Record<string, string>): Promise<string[]> {
  const command = (...words: string[]) => farebox(folder, env, words);
  const accounts = await Promise.all(
    Array.from({ length: ACCOUNTS }, async () => {
      const { id } = await command("account", "create");
      await command("account", "contract", id, "enterprise");
      await command("payment", "record", id, "--usd", PAYMENT_USD);
      return id;
    }),
  );
  const secrets: string[] = [];
  // Calls use the keys in turn, so two consecutive keys should belong to different accounts.
  for (let made = 0; made < KEYS_AN_ACCOUNT; made += 1) {
    const keys = accounts.map((id) => command("key", "create", id, "--scopes", "models,search"));
    for (const { key } of await Promise.all(keys)) secrets.push(key);
  }
  return secrets;
}

interface CommandAnswer {
  readonly id: string;
  readonly key: string;
}

async function farebox(
  folder: string,
  env: Record<string, string>,
  words: readonly string[],
): Promise<CommandAnswer> {
  return JSON.parse(await run(folder, ["src/cli/main.ts", ...words, "--json"], env));
}

async function run(
  folder: string,
  command: readonly string[],
  env: Record<string, string>,
): Promise<string> {
  const child = Bun.spawn([BUN, ...command], {
    cwd: folder,
    env: { ...process.env, ...SECRETS, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, errors, code] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  if (code === 0) return output;
  throw new Error(`'${command.join(" ")}' in ${folder} failed with ${code}:\n${output}${errors}`);
}

function git(args: readonly string[]): string {
  return succeed(["git", ...args], PROJECT);
}

function succeed(command: string[], cwd: string): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd });
  if (exitCode === 0) return stdout.toString();
  throw new Error(`'${command.join(" ")}' failed with ${exitCode}: ${stderr.toString().trim()}`);
}
