// Revokes keys of the playground that have ended. A process that dies takes the only copy of its
// keys with it, so no other process could revoke them.

import type { Log } from "../src/core/log.ts";
import { revokeEndedKeys } from "../src/store/accounts/playground-keys.ts";
import type { Database } from "../src/store/servers/database.ts";

export interface PlaygroundKeysDeps {
  readonly database: Database;
  readonly accounts: { of(accountId: string, bucket: number): { configure(): Promise<void> } };
  /** The time of Postgres. */
  readonly now: () => Promise<number>;
  readonly log: Pick<Log, "warn">;
}

/** Returns the number of accounts whose keys were revoked. */
export async function revokePlaygroundKeys(deps: PlaygroundKeysDeps): Promise<number> {
  const revoked = await revokeEndedKeys(deps.database, new Date(await deps.now()));
  for (const { id, bucket } of revoked) {
    try {
      await deps.accounts.of(id, bucket).configure();
    } catch (error) {
      deps.log.warn({ accountId: id, err: error }, "A revoked key waits for the completer");
    }
  }
  return revoked.length;
}
