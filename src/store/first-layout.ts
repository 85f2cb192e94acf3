// Buckets that still have the first layout, which stored wallets as hashes. They are rebuilt once,
// before anything is served (actors/first-layout.ts, docs/upgrading.md).

import { fromUuid } from "../core/ids.ts";
import { StartError } from "../core/start-error.ts";
import { arrayText, type Database } from "./database.ts";
import { firstLayoutCursors } from "./schema.ts";

/** An arbitrary lock number: only one process at a time sets buckets up. */
export const RECOVERY_LOCK = 720_314_002;

/** The stores must be upgraded to the layout of this release first. */
export class UpgradeRequired extends StartError {
  override readonly name = "UpgradeRequired";

  constructor(buckets: number) {
    super(
      `${buckets} buckets in Redis still have the layout of an earlier release. Stop all ` +
        "processes of that release, then run `farebox migrate` (docs/upgrading.md).",
    );
  }
}

/** How far the journal of a bucket was flushed when the schema changed. */
export interface FirstLayoutBucket {
  readonly bucket: number;
  readonly epoch: number;
  /** The number of the last entry that was in Postgres. */
  readonly entry: number;
  /** Its id in the stream. */
  readonly streamId: string;
}

export class FirstLayoutRepository {
  constructor(readonly database: Database) {}

  /** The buckets that must still be rebuilt. */
  async buckets(): Promise<FirstLayoutBucket[]> {
    const rows = await this.database.sql`
      SELECT bucket, epoch, entry, stream_id FROM first_layout_cursors ORDER BY bucket`;
    return rows.map((row) => ({
      bucket: Number(row.bucket),
      epoch: Number(row.epoch),
      entry: Number(row.entry),
      streamId: String(row.stream_id),
    }));
  }

  /** Calls `run` while no other process rebuilds buckets or sets them up. */
  async runExclusively(run: () => Promise<void>): Promise<void> {
    await this.database.sql.begin(async (tx) => {
      await tx`SELECT pg_advisory_xact_lock(${RECOVERY_LOCK}::bigint)`;
      await run();
    });
  }

  /** The requests of messages that are not settled: their holds must be kept. */
  async unsettledMail(): Promise<ReadonlySet<string>> {
    const rows = await this.database.sql<{ request: string }[]>`
      SELECT request FROM mail_messages WHERE settled_at IS NULL`;
    return new Set(rows.map(({ request }) => fromUuid("request", request)));
  }

  /** Gives rebuilt buckets their next epoch, which starts an empty journal. */
  async finish(buckets: readonly Pick<FirstLayoutBucket, "bucket">[]): Promise<void> {
    const numbers = arrayText(buckets.map(({ bucket }) => bucket));
    await this.database.sql.begin(async (tx) => {
      await tx`
        UPDATE journal_cursors c SET epoch = f.epoch + 1, entry = 0, kept_entry = 0
        FROM first_layout_cursors f
        WHERE f.bucket = c.bucket AND c.bucket = ANY(${numbers}::text::smallint[])`;
      await tx`
        DELETE FROM first_layout_cursors WHERE bucket = ANY(${numbers}::text::smallint[])`;
    });
  }
}

/** @throws UpgradeRequired */
export async function checkUpgraded(queries: Pick<Database["db"], "$count">): Promise<void> {
  const buckets = await queries.$count(firstLayoutCursors);
  if (buckets > 0) throw new UpgradeRequired(buckets);
}
