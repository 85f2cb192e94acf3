// Drops whole months of the request log. The ledger stays: it alone proves the balances.

import { findOverdueLease } from "../actors/inspection.ts";
import type { RedisClient } from "../actors/scripts/script.ts";
import { BUCKETS } from "../src/core/access/limits.ts";
import { DAY_MS } from "../src/core/durations.ts";
import { AdministrationError } from "../src/core/errors.ts";
import { addMonths, monthText, startOfMonth } from "../src/core/money/months.ts";
import type { RejectedEntries } from "../src/store/ledger/rejected-entries.ts";
import type { LogUpkeep } from "../src/store/usage/log-upkeep.ts";

export interface DropDeps {
  readonly upkeep: Pick<LogUpkeep, "dropMonths" | "hasUnsettledMail">;
  readonly rejected: Pick<RejectedEntries, "countOpen">;
  readonly redis: RedisClient;
  readonly now: () => number;
  /** Moves the journal to Postgres; returns the number of buckets that could not be moved. */
  readonly flush: () => Promise<number>;
}

export interface RetentionDeps extends DropDeps {
  /** The number of whole months that are kept besides this one; 0 keeps all. */
  readonly keepMonths: number;
}

/** No call lasts this long: after this time, only crashed calls of an ended month are open. */
const CALL_MS_MAX = DAY_MS;

/**
 * Drops the log of all months before `before`, such as `2026-08`, and returns these months. Refuses
 * while a call of these months may still be settled: its late log row would stand alone in a
 * dropped month, and look like lost data.
 * @throws AdministrationError
 */
export async function dropLogBefore(deps: DropDeps, before: string): Promise<readonly string[]> {
  const nowMs = deps.now();
  const end = startOfMonth(before);
  if (before > monthText(nowMs)) throw refused(`${monthText(nowMs)} is not over`);
  if (nowMs - end.getTime() < CALL_MS_MAX) {
    throw refused("the last of these months ended less than a day ago; calls may be open");
  }
  if ((await deps.flush()) > 0) throw refused("the journal could not be moved to Postgres");
  if ((await deps.rejected.countOpen()) > 0) {
    throw refused("there are rejected entries; see farebox journal rejected");
  }
  if (await deps.upkeep.hasUnsettledMail(end)) throw refused("mail of these months waits");
  const buckets = Array.from({ length: BUCKETS }, (_, bucket) => bucket);
  const overdue = await Promise.all(
    buckets.map((bucket) => findOverdueLease(deps.redis, bucket, end.getTime() + CALL_MS_MAX)),
  );
  if (overdue.some((lease) => lease !== null && lease.holds > 0)) {
    throw refused("calls of a process that died are not settled yet; a worker settles them");
  }
  return await deps.upkeep.dropMonths(before);
}

/** Drops the months that are older than the kept ones. */
export async function keepLogMonths(deps: RetentionDeps): Promise<readonly string[]> {
  if (deps.keepMonths === 0) return [];
  return await dropLogBefore(deps, addMonths(monthText(deps.now()), -deps.keepMonths));
}

function refused(why: string): AdministrationError {
  return new AdministrationError("wrong_state", `No month of the log was dropped: ${why}.`);
}
