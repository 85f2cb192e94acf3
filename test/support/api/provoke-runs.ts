// Provokes the refusals of calls by their runs.

import { changeOwnRun } from "../../../src/accounts/runs.ts";
import { OPEN_RUNS_MAX } from "../../../src/core/access/runs.ts";
import type { TestAccount } from "../stores/accounts.ts";
import { type ApiWorld, chatBody } from "./api-world.ts";

/** By error code, for a chat endpoint and accounts that can pay. */
export function runRefusals(
  api: ApiWorld,
  { path, open }: { readonly path: string; readonly open: () => Promise<TestAccount> },
) {
  const send = (account: TestAccount, run: string) =>
    api.postTo(path, account, chatBody(), { headers: { "x-svc-run": run } });
  const begun = async () => {
    const account = await open();
    await (await send(account, "one; max-usd=2")).text();
    return account;
  };
  return {
    run_budget_exceeded: async () => await send(await open(), "one; max-usd=0.000001"),
    run_paused: async () => {
      const account = await begun();
      const { actors, database } = api.parts.stores;
      const deps = { actors, database, onDelayed: () => {} };
      await changeOwnRun(deps, account.row, { run: "one", change: { isPaused: true } });
      return await send(account, "one");
    },
    run_ended: async () => {
      const account = await begun();
      const { sql } = api.parts.stores.database;
      await sql`UPDATE runs SET ends_at = now() WHERE account = ${account.row.number}`;
      await sql`UPDATE accounts SET version = version + 1 WHERE number = ${account.row.number}`;
      await account.actor.configure();
      return await send(account, "one");
    },
    too_many_budgets: async () => {
      const account = await begun();
      await api.parts.stores.database.sql`
        INSERT INTO runs (account, id, key, amount, ends_at)
        SELECT account, 'run-' || n, key, amount, ends_at
        FROM runs, generate_series(2, ${OPEN_RUNS_MAX}) AS n
        WHERE account = ${account.row.number}`;
      return await send(account, "another; max-usd=2");
    },
  };
}
