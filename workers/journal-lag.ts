// Measures the distance of Postgres from the journals: the number of waiting entries, and the age
// of the oldest one.

import { entriesBehind, type JournalPage, readJournal, writtenAtMs } from "../actors/journal.ts";
import type { RedisClient } from "../actors/scripts/script.ts";
import type { BucketCursor } from "../src/store/ledger/journal-cursors.ts";
import type { Ledger } from "../src/store/ledger/ledger.ts";

export interface JournalLagDeps {
  readonly redis: RedisClient;
  readonly ledger: Pick<Ledger, "cursors">;
  readonly now: () => number;
  /** Calls `run` after `delayMs`; the returned function cancels it. */
  readonly after: (delayMs: number, run: () => void) => () => void;
}

export interface Lag {
  readonly entries: number;
  readonly oldestSeconds: number;
}

/** Postgres may be the slow part: after this time, the cursors of the last reading are used. */
const CURSORS_MS_MAX = 2_000;

export class JournalLag {
  #cursors: readonly BucketCursor[] = [];
  /** The time since which this process has seen the next entry of each bucket wait. */
  readonly #waiting = new Map<number, { readonly place: string; readonly sinceMs: number }>();

  constructor(readonly deps: JournalLagDeps) {}

  /** Null until Postgres has answered for the first time. */
  async measure(): Promise<Lag | null> {
    await this.#readCursors();
    if (this.#cursors.length === 0) return null;
    const nowMs = this.deps.now();
    let entries = 0;
    let oldestMs = 0;
    const pages = await Promise.all(
      this.#cursors.map((cursor) =>
        readJournal(this.deps.redis, cursor.bucket, { ...cursor, count: 1 }),
      ),
    );
    for (const [index, cursor] of this.#cursors.entries()) {
      const page = pages[index];
      const behind = page === undefined ? 0 : entriesBehind(page, cursor);
      if (page === undefined || behind === 0) {
        this.#waiting.delete(cursor.bucket);
        continue;
      }
      entries += behind;
      oldestMs = Math.max(oldestMs, nowMs - this.#waitingSince(page, cursor, nowMs));
    }
    return { entries, oldestSeconds: oldestMs / 1_000 };
  }

  async #readCursors(): Promise<void> {
    const late = Promise.withResolvers<null>();
    const callOff = this.deps.after(CURSORS_MS_MAX, () => late.resolve(null));
    try {
      const cursors = await Promise.race([this.deps.ledger.cursors(), late.promise]);
      if (cursors !== null) this.#cursors = cursors;
    } catch {
      // If Postgres is away, the growing figures of the old cursors show it.
    } finally {
      callOff();
    }
  }

  #waitingSince(page: JournalPage, cursor: BucketCursor, nowMs: number): number {
    const place = `${cursor.epoch}-${cursor.entry}`;
    const seen = this.#waiting.get(cursor.bucket);
    const sinceMs = seen?.place === place ? seen.sinceMs : nowMs;
    if (sinceMs === nowMs) this.#waiting.set(cursor.bucket, { place, sinceMs });
    const entry = page.entries[0]?.entry ?? null;
    return Math.min(sinceMs, entry === null ? nowMs : writtenAtMs(entry, nowMs));
  }
}
