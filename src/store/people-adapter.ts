// What better-auth works with: our tables under the names of its models.

import { drizzleAdapter } from "better-auth/adapters/drizzle";
import type { Database } from "./database.ts";
import { people, personCredentials, sessions, twoFactors, verifications } from "./people-schema.ts";

export function peopleAdapter({ db }: Database) {
  return drizzleAdapter(db, {
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
}
