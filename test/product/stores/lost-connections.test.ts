// Tests statements whose connection to Postgres is lost, and the choice between several servers.
// The driver is changed for this (D-418).

import { expect, test } from "bun:test";
import { createServer } from "node:net";
import type { Row } from "postgres";
import type { Database } from "../../../src/store/servers/database.ts";
import { codeOf, isUnavailable } from "../../../src/store/servers/sql-errors.ts";
import { type ChannelListener, Subscription } from "../../../src/store/servers/subscription.ts";
import { rejection } from "../../support/api/rejection.ts";
import { eventLoopTurns, eventually } from "../../support/eventually.ts";
import { REPLICATING, startStandby } from "../../support/fakes/standby.ts";
import { TcpProxy } from "../../support/fakes/tcp-proxy.ts";
import { shared } from "../../support/shared.ts";
import { startPrivatePostgres } from "../../support/stores/services.ts";
import { openedDatabase } from "../../support/stores/test-database.ts";

const primary = await shared(startPrivatePostgres({ settings: REPLICATING, durable: false }));
const operator = await shared(openedDatabase(primary.url));

/** The same database at several addresses, its own address first. */
function severalHosts(url: string, ...more: readonly string[]): string {
  const { host } = new URL(url);
  return url.replace(host, [host, ...more].join());
}

/** The first row of a statement, which is sent again if its connection turns out to be lost. */
async function answer(send: () => PromiseLike<readonly Row[]>): Promise<Row | undefined> {
  try {
    return (await send())[0];
  } catch (error) {
    if (isUnavailable(error)) return await answer(send);
    throw error;
  }
}

test("no statement of a transaction is sent on the connection that replaced its own", async () => {
  await operator.sql`CREATE TABLE written (number int)`;
  await using database = openedDatabase(primary.url);
  const { promise: isReopened, resolve: reopened } = Promise.withResolvers<void>();
  const lost = Promise.withResolvers<unknown>();
  const transaction = rejection(
    database.sql.begin(async (tx) => {
      const [own] = await tx`SELECT pg_backend_pid() AS pid`;
      await operator.sql`SELECT pg_terminate_backend(${own?.pid})`;
      await isReopened;
      lost.resolve(await rejection(tx`INSERT INTO written VALUES (1)`));
    }),
  );
  expect(isUnavailable(await transaction)).toBeTrue();
  await database.sql.begin(async (other) => {
    await other`INSERT INTO written VALUES (2)`;
    reopened();
    expect(isUnavailable(await lost.promise)).toBeTrue();
  });
  expect([...(await operator.sql`SELECT number FROM written`)]).toEqual([{ number: 2 }]);
});

test("a pool goes on after transactions that lose their connections", async () => {
  await using database = openedDatabase(primary.url, { connectionsMax: 2 });
  for (let round = 0; round < 20; round += 1) {
    const failed = Array.from({ length: 2 }, () => {
      return rejection(
        database.sql.begin((tx) => tx`SELECT pg_terminate_backend(pg_backend_pid())`),
      );
    });
    await Promise.all(failed);
    const row = await answer(() => database.sql`SELECT ${round}::int AS round`);
    expect(row?.round).toBe(round);
  }
});

test("a connection that ends while it is opened fails only its own statement", async () => {
  await using proxy = new TcpProxy(primary.port);
  const lost: unknown[] = [];
  const onLost = (error: unknown) => void lost.push(error);
  process.on("unhandledRejection", onLost);
  // From the first byte of the greeting to the statement: each reply is the last one once.
  for (let replies = 1; replies <= 12; replies += 1) {
    await using database = openedDatabase(proxy.urlOf(primary.url));
    proxy.hangUpAfter(replies);
    await database.sql`SELECT 1`.then(
      () => null,
      (error: unknown) => expect(isUnavailable(error)).toBeTrue(),
    );
  }
  await eventLoopTurns(5);
  process.off("unhandledRejection", onLost);
  expect(lost).toEqual([]);
  // A pool that waits for such a connection until its time limit ends after five seconds.
});

