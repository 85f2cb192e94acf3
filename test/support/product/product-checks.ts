// Checks the books after faults, whatever process died.

import { lastWords } from "../../../scripts/local/processes.mjs";
import { LEASE_MS } from "../../../src/core/access/limits.ts";
import { toUuid } from "../../../src/core/ids.ts";
import { describe as describeDifference } from "../../../src/core/journal/audit-finding.ts";
import { sweepExpired } from "../../../workers/sweep.ts";
import { eventually } from "../eventually.ts";
import type { Product } from "./product.ts";
import type { Told } from "./product-load.ts";

/** Fails a proof with `what()` unless `isSo`. */
export function must(isSo: boolean, what: () => string): void {
  if (!isSo) throw new Error(what());
}

/** Waits until no live process holds money for a call. */
export async function untilCallsEnd({ apis }: Product): Promise<void> {
  await eventually(
    "every call was settled",
    async () => {
      const open = await Promise.all(
        apis.filter((api) => api.isRunning).map((api) => api.openCalls()),
      );
      return open.every((calls) => calls === 0);
    },
    30_000,
  );
}

/** Resolves the holds of dead processes as the sweep will do when their leases end. */
export async function sweepDead({ operator }: Product): Promise<number> {
  const { scripts } = operator.actors;
  const later = Date.now() + LEASE_MS + 1_000;
  const { expired } = await sweepExpired({ scripts, scriptTime: () => later });
  return expired;
}

export interface Proof {
  readonly served: number;
  readonly brokenOff: number;
  readonly unknown: number;
  readonly swept: number;
  /** The charges of each call, by its request. */
  readonly charges: ReadonlyMap<string, Charge>;
}

export interface Expected {
  /** 2 if a hold may have been swept and its call settled later; by default 1. */
  readonly chargesMax?: number;
}

/** Fails if a process of the product has ended by itself, and shows its last lines. */
export function mustRun({ programs }: Product): void {
  for (const { hasDied, options } of programs) {
    must(!hasDied, () => `${options.name} has ended:\n${lastWords(options.logFile)}`);
  }
}

/** Proves that no process has died, and that the books match the answers of the callers. */
export async function proveBooks(
  product: Product,
  told: readonly Told[],
  { chargesMax = 1 }: Expected = {},
): Promise<Proof> {
  mustRun(product);
  await untilCallsEnd(product);
  const swept = await sweepDead(product);
  const report = await product.audit();
  const { difference, openHolds } = report;
  must(difference === null, () => `audit: ${difference && describeDifference(difference)}`);
  must(openHolds === 0, () => `${openHolds} holds are open`);
  const charges = await chargesOf(product);
  const unseen = new Set(charges.keys());
  for (const one of told) {
    if (one.requestId === null) continue;
    const request = toUuid(one.requestId);
    unseen.delete(request);
    const is = charges.get(request) ?? { times: 0, amount: 0n };
    must(is.times <= chargesMax, () => `${one.requestId} was charged ${is.times} times`);
    checkCharge(one, is);
  }
  checkUnseen(told, charges, unseen);
  return {
    served: told.filter(({ status, cost }) => status === 200 && cost !== null).length,
    brokenOff: told.filter(({ status, cost }) => status === 200 && cost === null).length,
    unknown: told.filter(({ requestId }) => requestId === null).length,
    swept,
    charges,
  };
}

export interface Charge {
  readonly times: number;
  readonly amount: bigint;
}

function checkCharge(told: Told, is: Charge): void {
  const { requestId, status, cost, costMax } = told;
  if (status === 200 && cost !== null) {
    must(is.amount === cost, () => `${requestId} was told ${cost} and charged ${is.amount}`);
  } else if (status === 200) {
    must(is.amount <= costMax, () => `${requestId} got ${costMax}, was charged ${is.amount}`);
  } else {
    must(is.amount === 0n, () => `${requestId} ended in ${status}, was charged ${is.amount}`);
  }
}

/**
 * A call whose caller got no answer may have been charged; every other charge must belong to an
 * answered call.
 */
function checkUnseen(
  told: readonly Told[],
  charges: ReadonlyMap<string, Charge>,
  unseen: ReadonlySet<string>,
): void {
  const unknown = told.filter(({ requestId }) => requestId === null);
  must(unseen.size <= unknown.length, () => {
    return `${unseen.size} charges have no call, and ${unknown.length} calls no answer`;
  });
  const most = unknown.reduce((max, { costMax }) => (costMax > max ? costMax : max), 0n);
  for (const request of unseen) {
    const amount = charges.get(request)?.amount ?? 0n;
    must(amount <= most, () => `${request} was charged ${amount}, and held ${most} at most`);
  }
}

/** The charges of each call, by its request. */
export async function chargesOf({ operator }: Product): Promise<Map<string, Charge>> {
  const rows = await operator.database.sql`
    SELECT request::text, count(*)::int AS times, (-sum(paid_delta + free_delta))::text AS amount
    FROM ledger_entries WHERE request IS NOT NULL GROUP BY request`;
  return new Map(
    rows.map(({ request, times, amount }) => [request, { times, amount: BigInt(amount) }]),
  );
}

/** The calls whose charges a restore of Postgres did not give back. */
export async function notGivenBack(product: Product, told: readonly Told[]): Promise<Told[]> {
  await product.booked();
  const charges = await chargesOf(product);
  return told.filter(({ status, requestId }) => {
    return status !== 200 || requestId === null || charges.has(toUuid(requestId));
  });
}

/** The epochs of all buckets; a raised one means that a bucket was rebuilt. */
export async function epochsOf({ operator }: Product): Promise<string> {
  const rows = await operator.database.sql`SELECT epoch FROM journal_cursors ORDER BY bucket`;
  return rows.map(({ epoch }) => epoch).join(" ");
}
