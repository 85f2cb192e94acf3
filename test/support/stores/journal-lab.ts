// Writes journals by hand to a real Redis and flushes them to a real Postgres.

import { bucketKeys } from "../../../actors/records/keys.ts";
import type { RedisClient } from "../../../actors/scripts/script.ts";
import { newId, newTimedId } from "../../../src/core/ids.ts";
import { metadataText, outcomeText } from "../../../src/core/journal/journal.ts";
import { type NanoUsd, nano, usd } from "../../../src/core/money/money.ts";
import { Ledger } from "../../../src/store/ledger/ledger.ts";
import { RejectedEntries } from "../../../src/store/ledger/rejected-entries.ts";
import { type Database, openDatabase } from "../../../src/store/servers/database.ts";
import { openRedis } from "../../../src/store/servers/redis.ts";
import { type FlushDeps, flushJournal } from "../../../workers/log-flush.ts";
import { random } from "../random.ts";
import { type EntryFields, encodeBucket, encodeEntry } from "./journal-encoder.ts";
import { createTestDatabase, testRedisUrl } from "./services.ts";
import { DONE } from "./world.ts";

export const AT_MS = Date.parse("2031-03-15T12:00:00.000Z");

export const METADATA = {
  endpoint: "/v1/chat/completions",
  service: "models",
  model: "m",
  country: "DE",
  ipHash: "0011223344556677",
  priceVersion: "p1",
} as const;

export const OUTCOME = { ...DONE, lane: "main" };

export interface LogLine {
  readonly level: "info" | "warn" | "error";
  readonly fields: object;
  readonly message: string;
}

export interface JournalLab extends AsyncDisposable {
  readonly redis: RedisClient;
  readonly database: Database;
  readonly databaseUrl: string;
  readonly rejected: RejectedEntries;
  /** The lines that the flushes logged. */
  readonly lines: LogLine[];
  /** The buckets that were rebuilt. */
  readonly rebuilt: number[];
  account(bucket: number, paid?: NanoUsd): Promise<LabAccount>;
  deps(more?: Partial<FlushDeps>): FlushDeps;
  flush(more?: Partial<FlushDeps>): Promise<number>;
}

export interface LabOptions {
  readonly redisUrl?: string;
  readonly databaseUrl?: string;
}

/** Opens stores: a new database unless one is given, and a Redis that is emptied. */
export async function openJournalLab(options: LabOptions = {}): Promise<JournalLab> {
  const own = options.databaseUrl === undefined ? await createTestDatabase() : null;
  const databaseUrl = options.databaseUrl ?? own?.url ?? "";
  const database = openDatabase(databaseUrl);
  const redis = openRedis(options.redisUrl ?? (await testRedisUrl()));
  if (!("nodes" in redis)) await redis.flushall();
  const lines: LogLine[] = [];
  const rebuilt: number[] = [];
  const say = (level: LogLine["level"]) => (fields: object, message: string) => {
    lines.push({ level, fields, message });
  };
  const ledger = new Ledger(database);
  const deps = (more: Partial<FlushDeps> = {}): FlushDeps => ({
    scripts: { redis, prepare: () => Promise.resolve() },
    ledger,
    log: { info: say("info"), warn: say("warn"), error: say("error") },
    keepMs: 60_000,
    rebuild: async (buckets) => {
      for (const { bucket, epoch } of buckets) {
        rebuilt.push(bucket);
        await putUnderEpoch({ redis, database }, bucket, epoch + 1);
      }
    },
    onFork: () => {},
    ...more,
  });
  return {
    redis,
    database,
    databaseUrl,
    lines,
    rebuilt,
    deps,
    rejected: new RejectedEntries(database),
    account: async (bucket, paid = usd("10")) => {
      const account = await LabAccount.open({ redis, database }, bucket);
      if (paid > 0n) await account.credit(paid);
      return account;
    },
    flush: (more) => flushJournal(deps(more)),
    [Symbol.asyncDispose]: async () => {
      redis.disconnect();
      await database.close();
      await own?.drop();
    },
  };
}

type Stores = Pick<JournalLab, "redis" | "database">;

/** Gives a bucket a new epoch with an empty journal. */
export async function putUnderEpoch(
  { redis, database: { sql } }: Stores,
  bucket: number,
  epoch: number,
): Promise<void> {
  const keys = bucketKeys(bucket);
  await redis.del(keys.events);
  await redis.set(keys.bucket, encodeBucket(epoch));
  await sql`UPDATE journal_cursors SET epoch = ${epoch}, entry = 0, kept_entry = 0
    WHERE bucket = ${bucket}`;
}

