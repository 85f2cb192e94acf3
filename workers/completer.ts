// Completes changes that a process left unfinished between Postgres and Redis: access documents and
// operations that Redis lacks, and the expiry of free credit on accounts without calls.

import { applyChanges, type ChangedAccount } from "../actors/changed-account.ts";
import type { Log } from "../src/core/log.ts";
import type { AccountRef } from "../src/store/accounts/accounts.ts";
import type { ExpiredFree, PendingWork } from "../src/store/accounts/pending-work.ts";
import { isRefusedByScript } from "../src/store/servers/redis-errors.ts";

/** The part of an account's actor that this worker uses. */
export interface PendingAccount extends ChangedAccount {
  expireFree(byMs: number): Promise<ExpiredFree>;
}

export interface CompleterDeps {
  readonly pendingWork: PendingWork;
  readonly accounts: { of(accountId: string, bucket: number): PendingAccount };
  readonly log: Pick<Log, "error">;
  /** The time of Postgres: one wrong clock must not end the free credit of an account. */
  readonly now: () => Promise<number>;
  /** Operations younger than this are left to the process that recorded them. */
  readonly graceMs: number;
}

export interface Completed {
  readonly applied: number;
  readonly expired: number;
  readonly failed: number;
}

/**
 * Gives Redis everything that Postgres has. If one account fails, the others are still completed.
 */
export async function completeChanges(deps: CompleterDeps): Promise<Completed> {
  const nowMs = await deps.now();
  const unapplied = await deps.pendingWork.unapplied(new Date(nowMs - deps.graceMs));
  const applied = await forEach(deps, unapplied, applyChanges);
  const over = await deps.pendingWork.withExpiredFreeCredit(new Date(nowMs));
  const expired = await forEach(deps, over, async (wallet, accountRef) => {
    await deps.pendingWork.endFreeCredit(accountRef, await wallet.expireFree(nowMs));
  });
  const failed = unapplied.length - applied + (over.length - expired);
  return { applied, expired, failed };
}

/** Returns the number of accounts completed. */
async function forEach(
  deps: CompleterDeps,
  refs: readonly AccountRef[],
  run: (wallet: PendingAccount, accountRef: AccountRef) => Promise<void>,
): Promise<number> {
  let done = 0;
  for (const accountRef of refs) {
    const { id, bucket } = accountRef;
    try {
      await run(deps.accounts.of(id, bucket), accountRef);
      done += 1;
    } catch (error) {
      if (isRefusedByScript(error)) {
        deps.log.error({ accountId: id }, "Redis can never apply an operation: set it aside");
      } else {
        deps.log.error({ accountId: id, err: error }, "A change could not be given to Redis");
      }
    }
  }
  return done;
}
