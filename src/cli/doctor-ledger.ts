// Checks of `farebox doctor` on the way of money from Redis to the ledger.

import { readJournal } from "../../actors/journal.ts";
import { JournalLag } from "../../workers/journal-lag.ts";
import { reasonToWait } from "../../workers/lost-epochs.ts";
import { dollars } from "../core/money/money.ts";
import type { BucketCursor } from "../store/ledger/journal-cursors.ts";
import { JournalGap } from "../store/ledger/journal-cursors.ts";
import { Ledger } from "../store/ledger/ledger.ts";
import { LostOperations, lostOperations } from "../store/ledger/lost-operations.ts";
import { RejectedEntries } from "../store/ledger/rejected-entries.ts";
import { lockText, readLockWaits } from "../store/servers/lock-waits.ts";
import { type CheckContext, type Finding, ok, problem, warning } from "./doctor-finding.ts";
import { OPERATION_WAITS_MS, openOperationsOf } from "./operation-commands.ts";
import type { Stores } from "./stores.ts";

const LAG_SECONDS_MAX = 10;
const LOCK_SECONDS = 3;
const ENTRIES_READ = 1_000;
const NO_TIMER = () => () => {};

/** Reports how far Postgres is behind the journals, and the reason. */
export async function checkJournal({ stores, now }: CheckContext): Promise<Finding[]> {
  const { redis } = stores.actors.deps;
  const ledger = new Ledger(stores.database);
  const lag = await new JournalLag({ redis, ledger, now, after: NO_TIMER }).measure();
  const rejected = await new RejectedEntries(stores.database).countOpen();
  const findings = await waitingBuckets(stores, await ledger.cursors());
  if (rejected > 0) {
    findings.push(warning(`${rejected} rejected entries: see farebox journal rejected`));
  }
  if (lag === null || lag.oldestSeconds <= LAG_SECONDS_MAX) {
    return [...findings, ok(`${lag?.entries ?? 0} entries wait`)];
  }
  const seconds = Math.round(lag.oldestSeconds);
  return [
    ...findings,
    problem(
      `${lag.entries} entries wait, the oldest for ${seconds} s: does a worker run? Its log says ` +
        "what stops the flush",
    ),
  ];
}

/** Buckets whose journal is not flushed until the operator has looked at it. */
async function waitingBuckets(
  stores: Stores,
  cursors: readonly BucketCursor[],
): Promise<Finding[]> {
  const faults = await Promise.all(cursors.map((cursor) => faultOf(stores, cursor)));
  return faults.flatMap((fault) =>
    fault === null ? [] : [problem(`${fault.message}: see docs/runbook.md`)],
  );
}

async function faultOf({ actors, database }: Stores, cursor: BucketCursor): Promise<Error | null> {
  const { redis } = actors.deps;
  const { bucket } = cursor;
  const page = await readJournal(redis, bucket, { ...cursor, count: ENTRIES_READ });
  const epoch = page.bucket?.epoch ?? 0;
  if (epoch < cursor.epoch) return null;
  if (epoch > cursor.epoch) {
    const reason = await reasonToWait(redis, database, { bucket, epoch });
    return reason instanceof Error ? reason : null;
  }
  const [first] = page.entries;
  if (first !== undefined && first.number > cursor.entry) {
    return new JournalGap(bucket, cursor.entry, first.number);
  }
  const lost = await lostOperations(database.sql, page.entries);
  return lost.length === 0 ? null : new LostOperations(bucket, lost);
}

/** Reports operations that Redis has not applied, and operations that are set aside. */
export async function checkOperations({ stores }: CheckContext): Promise<Finding[]> {
  const found = await openOperationsOf(stores);
  if (found.length === 0) return [ok("all are applied")];
  return found.map(({ accountId, number, kind, amount, isSetAside }) => {
    const operation = `operation ${number} of ${accountId} (${kind} of ${dollars(amount)})`;
    if (isSetAside) return warning(`${operation} is set aside: farebox operation book-again`);
    return problem(
      `${operation} is not in the ledger after ${OPERATION_WAITS_MS / 1_000} s: does a worker ` +
        "run? If its log says that Redis can never apply it: farebox operation set-aside",
    );
  });
}

/** Reports sessions of Postgres that wait for a lock of another session. */
export async function checkLocks({ stores }: CheckContext): Promise<Finding[]> {
  const waits = await readLockWaits(stores.database, LOCK_SECONDS);
  return waits.length === 0 ? [ok("nothing waits")] : waits.map((wait) => problem(lockText(wait)));
}
