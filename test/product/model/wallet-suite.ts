// Compares the wallet with its model in random runs of everything that can happen, many at once.
// The seed is printed. MODEL_SEED repeats a seed; MODEL_RUNS sets the number of runs.

import { expect, test } from "bun:test";
import { repairUsage } from "../../../src/store/usage/usage-repair.ts";
import type { LedgerRow } from "../../support/stores/ledger-checks.ts";
import { suiteWorld } from "../../support/stores/suite-world.ts";
import { openWorld, type World } from "../../support/stores/world.ts";
import { randomRuns } from "./commands.ts";
import { faultOfRows, type ModelRow } from "./model-ledger.ts";
import { type Failure, ModelRun } from "./model-run.ts";

const COMMANDS = 100;
const seed = Number(process.env.MODEL_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** The given number of runs, of 100 commands each; `MODEL_RUNS` of them may take as much longer. */
export function walletModelSuite(usualRuns: number, usualTimeoutMs: number): void {
  const runs = Number(process.env.MODEL_RUNS ?? usualRuns);
  const timeoutMs = usualTimeoutMs * Math.max(1, runs / usualRuns);
  const world = suiteWorld(() => openWorld());

  test(
    `a wallet equals its model after every command (seed ${seed})`,
    async () => {
      console.info(`model test: seed ${seed}; MODEL_SEED=${seed} runs it again`);
      const model = new ModelRun(world);
      const failure = await model.run(randomRuns(seed, runs, COMMANDS));
      if (failure !== null) throw await explained(model, failure);
      expect(model.finished).toHaveLength(runs);
      await expectBooksAgree(world, model);
    },
    timeoutMs,
  );
}

async function explained(model: ModelRun, failure: Failure): Promise<Error> {
  const small = await model.shrink(failure);
  const commands = small.commands.map((command) => JSON.stringify(command)).join("\n");
  const what = `Run ${small.index} of seed ${seed} (account kind ${small.kind}) fails by`;
  return new Error(`${what}\n${commands}\n${small.error}`, { cause: small.error });
}

/** Checks Postgres after the last flush: ledgers, months and log of every account of the test. */
async function expectBooksAgree(world: World, model: ModelRun): Promise<void> {
  const { sql } = world.database;
  expect(await repairUsage(world.database, null)).toBe(0);
  const rows = await sql<LedgerRow[]>`SELECT * FROM ledger_entries ORDER BY account, seq`;
  const ledgers = Map.groupBy(rows, (row) => row.account);
  const months = await sql`SELECT account, month, sum(spent)::text AS spent FROM month_spend
    GROUP BY account, month`;
  const spentOf = Map.groupBy(months, (row) => row.account as bigint);
  for (const { account, lane } of model.finished) {
    const ledger = ledgers.get(account.number) ?? [];
    const { rows: expectedRows, spent } = lane.model.ledger;
    expect(faultOfRows(expectedRows)).toBeNull();
    expect(ledger.map(modelled)).toEqual(expectedRows.map(({ request: _, ...row }) => row));
    const expected = [...spent].filter(([field]) => !field.includes(":"));
    const booked = (spentOf.get(account.number) ?? []).map((row) => [
      String(row.month),
      BigInt(row.spent),
    ]);
    expect(booked.sort()).toEqual(expected.sort());
  }
  const [faults] = await sql`
    SELECT count(*) - count(DISTINCT request) AS repeated,
      (SELECT sum(paid_delta + free_delta) FROM ledger_entries
        WHERE kind IN ('charge', 'late_charge'))::text AS paid,
      (-sum(cost))::text AS logged FROM request_log`;
  expect([faults?.repeated, faults?.logged]).toEqual([0n, faults?.paid]);
}

/** A row of Postgres in the form of the model. */
function modelled(row: LedgerRow): Omit<ModelRow, "request"> {
  return {
    seq: Number(row.seq),
    kind: row.kind,
    paidDelta: row.paid_delta,
    freeDelta: row.free_delta,
    paidAfter: row.paid_after,
    freeAfter: row.free_after,
    owedAfter: row.owed_after,
    month: row.month,
    operation: row.operation,
  };
}
