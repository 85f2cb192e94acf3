// Prepares the stores before the servers start: migrates, makes room in the request log, and makes
// the demonstration account once. Run by `npm start`.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { AccountActors } from "../actors/account-actors.ts";
import { createAccount, createKey } from "../src/accounts/administration.ts";
import { loadStoreConfig } from "../src/settings/config.ts";
import { Accounts } from "../src/store/accounts.ts";
import { openDatabase } from "../src/store/database.ts";
import { LogUpkeep } from "../src/store/log-upkeep.ts";
import { migrate } from "../src/store/migrate.ts";
import { openRedis } from "../src/store/redis.ts";
import { WalletRepository } from "../src/store/wallet-repository.ts";
import { makePartitions } from "../workers/partitions.ts";

interface Demo {
  readonly base_url: string;
  readonly key: string;
  readonly account: string;
}

const log = { info: () => {}, warn: console.error, error: console.error };
const random = (count: number) => crypto.getRandomValues(new Uint8Array(count));

async function setUp(file: string, baseUrl: string): Promise<Demo> {
  const config = loadStoreConfig();
  await migrate(config.databaseUrl);
  const database = openDatabase(config.databaseUrl);
  const redis = openRedis(config.redisUrl);
  try {
    await makePartitions({ upkeep: new LogUpkeep(database), now: Date.now });
    const accounts = new Accounts({ database, random, keyPepper: config.keyPepper });
    const kept = readDemo(file);
    if (kept !== null && (await accounts.find(kept.account)) !== null) {
      return { ...kept, base_url: baseUrl };
    }
    const actors = new AccountActors({
      redis,
      repository: new WalletRepository(database),
      now: Date.now,
      log,
    });
    const onDelayed = (account: string, error: unknown) => log.warn(account, error);
    const deps = { accounts, actors, now: Date.now, onDelayed };
    const account = await createAccount(deps, { surface: "gateway", email: null });
    const key = await createKey(deps, account.id, {
      name: "demonstration",
      scopes: ["models", "search", "maps", "mail"],
      ipAllowlist: [],
      monthlyLimit: null,
    });
    return { base_url: baseUrl, key: key.key, account: account.id };
  } finally {
    redis.disconnect();
    await database.close();
  }
}

/** The account of an earlier start, or null. */
function readDemo(file: string): Demo | null {
  if (!existsSync(file)) return null;
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Demo;
  } catch (error) {
    log.warn(`${file} cannot be read, so a new demonstration account is made:`, error);
    return null;
  }
}

const file = process.env.FAREBOX_DEMO_FILE;
if (!file) throw new Error("FAREBOX_DEMO_FILE is not set; `npm start` sets it");
const demo = await setUp(file, process.env.FAREBOX_BASE_URL ?? "");
writeFileSync(file, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 });
process.exit(0);
