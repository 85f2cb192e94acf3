// Logs the session of Postgres that holds a lock for which a flush waits.

import type { Clock } from "../src/core/clock.ts";
import type { Log } from "../src/core/log.ts";
import type { Database } from "../src/store/servers/database.ts";
import { lockText, readLockWaits } from "../src/store/servers/lock-waits.ts";

export interface LockWatchDeps {
  readonly database: Database;
  readonly log: Pick<Log, "warn">;
  readonly after: Clock["after"];
}

/** A flush that takes longer may wait for a lock. */
const LOOK_MS = 5_000;
const WAITED_SECONDS = 2;

/** Returns the result of `work`. While `work` takes long, logs the sessions that block it. */
export async function watchLocks<Value>(
  deps: LockWatchDeps,
  work: () => Promise<Value>,
): Promise<Value> {
  let cancel = () => {};
  const watch = () => {
    cancel = deps.after(LOOK_MS, () => {
      void logWaits(deps);
      watch();
    });
  };
  watch();
  try {
    return await work();
  } finally {
    cancel();
  }
}

/** Logs each wait for a lock. If Postgres is away, the flush itself reports that. */
async function logWaits({ database, log }: LockWatchDeps): Promise<void> {
  const waits = await readLockWaits(database, WAITED_SECONDS).catch(() => []);
  for (const wait of waits) log.warn({ reason: lockText(wait) }, "The ledger waits for a lock");
}
