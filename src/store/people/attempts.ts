// Counts attempts in fixed windows, such as signing in from one address. The counts are shared by
// all processes.

import { and, eq, gt, lt, or, sql } from "drizzle-orm";
import type { Database } from "../servers/database.ts";
import { attempts } from "../tables/people-schema.ts";

export interface Attempt {
  /** The action that is counted, and a hash of the person or address that it is counted for. */
  readonly key: string;
  readonly limit: number;
  readonly windowMs: number;
}

export class Attempts {
  constructor(readonly database: Database) {}

  /**
   * Counts one attempt for each entry, up to the first whose limit it exceeds: an attempt that is
   * refused to one address must not use up the limits of others. Returns 0 if no limit is exceeded,
   * otherwise the milliseconds until the window of that entry ends.
   */
  async count(entries: readonly Attempt[], nowMs: number): Promise<number> {
    for (const { key, limit, windowMs } of entries) {
      const { count, endsAt } = await this.#add(key, nowMs, windowMs);
      if (count > limit) return endsAt.getTime() - nowMs;
    }
    return 0;
  }

  /** Counts one attempt, which is refused by nothing. Returns how many its window has. */
  async add(key: string, nowMs: number, windowMs: number): Promise<number> {
    return (await this.#add(key, nowMs, windowMs)).count;
  }

  /** Starts a new window of this key, with nothing counted. */
  async begin(key: string, nowMs: number, windowMs: number): Promise<void> {
    const window = { count: 0, endsAt: new Date(nowMs + windowMs) };
    await this.database.db
      .insert(attempts)
      .values({ key, ...window })
      .onConflictDoUpdate({ target: attempts.key, set: window });
  }

  /** True while a window of this key lasts. */
  async has(key: string, nowMs: number): Promise<boolean> {
    const found = await this.database.db
      .select({ key: attempts.key })
      .from(attempts)
      .where(and(eq(attempts.key, key), gt(attempts.endsAt, new Date(nowMs))));
    return found.length > 0;
  }

  async #add(key: string, nowMs: number, windowMs: number) {
    const now = new Date(nowMs);
    const endsAt = new Date(nowMs + windowMs);
    const { db } = this.database;
    const isOver = lt(attempts.endsAt, now);
    // A window that began by a clock far ahead does not count either: it would last for too long.
    const isNew = or(isOver, gt(attempts.endsAt, new Date(nowMs + 2 * windowMs)));
    const [row] = await db
      .insert(attempts)
      .values({ key, count: 1, endsAt })
      .onConflictDoUpdate({
        target: attempts.key,
        set: {
          count: sql`CASE WHEN ${isNew} THEN 1 ELSE ${attempts.count} + 1 END`,
          endsAt: sql`CASE WHEN ${isNew} THEN excluded.ends_at ELSE ${attempts.endsAt} END`,
        },
      })
      .returning();
    if (row === undefined) throw new Error("An attempt was not counted");
    // A new window is the moment to forget windows that are over.
    if (row.count === 1) await db.delete(attempts).where(isOver);
    return row;
  }
}
