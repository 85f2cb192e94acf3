// Provokes the refusals of calls by their runs.

import { changeOwnRun } from "../../../src/accounts/runs.ts";
import { OPEN_RUNS_MAX } from "../../../src/core/access/runs.ts";
import type { TestAccount } from "../stores/accounts.ts";
import { chatBody } from "./api-world.ts";
import type { ErrorDoor } from "./error-door.ts";

const send = (door: ErrorDoor, account: TestAccount, run: string) =>
  door.send(account, { headers: { "x-svc-run": run } });

/** An account with a run, which a chat call has begun. */
async function begun(door: ErrorDoor): Promise<TestAccount> {
  const account = await door.open();
  const headers = { "x-svc-run": "one; max-usd=2" };
  await (await door.api.postTo(door.chatPath, account, chatBody(), { headers })).text();
  return account;
}

/** Opens as many runs as an account may have, as copies of its first one. */
async function openMany(door: ErrorDoor, { row }: TestAccount): Promise<void> {
  await door.api.parts.stores.database.sql`
    INSERT INTO runs (account, id, key, amount, ends_at)
    SELECT account, 'run-' || n, key, amount, ends_at
    FROM runs, generate_series(1, ${OPEN_RUNS_MAX}) AS n
    WHERE account = ${row.number} AND id = 'one'`;
}

/** Gives an ended run more time, beside as many open ones as there may be. */
async function prolongAmongMany(door: ErrorDoor, account: TestAccount): Promise<Response> {
  const { sql } = door.api.parts.stores.database;
  await sql`
    UPDATE runs SET ends_at = now() WHERE account = ${account.row.number} AND id = 'one'`;
  return await door.send(account, { params: { id: "one" }, text: JSON.stringify({ ttl: 600 }) });
}

/** By error code. */
export const runRefusals = {
  run_budget_exceeded: async (door: ErrorDoor) =>
    await send(door, await door.open(), "one; max-usd=0.000001"),
  run_paused: async (door: ErrorDoor) => {
    const account = await begun(door);
    const { actors, database } = door.api.parts.stores;
    const deps = { actors, database, onDelayed: () => {} };
    await changeOwnRun(deps, account.row, { run: "one", change: { isPaused: true } });
    return await send(door, account, "one");
  },
  run_ended: async (door: ErrorDoor) => {
    const account = await begun(door);
    const { sql } = door.api.parts.stores.database;
    await sql`UPDATE runs SET ends_at = now() WHERE account = ${account.row.number}`;
    await sql`UPDATE accounts SET version = version + 1 WHERE number = ${account.row.number}`;
    await account.actor.configure();
    return await send(door, account, "one");
  },
  too_many_budgets: async (door: ErrorDoor) => {
    const account = await begun(door);
    await openMany(door, account);
    if (!door.endpoint.isBilled) return await prolongAmongMany(door, account);
    return await send(door, account, "another; max-usd=2");
  },
};
