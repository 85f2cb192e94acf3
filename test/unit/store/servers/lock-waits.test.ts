// Tests that the worker's log and the doctor name the session that keeps a flush waiting for a
// lock.

import { expect, test } from "bun:test";
import { readLockWaits } from "../../../../src/store/servers/lock-waits.ts";
import { timedJobs } from "../../../../workers/jobs.ts";
import { eventually } from "../../../support/eventually.ts";
import { cliOf } from "../../../support/product/run-cli.ts";
import { shared } from "../../../support/shared.ts";
import {
  DONE,
  hold,
  isAnyLockAwaited,
  openAccount,
  openWorld,
  usd,
} from "../../../support/stores/world.ts";

const world = await shared(openWorld());

/** Runs `meanwhile` while a session has the ledger locked and a charge waits to be flushed. */
async function whileLocked(meanwhile: (blocker: number) => Promise<void>): Promise<void> {
  const account = await openAccount(world, { paid: "5" });
  await (await hold(account, usd("1"))).settle(usd("1"), DONE);
  await world.database.sql.begin(async (tx) => {
    await tx`LOCK TABLE ledger_entries IN ACCESS EXCLUSIVE MODE`;
    const [row] = await tx`SELECT pg_backend_pid() AS pid, 'secret of ann@example.org' AS said`;
    await meanwhile(Number(row?.pid));
  });
}

test("the log of a worker names the session that has the lock", async () => {
  const lines: { readonly message: string; readonly reason: string }[] = [];
  const due: (() => void)[] = [];
  const unused = { metrics: {}, config: { journalKeepMs: 60_000 }, now: Date.now } as never;
  const { "log-flush": job } = timedJobs({
    ...(unused as object),
    accounts: world.accounts,
    database: world.database,
    log: {
      info: () => {},
      error: () => {},
      warn: (fields: { reason: string }, message: string) => lines.push({ ...fields, message }),
    },
    after: (_: number, run: () => void) => {
      due.push(run);
      return () => {};
    },
  } as never);
  let flushing: Promise<unknown> = Promise.resolve();
  await whileLocked(async (blocker) => {
    flushing = job.run();
    await eventually("the flush waits", () => isAnyLockAwaited(world));
    await eventually("the log names the lock", () => {
      due.shift()?.();
      return lines.some(({ message }) => message === "The ledger waits for a lock");
    });
    const reason = lines[0]?.reason ?? "";
    expect(reason).toContain(`Session ${blocker} (`);
    expect(reason).toContain("a lock on ledger_entries");
    expect(reason).toContain(`pg_terminate_backend(${blocker})`);
    expect(reason).not.toContain("ann@example.org");
  });
  await flushing;
});

test("a flush that waits only briefly reports nothing", async () => {
  expect(await readLockWaits(world.database, 0)).toEqual([]);
});

test("the doctor names that session too", async () => {
  let flushing: Promise<unknown> = Promise.resolve();
  await whileLocked(async (blocker) => {
    flushing = world.flush();
    await eventually("the flush has waited for seconds", async () => {
      return (await readLockWaits(world.database, 3)).length > 0;
    });
    const { out, code } = await (await cliOf(world))("doctor", "--json");
    expect(code).toBe(1);
    const { findings } = JSON.parse(out) as { findings: { check: string; text: string }[] };
    const text = findings.find(({ check }) => check === "locks")?.text;
    expect(text).toContain(`pg_terminate_backend(${blocker})`);
  });
  await flushing;
});
