// What the commands work on, opened once per invocation.

import { AccountActors } from "../../actors/account-actors.ts";
import { flushJournal } from "../../workers/log-flush.ts";
import type { AdministrationDeps } from "../accounts/administration.ts";
import type { JournalConflict } from "../accounts/audit.ts";
import { newId, type RandomBytes } from "../core/ids.ts";
import type { StoreConfig } from "../settings/config.ts";
import { Accounts } from "../store/accounts.ts";
import { type Database, openDatabase } from "../store/database.ts";
import { Ledger } from "../store/ledger.ts";
import { Payments } from "../store/payments.ts";
import { openRedis } from "../store/redis.ts";
import { compareSecrets } from "../store/secrets.ts";
import { WalletRepository } from "../store/wallet-repository.ts";

export interface StoresDeps {
  readonly config: StoreConfig;
  readonly now: () => number;
  readonly random: RandomBytes;
  /** Told what the operator should know besides the answer. */
  readonly warn: (line: string) => void;
}

export interface Stores {
  readonly database: Database;
  readonly databaseUrl: string;
  readonly actors: AccountActors;
  readonly administration: AdministrationDeps;
  /** Where data files are, those of the running Farebox. */
  readonly dataDirectory: string;
  readonly warn: (line: string) => void;
  readonly random: RandomBytes;
  /** @throws WrongSecret where the servers run with other secrets */
  compareSecrets(): Promise<void>;
  /**
   * Moves what waits in the journal to the ledger. Rebuilds nothing: it tells what does not
   * fit.
   */
  flush(): Promise<readonly JournalConflict[]>;
  close(): Promise<void>;
}

/** Opens the stores; nothing connects to Postgres before the first statement. */
export function openStores({ config, now, random, warn }: StoresDeps): Stores {
  const redis = openRedis(config.redisUrl);
  // Each command that fails says so itself; without a listener the client writes to the console.
  redis.on("error", () => {});
  const database = openDatabase(config.databaseUrl);
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
  const [keyPepper] = config.secrets.KEY_PEPPER;
  const accounts = new Accounts({ database, random, keyPepper });
  const payments = new Payments({ database, random });
  const onDelayed = (accountId: string) =>
    warn(
      `Stored, but Redis could not be told of ${accountId} yet: the workers do it when it answers.`,
    );
  return {
    database,
    databaseUrl: config.databaseUrl,
    actors,
    administration: { accounts, payments, actors, now, onDelayed },
    dataDirectory: config.dataDirectory,
    warn,
    random,
    compareSecrets: () => compareSecrets(database, config.secrets),
    flush: () => flush(actors, database),
    close: async () => {
      redis.disconnect();
      await database.close();
    },
  };
}

async function flush(actors: AccountActors, database: Database): Promise<JournalConflict[]> {
  const forks = new Map<number, JournalConflict>();
  const noteReason = (fields: object, message: string) => {
    if (!("bucket" in fields) || typeof fields.bucket !== "number") return;
    const cause = "err" in fields && fields.err instanceof Error ? `: ${fields.err.message}` : "";
    forks.set(fields.bucket, { bucket: fields.bucket, reason: `${message}${cause}` });
  };
  await flushJournal({
    scripts: actors.scripts,
    ledger: new Ledger(database),
    log: { info: () => {}, warn: () => {}, error: noteReason },
    // The workers trim the journal; who only looks leaves it as it is.
    keepMs: Number.POSITIVE_INFINITY,
    rebuild: () => Promise.resolve(),
    onFork: (bucket) => forks.set(bucket, { bucket, reason: "entries that contradict the ledger" }),
  });
  return [...forks.values()];
}
