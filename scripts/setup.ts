// Prepares the stores before the servers start: migrates, creates partitions, and creates
// the demonstration account once. Run by `npm start`.

import { existsSync } from "node:fs";
import { AccountActors } from "../actors/account-actors.ts";
import { EarlierReleaseRuns, raiseLayouts } from "../actors/layout-upgrade.ts";
import type { RedisClient } from "../actors/scripts/script.ts";
import { createAccount, createKey } from "../src/accounts/administration.ts";
import { migrateStores } from "../src/cli/operation/migrate-command.ts";
import { scopesOfSurface } from "../src/core/access/services.ts";
import { newId } from "../src/core/ids.ts";
import { StartError } from "../src/core/start-error.ts";
import { makeSignInLink } from "../src/identity/sign-in-link.ts";
import { loadStoreConfig, type StoreConfig } from "../src/settings/config.ts";
import { Accounts } from "../src/store/accounts/accounts.ts";
import { WalletRepository } from "../src/store/accounts/wallet-repository.ts";
import { Payments } from "../src/store/payments/payments.ts";
import { ensureMember, ensurePerson } from "../src/store/people/known-people.ts";
import { type Database, openDatabase } from "../src/store/servers/database.ts";
import { openRedis } from "../src/store/servers/redis.ts";
import { adoptSecrets } from "../src/store/servers/secrets.ts";
import { orStartError } from "../src/store/servers/store-away.ts";
import { LogUpkeep } from "../src/store/usage/log-upkeep.ts";
import { makePartitions } from "../workers/partitions.ts";
import { lineLog } from "./line-log.ts";
import { readJson, writeJson } from "./local/home.mjs";

interface Demo {
  readonly base_url: string;
  readonly key: string;
  readonly account: string;
  /** A link that signs in the owner of the account, once; null without a console. */
  readonly sign_in_link: string | null;
}

const OWNER = "owner@demo.farebox.example";

const random = (count: number) => crypto.getRandomValues(new Uint8Array(count));

async function setUp(file: string, baseUrl: string): Promise<Demo> {
  const config = loadStoreConfig();
  const { directDatabaseUrl: directUrl } = config;
  const databaseUrl = directUrl ?? config.databaseUrl;
  const database = openDatabase(config.databaseUrl, { directUrl });
  const redis = openRedis(config.redisUrl);
  // Failed commands throw their errors; without this listener the client also prints them.
  redis.on("error", () => {});
  // At the first start Redis is new, which is no problem to report.
  const log = existsSync(file) ? lineLog : { ...lineLog, warn: () => {} };
  const actors = new AccountActors({
    redis,
    repository: new WalletRepository(database),
    now: Date.now,
    log,
    processId: newId("process", random),
  });
  try {
    await migrateStores({ database, databaseUrl, actors });
    await adoptSecrets(database, config.secrets);
    const demo = await openDemo(file, baseUrl, { config, database, actors });
    await finishLayout(redis);
    return { ...demo, sign_in_link: await openOwner(database, demo.account, baseUrl) };
  } finally {
    redis.disconnect();
    await database.close();
  }
}

/** All processes of a home start together, so no process of an earlier release is running. */
async function finishLayout(redis: RedisClient): Promise<void> {
  try {
    await raiseLayouts(redis);
  } catch (error) {
    if (!(error instanceof EarlierReleaseRuns)) throw error;
    console.error(error.message);
  }
}

interface Opened {
  readonly config: StoreConfig;
  readonly database: Database;
  readonly actors: AccountActors;
}

async function openDemo(
  file: string,
  baseUrl: string,
  { config, database, actors }: Opened,
): Promise<Omit<Demo, "sign_in_link">> {
  await makePartitions({ upkeep: new LogUpkeep(database), now: Date.now });
  const [keyPepper] = config.secrets.KEY_PEPPER;
  const accounts = new Accounts({ database, random, keyPepper });
  const kept = readDemo(file);
  if (kept !== null && (await accounts.find(kept.account)) !== null) {
    return { ...kept, base_url: baseUrl };
  }
  const payments = new Payments({ database, random });
  const onDelayed = (account: string, err: unknown) =>
    lineLog.warn({ account, err }, "A change is applied later");
  const deps = { accounts, payments, actors, now: Date.now, onDelayed };
  const account = await createAccount(deps, {
    surface: "gateway",
    email: null,
    name: "Demonstration",
  });
  const key = await createKey(deps, account.id, {
    name: "demonstration",
    scopes: scopesOfSurface("gateway"),
    ipAllowlist: [],
    monthlyLimit: null,
  });
  return { base_url: baseUrl, key: key.key, account: account.id };
}

/** Creates the owner of the demonstration account, and a link to sign in. */
async function openOwner(database: Database, accountId: string, baseUrl: string) {
  const origin = process.env.CONSOLE_URL || baseUrl;
  if (!process.env.SESSION_SECRET) return null;
  const now = new Date();
  const owner = { email: OWNER, name: "Demo", isOperator: false, opensAccount: false };
  const personId = await ensurePerson(database, owner, { random, now });
  await ensureMember(database, { personId, accountId, role: "owner" }, now);
  return await makeSignInLink(database, { personId, origin }, { random, now });
}

/** Reads the account of an earlier start; null at the first. */
function readDemo(file: string): Demo | null {
  if (!existsSync(file)) return null;
  const kept = readJson(file);
  if (typeof kept?.account === "string" && typeof kept.key === "string") return kept;
  console.error(
    `${file} cannot be read: a new demonstration account is made. ` +
      "'farebox account find Demonstration' lists the earlier one.",
  );
  return null;
}

const file = process.env.FAREBOX_DEMO_FILE;
if (!file) throw new Error("FAREBOX_DEMO_FILE is not set; `npm start` sets it");
const prepared = setUp(file, process.env.FAREBOX_BASE_URL ?? "");
const demo = await orStartError(prepared).catch((error: unknown) => {
  if (!(error instanceof StartError)) throw error;
  console.error(error.message);
  process.exit(1);
});
writeJson(file, demo);
process.exit(0);
