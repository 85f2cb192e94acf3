// Tests a machine of Postgres that is gone silently, or does not answer. The system sends packets
// of a connection again for a quarter of an hour before it gives up.

import { expect, test } from "bun:test";
import type { Database, DatabaseOptions } from "../../../src/store/servers/database.ts";
import { isUnavailable } from "../../../src/store/servers/sql-errors.ts";
import { rejection } from "../../support/api/rejection.ts";
import { eventually } from "../../support/eventually.ts";
import { TcpProxy } from "../../support/fakes/tcp-proxy.ts";
import { shared } from "../../support/shared.ts";
import { createTestDatabase } from "../../support/stores/services.ts";
import { openedDatabase } from "../../support/stores/test-database.ts";

const SILENT_MS = 200;

const own = await shared(createTestDatabase());
const operator = await shared(open(own.url, {}));

function open(url: string, options: DatabaseOptions = { connectionsMax: 1, silentMs: SILENT_MS }) {
  return openedDatabase(url, options);
}

function answers({ sql }: Database): Promise<boolean> {
  return sql`SELECT 1`.then(
    () => true,
    () => false,
  );
}

test("a long statement of a worker is not given up, however long it is silent", async () => {
  await using database = open(own.url);
  const [row] = await database.sql`SELECT 'done' AS said, pg_sleep(${(5 * SILENT_MS) / 1_000})`;
  expect(row?.said).toBe("done");
});

test("a statement of a worker fails soon after another machine took over", async () => {
  await using proxy = new TcpProxy(Number(new URL(own.url).port));
  await using database = open(proxy.urlOf(own.url));
  const [row] = await database.sql`SELECT pg_backend_pid() AS pid`;
  const running = rejection(database.sql`SELECT pg_sleep(600)`);
  await eventually("it runs", async () => {
    const rows = await operator.sql`
      SELECT 1 FROM pg_stat_activity WHERE pid = ${row?.pid} AND state = 'active'`;
    return rows.length > 0;
  });
  proxy.freeze();
  await operator.sql`SELECT pg_terminate_backend(${row?.pid})`;
  expect(isUnavailable(await running)).toBeTrue();
  await eventually("the next one answers", () => answers(database));
});

test("a worker's statement fails if Postgres answers nowhere; the next one works", async () => {
  await using proxy = new TcpProxy(Number(new URL(own.url).port));
  await using database = open(proxy.urlOf(own.url));
  await database.sql`SELECT 1`;
  proxy.swallow();
  expect(isUnavailable(await rejection(database.sql`SELECT 1`))).toBeTrue();
  proxy.restore();
  await eventually("it answers", () => answers(database));
});

test("a worker's statement goes on if Postgres has no connection left for the check", async () => {
  const role = "few_connections";
  const url = new URL(own.url);
  await operator.sql.unsafe(
    `CREATE ROLE ${role} LOGIN CONNECTION LIMIT 1 PASSWORD '${url.password}'`,
  );
  url.username = role;
  await using database = open(url.href);
  const [row] = await database.sql`SELECT 'done' AS said, pg_sleep(${(5 * SILENT_MS) / 1_000})`;
  expect(row?.said).toBe("done");
});

test("statements that keep coming do not keep a silent connection", async () => {
  await using proxy = new TcpProxy(Number(new URL(own.url).port));
  await using database = open(proxy.urlOf(own.url), { connectionsMax: 1, timeoutMs: 100 });
  await database.sql`SELECT 1`;
  proxy.freeze();
  let isLost = false;
  const first = rejection(database.sql`SELECT 1`).then(() => {
    isLost = true;
  });
  const others: Promise<unknown>[] = [];
  const more = setInterval(() => {
    others.push(Promise.resolve(database.sql`SELECT 1`).catch(() => null));
  }, 50);
  try {
    await eventually("the first statement has failed", () => isLost, 4_000);
  } finally {
    clearInterval(more);
  }
  await first;
  await Promise.all(others);
});
