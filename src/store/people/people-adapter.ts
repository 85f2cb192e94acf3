// Gives better-auth our tables under the names of its models.

import type { BetterAuthOptions, DBAdapter } from "better-auth";
import { drizzleAdapter } from "better-auth/adapters/drizzle";
import type { Database } from "../servers/database.ts";
import { despiteDeadlocks } from "../servers/deadlocks.ts";
import { isDuplicate } from "../servers/sql-errors.ts";
import {
  people,
  personCredentials,
  sessions,
  twoFactors,
  verifications,
} from "../tables/people-schema.ts";

export function peopleAdapter({ db }: Database) {
  const open = drizzleAdapter(db, {
    provider: "pg",
    transaction: true,
    schema: {
      user: people,
      session: sessions,
      account: personCredentials,
      verification: verifications,
      twoFactor: twoFactors,
    },
  });
  return (options: BetterAuthOptions) => repeating(oneSecondFactor(open(options)));
}

/**
 * Two changes of a person lock sessions, proofs and the password in different orders: the change
 * that Postgres ends is repeated, and sees the rows of the other change.
 */
function repeating(adapter: DBAdapter): DBAdapter {
  return { ...adapter, transaction: (work) => despiteDeadlocks(() => adapter.transaction(work)) };
}

/**
 * Replaces a second factor that waits for its first code: better-auth looks for such a factor, and
 * then stores another one in its place, or as a new row. If two requests do so at once, neither
 * finds the other's factor, so the later factor replaces the earlier one here.
 */
function oneSecondFactor(adapter: DBAdapter): DBAdapter {
  const create: DBAdapter["create"] = async (row) => {
    try {
      return await adapter.create(row);
    } catch (error) {
      if (row.model !== "twoFactor" || !isDuplicate(error)) throw error;
      const { userId, ...update } = row.data as Record<string, unknown>;
      const where = [
        { field: "userId", value: String(userId) },
        { field: "verified", value: false },
      ];
      const replaced = await adapter.update<never>({ model: row.model, where, update });
      if (replaced === null) throw error;
      return replaced;
    }
  };
  return { ...adapter, create };
}
