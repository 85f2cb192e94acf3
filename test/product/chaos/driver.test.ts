// Tests one pool of connections under everything at once: statements that fail between their rows
// or cannot be sent, transactions that are given up, connections that are cut and ended, and a
// table that changes. Each answer must be its own, and each transaction whole (D-418).

import { expect, test } from "bun:test";
import { type Database, openDatabase } from "../../../src/store/servers/database.ts";
import { TcpProxy } from "../../support/fakes/tcp-proxy.ts";
import { createTestDatabase } from "../../support/stores/services.ts";

const READERS = 16;
const WRITERS = 6;
const ROUNDS = 8;
/** This many answers, and as many commits, before the next fault. */
const ANSWERS = 300;
const COMMITS = 20;
const NUMBERS = 500;
const STEPS = [1, 2, 3, 4];

class Work {
  readonly wrong: unknown[] = [];
  readonly committed = new Set<string>();
  /** Transactions that failed for their own reason, so that they surely did not commit. */
  readonly givenUp = new Set<string>();
  answered = 0;
  isOver = false;

  constructor(readonly database: Database) {}

  async read(reader: number): Promise<void> {
    const { sql } = this.database;
    for (let turn = 0; !this.isOver; turn += 1) {
      const id = 1 + ((reader * 31 + turn * 7) % NUMBERS);
      const statements = [
        () => sql`SELECT id, thousand, ${turn}::int AS turn FROM numbers WHERE id = ${id}`,
        () => sql.unsafe(`SELECT id, thousand, ${turn} AS turn FROM numbers WHERE id = ${id}`),
        () => sql`SELECT *, ${turn}::int AS turn FROM numbers WHERE id = ${id}`,
      ];
      const statement = statements[turn % statements.length];
      const rows = await statement?.().catch(() => null);
      // A lost connection is reported as such.
      if (rows === null || rows === undefined) continue;
      this.answered += 1;
      const [row] = rows;
      const isRight = Number(row?.id) === id && Number(row?.thousand) === id * 1_000;
      if (rows.length !== 1 || !isRight || row?.turn !== turn) this.wrong.push([id, turn, rows]);
    }
  }

  /** Runs statements that fail by themselves. */
  async fail(): Promise<void> {
    const { sql } = this.database;
    while (!this.isOver) {
      await sql`SELECT g, 1 / (${20}::int - g) FROM generate_series(1, 30) g`.catch(() => {});
      await sql.unsafe("SELECT $1::text", [undefined] as unknown as string[]).catch(() => {});
    }
  }

  async write(writer: number): Promise<void> {
    for (let turn = 0; !this.isOver; turn += 1) {
      const name = `${writer}.${turn}`;
      const givesUp = turn % 5 === 0;
      const written = this.database.sql.begin(async (tx) => {
        const write = (step: number) =>
          tx`INSERT INTO written (by, step) VALUES (${name}, ${step})`;
        await write(1);
        const last = async () => {
          await tx`SELECT 1`;
          await write(4);
        };
        const end = givesUp ? Promise.reject(new Error("it is given up")) : Promise.resolve();
        await Promise.all([write(2), write(3), last(), end]);
      });
      await written.then(
        () => this.committed.add(name),
        () => givesUp && this.givenUp.add(name),
      );
    }
  }
}

test("under faults of all kinds every answer is its own and every transaction whole", async () => {
  await using own = await createTestDatabase();
  await using proxy = new TcpProxy(Number(new URL(own.url).port));
  const operator = openDatabase(own.url, { connectionsMax: 1 });
  await operator.sql`CREATE TABLE written (
    by text, step int, transaction text DEFAULT pg_current_xact_id()::text)`;
  await operator.sql`CREATE TABLE numbers (id int PRIMARY KEY, thousand int)`;
  await operator.sql`INSERT INTO numbers SELECT g, g * 1000 FROM generate_series(1, ${NUMBERS}) g`;
  const database = openDatabase(proxy.urlOf(own.url), { connectionsMax: 4, timeoutMs: 5_000 });
  const work = new Work(database);
  const all = [
    ...Array.from({ length: READERS }, (_, reader) => work.read(reader)),
    ...Array.from({ length: WRITERS }, (_, writer) => work.write(writer)),
    work.fail(),
  ];
  for (let round = 0; round < ROUNDS; round += 1) {
    const [answered, committed] = [work.answered + ANSWERS, work.committed.size + COMMITS];
    while (work.answered < answered || work.committed.size < committed)
      await operator.sql`SELECT 1`;
    if (round % 3 === 0) proxy.hangUp();
    else if (round % 3 === 1)
      await operator.sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND random() < 0.5`;
    else await operator.sql.unsafe(`ALTER TABLE numbers ADD COLUMN more_${round} int`);
  }
  work.isOver = true;
  await Promise.all(all);

  expect(work.wrong).toEqual([]);
  const written = await operator.sql<{ by: string; isWhole: boolean }[]>`
    SELECT by, array_agg(step ORDER BY step) = ${STEPS}::int[]
      AND count(DISTINCT transaction) = 1 AS "isWhole" FROM written GROUP BY by`;
  expect(written.filter(({ isWhole }) => !isWhole)).toEqual([]);
  const stored = new Set(written.map(({ by }) => by));
  expect([...work.committed].filter((name) => !stored.has(name))).toEqual([]);
  expect([...work.givenUp].filter((name) => stored.has(name))).toEqual([]);
  const mixed = await operator.sql`
    SELECT transaction FROM written GROUP BY transaction HAVING count(DISTINCT by) > 1`;
  expect([...mixed]).toEqual([]);
  await Promise.all([database.close(), operator.close()]);
});