test("the first statement on a connection that breaks gets no other's answer", async () => {
  await using proxy = new TcpProxy(primary.port);
  const url = proxy.urlOf(primary.url);
  await using database = openedDatabase(severalHosts(url, new URL(url).host));
  const first = rejection(database.sql`SELECT pg_sleep(60), 'first' AS name`);
  await eventually("it runs", async () => {
    const rows = await operator.sql`
      SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep(60)%'
        AND pid <> pg_backend_pid()`;
    return rows.length > 0;
  });
  proxy.hangUp();
  expect(isUnavailable(await first)).toBeTrue();
  const row = await answer(() => database.sql`SELECT 'second' AS name`);
  expect(row?.name).toBe("second");
});

test("the error of a server that broke is not the answer of the next", async () => {
  await using proxy = new TcpProxy(primary.port);
  const { host } = new URL(primary.url);
  await using database = openedDatabase(severalHosts(proxy.urlOf(primary.url), host));
  proxy.answerOnce("pg_type", errorReply("57P01"), true);
  const [row] = await database.sql`SELECT 'second' AS name`;
  expect([row?.name, proxy.connections]).toEqual(["second", 1]);
});

test("arrays are lists even if their types could not be read at first", async () => {
  await using proxy = new TcpProxy(primary.port);
  await using database = openedDatabase(proxy.urlOf(primary.url));
  const ready = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
  proxy.answerOnce("pg_type", Buffer.concat([errorReply("57014"), ready]), false);
  const row = await answer(() => database.sql`SELECT ARRAY['a', 'b'] AS list`);
  expect(row?.list).toEqual(["a", "b"]);
});

test("a removed listener is not called, even after the connection was lost", async () => {
  await using proxy = new TcpProxy(primary.port);
  await using database = openedDatabase(proxy.urlOf(primary.url));
  let calls = 0;
  let others = 0;
  const end = await database.listen(
    "changes",
    heard(() => (calls += 1)),
  );
  await database.listen(
    "changes",
    heard(() => (others += 1)),
  );
  const before = calls;
  proxy.hangUp();
  await eventually("it listens again", () => calls > before && others > before);
  await end();
  const known = [calls, others];
  await operator.sql`NOTIFY changes`;
  await eventually("the other is called", () => others > (known[1] ?? 0));
  expect(calls).toBe(known[0] ?? -1);
});

test("notifications that were refused after a lost connection are requested again", async () => {
  await using proxy = new TcpProxy(primary.port);
  await using database = openedDatabase(proxy.urlOf(primary.url));
  let calls = 0;
  const refusals: string[] = [];
  const onRefused = (error: unknown) => void refusals.push(codeOf(error));
  await database.listen("changes", { onChange: () => (calls += 1), onRefused });
  // As a standby answers, which then keeps the connection.
  const ready = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
  proxy.answerOnce("LISTEN", Buffer.concat([errorReply("25006"), ready]), false);
  const first = calls;
  proxy.hangUp();
  await eventually("it listens again", () => calls > first);
  expect(refusals).toContain("25006");
  const before = calls;
  await operator.sql`NOTIFY changes`;
  await eventually("a notification is heard", () => calls > before);
});

test("refused notifications are requested after growing waits, at most ten seconds", async () => {
  await using proxy = new TcpProxy(primary.port);
  let calls = 0;
  let refusals = 0;
  const pauses: number[] = [];
  const listener = { onChange: () => (calls += 1), onRefused: () => (refusals += 1) };
  const subscription = new Subscription(
    proxy.urlOf(primary.url),
    { backoff: () => 0 },
    {
      channel: "changes",
      listener,
      async pause(ms) {
        pauses.push(ms);
        if (pauses.length === 9) proxy.restore();
      },
    },
  );
  await subscription.start();
  const before = calls;
  proxy.hangUpAfter(0);
  proxy.hangUp();
  await eventually("it listens again", () => calls > before);
  expect(pauses).toEqual([100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]);
  expect(refusals).toBe(9);
  await subscription.end();
});

function heard(onChange: () => void): ChannelListener {
  return { onChange, onRefused: () => {} };
}