/**
 * An account whose wallet the test computes, in place of the scripts, and whose entries it writes.
 */
export class LabAccount {
  seq = 0;
  paid = 0n;
  free = 0n;
  owed = 0n;
  operations = 0;

  private constructor(
    readonly stores: Stores,
    readonly bucket: number,
    readonly id: string,
    readonly keyId: string,
    readonly number: number,
  ) {}

  static async open(stores: Stores, bucket: number): Promise<LabAccount> {
    const { redis, database } = stores;
    const id = newId("account", random);
    const keyId = newId("key", random);
    const [row] = await database.sql`
      INSERT INTO accounts (id, surface, bucket) VALUES (${id}, 'gateway', ${bucket})
      RETURNING number`;
    const number = Number(row?.number);
    await database.sql`
      INSERT INTO keys (id, account, digest, name, scopes, ip_allowlist, last_four)
      VALUES (${keyId}, ${number}, ${keyId}, 'test', '{models}', '{}', 'abcd')`;
    if ((await redis.exists(bucketKeys(bucket).bucket)) === 0) {
      await putUnderEpoch(stores, bucket, 1);
    }
    return new LabAccount(stores, bucket, id, keyId, number);
  }

  /** Writes a settled call; `more` changes fields of the entry. */
  call(cost: NanoUsd, more: Partial<EntryFields> = {}): Promise<string> {
    this.seq += 1;
    this.paid -= cost;
    return this.write({
      ...this.#entry(),
      type: "call",
      key: this.keyId,
      request: newTimedId("request", random, AT_MS),
      metadata: metadataText(METADATA),
      outcome: outcomeText(OUTCOME),
      paidDelta: nano(-cost),
      month: 203103,
      held: nano(2n * cost),
      ...more,
    });
  }

  /** A paid credit, committed in Postgres and applied. */
  async credit(amount: NanoUsd): Promise<string> {
    this.seq += 1;
    this.operations += 1;
    this.paid += amount;
    await this.stores.database.sql`
      INSERT INTO operations (account, number, kind, balance, amount)
      VALUES (${this.number}, ${this.operations}, 'credit', 'paid', ${amount.toString()})`;
    return await this.write({
      ...this.#entry(),
      type: "operation",
      kind: "credit",
      operation: this.operations,
      paidDelta: amount,
    });
  }

  refused(more: Partial<EntryFields> = {}): Promise<string> {
    return this.write({
      ...this.#entry(),
      type: "refused",
      seq: null,
      key: this.keyId,
      request: newTimedId("request", random, AT_MS),
      metadata: metadataText(METADATA),
      outcome: "rate_limit_exceeded 3 mail_minute",
      ...more,
    });
  }

  write(entry: EntryFields): Promise<string> {
    return this.writeRaw(encodeEntry(entry));
  }

  async writeRaw(content: Buffer): Promise<string> {
    const { redis } = this.stores;
    const keys = bucketKeys(this.bucket);
    const epoch = (await redis.getBuffer(keys.bucket))?.readDoubleLE(8) ?? 1;
    return String(await redis.xadd(keys.events, `${epoch}-*`, "e", content));
  }

  ledger() {
    return this.stores.database.sql`
      SELECT * FROM ledger_entries WHERE account = ${this.number} ORDER BY seq`;
  }

  log() {
    return this.stores.database.sql`
      SELECT * FROM request_log WHERE account = ${this.number} ORDER BY at, request`;
  }

  async spent(): Promise<bigint> {
    const [row] = await this.stores.database.sql`
      SELECT coalesce(sum(spent), 0)::bigint AS spent FROM month_spend
      WHERE account = ${this.number}`;
    return BigInt(row?.spent ?? 0);
  }

  #entry(): EntryFields {
    return {
      type: "call",
      account: this.id,
      key: "",
      request: "",
      atMs: AT_MS,
      metadata: "",
      outcome: "",
      seq: this.seq,
      kind: null,
      month: null,
      budgets: [],
      operation: null,
      paidDelta: nano(0n),
      freeDelta: nano(0n),
      held: nano(0n),
      paidAfter: nano(this.paid),
      freeAfter: nano(this.free),
      owedAfter: nano(this.owed),
      writtenOff: nano(0n),
      overrun: nano(0n),
    };
  }
}
