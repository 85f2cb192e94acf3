// The configurations that operators applied for all processes: numbered, never changed, never
// removed. The newest is in force.

import { createHash } from "node:crypto";
import { desc, eq, lt } from "drizzle-orm";
import { AdministrationError } from "../../core/errors.ts";
import type { Database } from "../servers/database.ts";
import type { Queries, Transaction } from "../servers/transaction.ts";
import { configurations } from "../tables/configuration-schema.ts";

/** The largest number that a version can have. */
const INTEGER_MAX = 2_147_483_647;

export type StoredConfiguration = Readonly<typeof configurations.$inferSelect>;

/** A version without its text. */
export type ConfigurationVersion = Omit<StoredConfiguration, "text">;

export interface NewConfiguration {
  /** The file as it was given. */
  readonly text: string;
  readonly actor: string;
  readonly note: string | null;
  readonly rollsBackTo: number | null;
  /** The version that must be in force, 0 for none; null for whichever is. */
  readonly expected: number | null;
  readonly at: Date;
}

export interface Applied {
  /** The version in force now. */
  readonly version: number;
  /** False if this text was in force already: then nothing was stored. */
  readonly applied: boolean;
  readonly changes: readonly string[];
}

/**
 * Checks a text, and describes its changes to the version before; null if none was in force.
 * @throws Error with words about a wrong text
 */
export type DescribeChanges = (before: StoredConfiguration | null, text: string) => string[];

const WITHOUT_TEXT = {
  version: configurations.version,
  digest: configurations.digest,
  actor: configurations.actor,
  note: configurations.note,
  changes: configurations.changes,
  rollsBackTo: configurations.rollsBackTo,
  at: configurations.at,
};

export class Configurations {
  constructor(readonly database: Database) {}

  /** The version in force, with its text unless its number is `known`; null before the first. */
  async inForce(known: number): Promise<{ version: number; text: string | null } | null> {
    const { sql } = this.database;
    const [row] = await this.database.withTimeout(
      sql<{ version: number; text: string | null }[]>`
        SELECT version, CASE WHEN version <> ${known} THEN text END AS text
        FROM configurations ORDER BY version DESC LIMIT 1`,
    );
    return row ?? null;
  }

  /** A version with its text. @throws AdministrationError if no version has this number */
  async find(version: number): Promise<StoredConfiguration> {
    const [row] = await this.database.db
      .select()
      .from(configurations)
      .where(eq(configurations.version, version));
    if (row !== undefined) return row;
    throw new AdministrationError("not_found", `There is no version ${version}`);
  }

  /** The newest versions, or those before a number. */
  async list(before: number | null, count: number): Promise<ConfigurationVersion[]> {
    return await this.database.db
      .select(WITHOUT_TEXT)
      .from(configurations)
      .where(
        before === null ? undefined : lt(configurations.version, Math.min(before, INTEGER_MAX)),
      )
      .orderBy(desc(configurations.version))
      .limit(count);
  }

  /**
   * Puts a text in force for all processes, once `describe` has accepted it. `also` runs in the
   * transaction, unless the text is in force already.
   * @throws AdministrationError if another version than the expected one is in force
   */
  async apply(
    next: NewConfiguration,
    describe: DescribeChanges,
    also?: (tx: Transaction) => Promise<void>,
  ): Promise<Applied> {
    const { expected, ...row } = next;
    const digest = createHash("sha256").update(next.text).digest("hex");
    return await this.database.db.transaction(async (tx) => {
      await lockForChange(tx);
      const before = await newestOf(tx);
      const version = before?.version ?? 0;
      if (expected !== null && expected !== version) throw otherInForce(expected, version);
      const changes = describe(before, next.text);
      if (before?.digest === digest) return { version, applied: false, changes: [] };
      await tx.insert(configurations).values({ ...row, version: version + 1, digest, changes });
      await also?.(tx);
      return { version: version + 1, applied: true, changes };
    });
  }

  /** Returns the result that `apply` would have; stores nothing. @throws AdministrationError */
  async preview(
    { text, expected }: Pick<NewConfiguration, "text" | "expected">,
    describe: DescribeChanges,
  ): Promise<readonly string[]> {
    const before = await newestOf(this.database.db);
    const version = before?.version ?? 0;
    if (expected !== null && expected !== version) throw otherInForce(expected, version);
    return describe(before, text);
  }
}

/** Of two changes at once, the second one sees the result of the first. Readers do not wait. */
async function lockForChange(tx: Transaction): Promise<void> {
  await tx.execute("LOCK TABLE configurations IN SHARE ROW EXCLUSIVE MODE");
}

async function newestOf(db: Queries): Promise<StoredConfiguration | null> {
  const rows = db.select().from(configurations).orderBy(desc(configurations.version)).limit(1);
  return (await rows)[0] ?? null;
}

function otherInForce(expected: number, version: number): AdministrationError {
  const found = version === 0 ? "none is" : `version ${version} is`;
  return new AdministrationError(
    "wrong_state",
    `Version ${expected} is expected to be in force, but ${found}: look at what changed first`,
  );
}
