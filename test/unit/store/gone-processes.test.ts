// Tests the transactions of a process that stops with its connections open: its machine lost power,
// or was cut off. Postgres by itself notices that only after hours.

import { expect, test } from "bun:test";
import { WalletRepository } from "../../../src/store/accounts/wallet-repository.ts";
import { alone, ImportedMeanwhile } from "../../../src/store/imports/imports.ts";
import { openChecked } from "../../../src/store/servers/pooler-check.ts";
import { isUnavailable } from "../../../src/store/servers/sql-errors.ts";
import { rejection } from "../../support/api/rejection.ts";
import { eventually } from "../../support/eventually.ts";
import { TcpProxy } from "../../support/fakes/tcp-proxy.ts";
import { shared } from "../../support/shared.ts";
import { createTestDatabase } from "../../support/stores/services.ts";

const ABANDONED_MS = 200;

const own = await shared(createTestDatabase());
const other = await shared(open(own.url));

async function open(databaseUrl: string, options: { readonly abandonedMs?: number } = {}) {
  const database = await openChecked({ databaseUrl, directDatabaseUrl: null }, options);
  return { ...database, [Symbol.asyncDispose]: () => database.close() };
}

test("a worker that is gone in the middle of a flush blocks no journal", async () => {
  await using proxy = new TcpProxy(Number(new URL(own.url).port));
  await using gone = await open(proxy.urlOf(own.url), { abandonedMs: ABANDONED_MS });
  const flush = rejection(
    gone.sql.begin(async (tx) => {
      await tx`SELECT bucket FROM journal_cursors FOR UPDATE`;
      proxy.swallow();
      await tx`SELECT 1`;
    }),
  );
  await eventually("another worker can lock all cursors", async () => {
    const rows = await other.sql`SELECT bucket FROM journal_cursors FOR UPDATE SKIP LOCKED`;
    return rows.length === 64;
  });
  expect(isUnavailable(await flush)).toBeTrue();
});

test("a process that is gone in the middle of a recovery blocks no other recovery", async () => {
  await using proxy = new TcpProxy(Number(new URL(own.url).port));
  await using gone = await open(proxy.urlOf(own.url), { abandonedMs: ABANDONED_MS });
  const nothing = { rebuild: () => Promise.resolve([]), writeDocuments: () => Promise.resolve() };
  const stopped = rejection(
    new WalletRepository(gone).recovery({
      ...nothing,
      rebuild: () => {
        proxy.swallow();
        return Promise.resolve([]);
      },
    }),
  );
  await new WalletRepository(other).recovery(nothing);
  expect(await stopped).toBeInstanceOf(Error);
});

test("a process that was paused within a transaction finds it ended, and goes on", async () => {
  await using paused = await open(own.url, { abandonedMs: ABANDONED_MS });
  const transaction = paused.sql.begin(async (tx) => {
    const [row] = await tx`SELECT pg_backend_pid() AS pid`;
    await eventually("Postgres has ended it", async () => {
      const rows = await other.sql`SELECT 1 FROM pg_stat_activity WHERE pid = ${row?.pid}`;
      return rows.length === 0;
    });
    await tx`SELECT 1`;
  });
  expect(isUnavailable(await rejection(transaction))).toBeTrue();
  expect([...(await paused.sql`SELECT 1 AS one`)]).toEqual([{ one: 1 }]);
});

test("an import may be silent for longer, and holds its lock meanwhile", async () => {
  await using importing = await open(own.url, { abandonedMs: ABANDONED_MS });
  const result = await alone(importing, async () => {
    await other.sql`SELECT pg_sleep(${(5 * ABANDONED_MS) / 1_000})`;
    const second = await rejection(alone(other, () => Promise.resolve("two at once")));
    expect(second).toBeInstanceOf(ImportedMeanwhile);
    return "imported";
  });
  expect(result).toBe("imported");
});

test("processes that serve have this limit", async () => {
  const [row] = await other.sql`SHOW idle_in_transaction_session_timeout`;
  expect(row?.idle_in_transaction_session_timeout).toBe("30s");
});