/** An error as Postgres sends it. */
function errorReply(code: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0Mit ends\0\0`, "latin1");
  const head = Buffer.alloc(5);
  head.write("E");
  head.writeUInt32BE(4 + fields.length, 1);
  return Buffer.concat([head, fields]);
}

test("Postgres is used soon after it is back, however often it was tried meanwhile", async () => {
  await using own = await startPrivatePostgres({ durable: false });
  await using database = openedDatabase(own.url, { connectionsMax: 8 });
  await database.sql`SELECT 1`;
  await own.kill9();
  // The process of an open connection may live a moment longer than its server, and answer.
  await eventually("the open connection has ended", async () => {
    return await database.sql`SELECT 1`.then(
      () => false,
      () => true,
    );
  });
  for (let round = 0; round < 5; round += 1) {
    const tries = Array.from({ length: 8 }, () => rejection(database.sql`SELECT 1`));
    for (const error of await Promise.all(tries)) expect(isUnavailable(error)).toBeTrue();
  }
  await own.start();
  await eventually("it answers", async () => {
    return await database.sql`SELECT 1`.then(
      () => true,
      () => false,
    );
  });
});

test("statements that wait for a connection do not wait for an attempt each", async () => {
  // An address without a listener.
  const url = primary.url.replace(`:${primary.port}`, ":1");
  await using database = openedDatabase(url, { connectionsMax: 1, timeoutMs: 100 });
  const waiting = Array.from({ length: 100 }, () => rejection(database.sql`SELECT 1`));
  for (const error of await Promise.all(waiting)) expect(isUnavailable(error)).toBeTrue();
});

test("a statement on a Postgres that hangs fails, and so does a transaction", async () => {
  await using own = await startPrivatePostgres({ durable: false });
  await using database = openedDatabase(own.url, { connectionsMax: 2, timeoutMs: 200 });
  await Promise.all([1, 2].map(() => database.sql`SELECT pg_sleep(0.1)`));
  own.hang();
  const statement = rejection(database.sql`SELECT 1`);
  const transaction = rejection(database.sql.begin((tx) => tx`SELECT 1`));
  expect(isUnavailable(await statement)).toBeTrue();
  expect(isUnavailable(await transaction)).toBeTrue();
  own.resume();
  await eventually("it answers", async () => {
    return await database.sql`SELECT 1`.then(
      () => true,
      () => false,
    );
  });
});

test.each([
  ["one server", []],
  ["two servers", ["127.0.0.1:1"]],
])("a statement fails at once where %s take nobody", async (_, more) => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("It does not listen");
  const url = severalHosts(`postgres://farebox@127.0.0.1:${address.port}/farebox`, ...more);
  try {
    await using database = openedDatabase(url);
    expect(isUnavailable(await rejection(database.sql`SELECT 1`))).toBeTrue();
    expect(connections).toBe(1);
  } finally {
    server.close();
  }
});

test("of several servers every connection is to the one that takes writes", async () => {
  await using standby = await startStandby(primary);
  const { host } = new URL(primary.url);
  const other = new URL(standby.url.replace(`${host},`, "")).host;
  for (const hosts of [`${host},${other}`, `${other},${host}`]) {
    for (const attributes of ["read-write", "primary"]) {
      const url = standby.url.replace(`${host},${other}`, hosts).replace("read-write", attributes);
      await using database = openedDatabase(url, { connectionsMax: 3 });
      for (let round = 0; round < 3; round += 1) {
        const pids = await Promise.all(Array.from({ length: 3 }, () => askPrimary(database)));
        // The next connections begin with the other server.
        for (const pid of pids) await operator.sql`SELECT pg_terminate_backend(${pid})`;
      }
    }
  }
});

/** The process of Postgres that answers. */
async function askPrimary({ sql }: Database): Promise<number> {
  const row = await answer(
    () => sql`SELECT pg_is_in_recovery() AS standby, pg_backend_pid() AS pid, pg_sleep(0.02)`,
  );
  expect(row?.standby).toBeFalse();
  return Number(row?.pid);
}
