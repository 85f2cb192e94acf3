// The stores that commands work on, opened once for each invocation.

import { AccountActors } from "../../actors/account-actors.ts";
import { flushForAudit } from "../../workers/log-flush.ts";
import type { AdministrationDeps } from "../accounts/administration.ts";
import type { JournalConflict } from "../accounts/audit.ts";
import { newId, type RandomBytes } from "../core/ids.ts";
import type { SecretList } from "../core/secrets.ts";
import type { StoreConfig } from "../settings/config.ts";
import type { Environment } from "../settings/environment.ts";
import { Accounts } from "../store/accounts/accounts.ts";
import { WalletRepository } from "../store/accounts/wallet-repository.ts";
import { Ledger } from "../store/ledger/ledger.ts";
import { Payments } from "../store/payments/payments.ts";
import { type Database, openDatabase } from "../store/servers/database.ts";
import { checkDirect } from "../store/servers/pooler-check.ts";
import { openRedis } from "../store/servers/redis.ts";
import { isRefusedByScript, REFUSED_BY_REDIS } from "../store/servers/redis-errors.ts";
import { compareSecrets } from "../store/servers/secrets.ts";
import { storeAway } from "../store/servers/store-away.ts";

export interface StoresDeps {
  readonly config: StoreConfig;
  readonly environment: Stores["environment"];
  /** The origin where people open the dashboard; null if it is not set. */
  readonly consoleOrigin: string | null;
  readonly now: () => number;
  readonly random: RandomBytes;
  /** Shows the operator a warning in addition to the result. */
  readonly warn: (line: string) => void;
}

export interface Stores {
  readonly database: Database;
  /** The address of Postgres itself, without a pooler. */
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly actors: AccountActors;
  readonly administration: AdministrationDeps;
  /** The origin where people open the dashboard; null if it is not set. */
  readonly consoleOrigin: string | null;
  /** The settings of the command; undefined for the environment of the process. */
  readonly environment: Environment | undefined;
  /** The directory with the data files of the running Farebox. */
  readonly dataDirectory: string;
  /** The secrets of the identifiers that providers get, the current one first. */
  readonly safetyIdSecrets: SecretList;
  /** The secrets that receipts and reports are signed with, the current one first. */
  readonly receiptSecrets: SecretList;
  readonly warn: (line: string) => void;
  readonly random: RandomBytes;
  /** @throws UnknownPooler if a pooler is in front of Postgres that the settings do not name */
  checkPooler(): Promise<void>;
  /** @throws WrongSecret if the servers run with other secrets */
  compareSecrets(): Promise<void>;
  /** Flushes the journal. Returns conflicts and, unlike the workers, rebuilds no bucket. */
  flush(): Promise<readonly JournalConflict[]>;
  close(): Promise<void>;
}

/** Explains why Redis does not have a change of an account yet, and the consequences. */
function delayedText(accountId: string, error: unknown): string {
  const stored = `The change of ${accountId} is stored.`;
  if (isRefusedByScript(error)) {
    return `${stored} ${REFUSED_BY_REDIS}: see farebox operation open.`;
  }
  const away = storeAway(error);
  const why = away === null ? "Redis does not have it yet" : away.words;
  return `${stored} ${why}; the workers apply it later.`;
}

/** Opens the stores; nothing connects to Postgres before the first statement. */
export function openStores(deps: StoresDeps): Stores {
  const { config, environment, consoleOrigin, now, random, warn } = deps;
  const { databaseUrl, directDatabaseUrl: directUrl } = config;
  const database = openDatabase(databaseUrl, { directUrl });
  // Redis is opened last of the steps that may fail: an open connection would keep the process
  // running.
  const redis = openRedis(config.redisUrl);
  // Failed commands throw their errors; without this listener the client also prints them.
  redis.on("error", () => {});
  const log = {
    info: () => {},
    warn: () => {},
    error: (_: object, message: string) => warn(message),
  };
  const actors = new AccountActors({
    redis,
    repository: new WalletRepository(database),
    now,
    log,
    processId: newId("process", random),
  });
  const [keyPepper, ...earlierPeppers] = config.secrets.KEY_PEPPER;
  const accounts = new Accounts({ database, random, keyPepper, earlierPeppers });
  const payments = new Payments({ database, random });
  const onDelayed = (accountId: string, error: unknown) => warn(delayedText(accountId, error));
  return {
    database,
    databaseUrl: directUrl ?? databaseUrl,
    checkPooler: () => checkDirect(databaseUrl, directUrl),
    redisUrl: config.redisUrl,
    actors,
    administration: { accounts, payments, actors, now, onDelayed },
    consoleOrigin,
    environment,
    dataDirectory: config.dataDirectory,
    safetyIdSecrets: config.safetyIdSecrets,
    receiptSecrets: config.receiptSecrets,
    warn,
    random,
    compareSecrets: () => compareSecrets(database, config.secrets),
    flush: () => flushForAudit(actors.scripts, new Ledger(database)),
    close: async () => {
      redis.disconnect();
      await database.close();
    },
  };
}
